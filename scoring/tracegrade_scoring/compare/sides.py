"""Two sides of a comparison that are no releases: runs of a model, an arm, an agent, or several.

A side is a filter in the form of the explorer's: `release=1.4 arm=a`. A key that repeats means
"or", and `~` is an unknown name. The comparison itself is that of two releases: under `compared`,
the runs of a side have its text as their release.

Makes:
    side_runs (from trajectory_scores): the runs of both sides
"""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade.suggestions import did_you_mean
from tracegrade.terminal.visible import visible
from tracegrade_queries.engine.relations import count, make_table, only
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.compare.attempts import SIDES
from tracegrade_scoring.compare.model import DifferingDimension
from tracegrade_scoring.errors import BadSide, NothingToCompare

COLUMNS: Final[Mapping[str, str]] = {
    "release": "release",
    "agent": "agent_name",
    "task": "task_id",
    "category": "task_category",
    "run_mode": "run_mode",
}
"""Keys of columns; all other keys are dimensions."""
UNKNOWN: Final = "~"
LEAST_DIFFERENCE: Final = 0.1
"""Difference of a value's shares from which a dimension differs between the sides."""

MOST_RELEASES_NAMED: Final = 20
"""Releases that an error names."""

SideNames = Mapping[str, tuple[str | None, ...]]
"""Values of each key; None is an unknown name."""


class RunSide(NamedTuple):
    """The runs of one side."""

    label: str
    """The text that names it."""
    names: SideNames


class ComparedSides(NamedTuple):
    """Both sides."""

    base: RunSide
    candidate: RunSide

    @property
    def keys(self) -> set[str]:
        """The keys that differ between the sides."""
        keys = self.base.names.keys() | self.candidate.names.keys()
        return {key for key in keys if self.base.names.get(key) != self.candidate.names.get(key)}

    @property
    def agents(self) -> str | None:
        """A name for the agents of both sides if each names others; None if they do not."""
        named = [side.names.get("agent") for side in self]
        if None in named or named[0] == named[1]:
            return None
        return " / ".join(" or ".join(name or UNKNOWN for name in each or ()) for each in named)


def sides_of(
    base: str, candidate: str, by: str | None, where: str | None, dimensions: Collection[str]
) -> ComparedSides | None:
    """Return the sides that the command's arguments name; None for two plain releases.

    Args:
        base: A value of `by`, or without it a filter.
        candidate: The same for the other side.
        by: The key whose values are compared.
        where: A filter of both sides.
        dimensions: Dimensions of the lake.

    Raises:
        BadSide: A key is unknown, or a filter cannot be read.
    """
    keys = (*COLUMNS, *dimensions)
    both = _parsed(where or "", keys)
    if by is not None:
        _check_key(by, keys)
        values = [_one(by, text) for text in (base, candidate)]
    elif _is_filter(base) and _is_filter(candidate):
        values = [_parsed(text, keys) for text in (base, candidate)]
    elif where is None:
        return None
    else:
        values = [_one("release", text) for text in (base, candidate)]
    for names in values:
        if repeated := sorted(names.keys() & both.keys()):
            msg = f"'{repeated[0]}' is in --where and in a side; leave out one of them"
            raise BadSide(msg)
    return ComparedSides(
        *(RunSide(_written({**names, **both}), {**names, **both}) for names in values)
    )


def _written(names: SideNames) -> str:
    """Return a filter's text: equal filters have equal texts."""
    return " ".join(
        f"{key}={UNKNOWN if name is None else shlex.quote(_escaped(name))}"
        for key, each in names.items()
        for name in each
    )


def _escaped(name: str) -> str:
    return UNKNOWN + name if name.startswith(UNKNOWN) else name


def _one(key: str, text: str) -> dict[str, tuple[str | None, ...]]:
    return {key: (_name(text),)}


def _is_filter(text: str) -> bool:
    key, sign, _ = text.strip().partition("=")
    return bool(sign) and key.isidentifier()


def _parsed(text: str, keys: Sequence[str]) -> dict[str, tuple[str | None, ...]]:
    """Return the names in a filter."""
    try:
        terms = shlex.split(text)
    except ValueError as error:
        msg = (
            f"'{text}' is not a filter: {str(error).lower()}; quote names as 'agent=\"my agent\"'"
        )
        raise BadSide(msg) from error
    found: dict[str, tuple[str | None, ...]] = {}
    for term in terms:
        key, sign, value = term.partition("=")
        if not sign:
            msg = f"'{term}' in '{text}' has no value; write it as KEY=VALUE"
            raise BadSide(msg)
        _check_key(key, keys)
        found[key] = (*found.get(key, ()), _name(value))
    return found


def _check_key(key: str, keys: Sequence[str]) -> None:
    if key not in keys:
        way_out = did_you_mean(key, keys) or f"known keys: {', '.join(keys)}"
        msg = (
            f"runs have no dimension '{key}'; {way_out} (a mapping file adds dimensions: "
            "score --dimensions FILE)"
        )
        raise BadSide(msg)


def _name(value: str) -> str | None:
    """Return a name as the explorer's filters write it: one more `~` stands before a first."""
    return None if value == UNKNOWN else value.removeprefix(UNKNOWN)


def differing_dimensions(rows: Iterable[ResultRow]) -> tuple[DifferingDimension, ...]:
    """Return the rows of `compared_dimensions` of one cohort."""
    fields = DifferingDimension._fields
    return tuple(DifferingDimension(*(row[name] for name in fields)) for row in rows)


@contextmanager
def compared(con: DuckDBPyConnection, sides: ComparedSides | None) -> Iterator[None]:
    """Let the runs of both sides be those of two releases with the sides' texts as their names.

    Args:
        con: Holds the tables of a scored lake.
        sides: The sides; None for two releases, which need nothing.

    Raises:
        BadSide: Runs are on both sides.
        NothingToCompare: A side has no run.
    """
    if sides is None:
        yield
        return
    conditions = [
        _condition(con, name, side.names) for name, side in zip(SIDES, sides, strict=True)
    ]
    _take_sides(con, sides, *conditions)
    for name, side in zip(SIDES, sides, strict=True):
        _set(con, f"{name}_label", side.label)
    _set(con, "side_agents", sides.agents)
    by_id = [_HAS_SIDE.format(side=name) for name in SIDES]
    scores = f"* REPLACE ({_renamed(sides, *conditions)}, {_WITH_NAMES})"
    with (
        only(con, ["trajectory_scores"], " OR ".join(conditions), scores),
        only(con, ["trajectories"], "TRUE", f"* REPLACE ({_renamed(sides, *by_id)})"),
    ):
        yield


_HAS_SIDE: Final = "trajectory_id IN (SELECT trajectory_id FROM side_runs WHERE side = '{side}')"
_WITH_NAMES: Final = (
    "map_concat(dimensions, map_from_entries(list_filter("
    "[{'key': 'release', 'value': release}, {'key': 'agent', 'value': agent_name}], "
    "LAMBDA each: each.value IS NOT NULL))) AS dimensions"
)
"""Release and agent are dimensions where other things are compared."""


def _renamed(sides: ComparedSides, base: str, candidate: str) -> str:
    """Return release and agent as the comparison names them, by the conditions of both sides."""
    release = (
        f"CASE WHEN {base} THEN getvariable('base_label') "
        f"WHEN {candidate} THEN getvariable('candidate_label') ELSE release END AS release"
    )
    if sides.agents is None:
        return release
    return (
        f"{release}, CASE WHEN {base} OR {candidate} THEN getvariable('side_agents') "
        "ELSE agent_name END AS agent_name"
    )


def _take_sides(con: DuckDBPyConnection, sides: ComparedSides, base: str, candidate: str) -> None:
    """Create `side_runs`.

    Raises:
        BadSide: Runs are on both sides.
        NothingToCompare: A side has no run.
    """
    make_table(
        con,
        "side_runs",
        f"SELECT trajectory_id, CASE WHEN {base} THEN 'base' ELSE 'candidate' END AS side, "
        f"{base} AND {candidate} AS on_both, "
        "coalesce(success.reason <> 'child_trajectory', TRUE) AS is_root "
        f"FROM trajectory_scores WHERE {base} OR {candidate}",
    )
    if both := count(con, "side_runs WHERE on_both AND is_root"):
        msg = (
            f"{both:,} runs are on both sides, '{sides.base.label}' and "
            f"'{sides.candidate.label}'; give sides that share no run"
        )
        raise BadSide(msg)
    for name, side in zip(SIDES, sides, strict=True):
        if not count(con, f"side_runs WHERE side = '{name}' AND is_root"):
            raise NothingToCompare(_no_runs(con, side))


def _condition(con: DuckDBPyConnection, prefix: str, names: SideNames) -> str:
    """Return the condition of a side's runs; its values are variables of the connection.

    Such conditions cost less than a look-up of each run whenever `trajectory_scores` is read.
    """
    parts = []
    for number, (key, wanted) in enumerate(names.items()):
        name = f"{prefix}_{number}"
        column = COLUMNS.get(key, f"dimensions[getvariable('{name}_key')]")
        _set(con, f"{name}_key", key)
        _set(con, name, [each for each in wanted if each is not None])
        unknown = f" OR {column} IS NULL" if None in wanted else ""
        known = f"coalesce(list_contains(getvariable('{name}'), {column}), FALSE)"
        parts.append(f"({known}{unknown})")
    return f"({' AND '.join(parts)})"


def _set(con: DuckDBPyConnection, name: str, value: object) -> None:
    kind = "VARCHAR[]" if isinstance(value, list) else "VARCHAR"
    con.execute(f"SET VARIABLE {name} = $value::{kind}", {"value": value})


def _no_runs(con: DuckDBPyConnection, side: RunSide) -> str:
    """Return that a side has no run, with the values of its first key that alone has none."""
    key = next((key for key in side.names if not _has_runs(con, key, side)), [*side.names][-1])
    column = COLUMNS.get(key, "dimensions[$key]")
    rows = con.execute(
        f"SELECT DISTINCT {column} AS name FROM trajectory_scores WHERE name IS NOT NULL "
        "ORDER BY name LIMIT 20",
        {} if key in COLUMNS else {"key": key},
    ).fetchall()
    known = ", ".join(f"'{name}'" for (name,) in rows) or "none"
    return f"no scored run is on the side '{side.label}'; known values of {key}: {known}"


def _has_runs(con: DuckDBPyConnection, key: str, side: RunSide) -> bool:
    condition = _condition(con, "one", {key: side.names[key]})
    rows = f"SELECT 1 FROM trajectory_scores WHERE {condition} LIMIT 1"
    return bool(con.execute(rows).fetchall())


def nothing_to_compare(
    con: DuckDBPyConnection, base: str, candidate: str, agent: str | None
) -> str:
    """Return why no agent has both releases, and which ones there are."""
    if base == candidate:
        return f"'{base}' is both base and candidate; name two releases"
    found = con.sql(
        "SELECT DISTINCT release FROM trajectory_scores WHERE release IS NOT NULL ORDER BY ALL"
    ).fetchall()
    known = [name for (name,) in found]
    who = "no agent" if agent is None else f"no agent named '{agent}'"
    return (
        f"{who} has scored runs of both '{base}' and '{candidate}' in one run mode; "
        f"scored releases: {releases_in_words(known)}"
    )


def releases_in_words(releases: Sequence[str]) -> str:
    """Return the names of releases; of many the first, and how many more there are."""
    first = ", ".join(f"'{visible(name)}'" for name in releases[:MOST_RELEASES_NAMED]) or "none"
    more = len(releases) - MOST_RELEASES_NAMED
    return first if more <= 0 else f"{first} and {more:,} more"
