"""Reads rows of the index: a filter's runs page by page, one run by id, and its neighbors."""

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_explorer.errors import PageMissing
from tracegrade_explorer.filters.grammar import NUMBERS, Filter
from tracegrade_explorer.snapshots.snapshot import Row, read, read_matching
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.rendering.times import utc_now
from tracegrade_scoring.run_states import STATE_COLUMNS, state_of

PAGE_ROWS: Final = 50
FACTS: Final = (
    "seq", "trajectory_id", "date", "start_time", "agent_name", "release", "task_id", "run_mode",
    "outcome", "scored", "killed", "beside", "superseded", "step_count", "tool_call_count",
    "error_count", "cost_usd", "failures", "finding_count", "why", "request", "received_at",
)  # fmt: skip
"""Columns of a list other than metrics and the state."""
STATE: Final = "state"
NO_ROOT: Final = f"-{0:016x}"
"""End of the id of a run whose root has not arrived."""
OWN_SCORES: Final = ("own_values", "own_reasons")


class RunPosition(NamedTuple):
    """The position of a run in the order of a filter."""

    key: float
    seq: int

    def values(self, key: str, seq: str) -> dict[str, object]:
        """Return it as values of a query's parameters of these names."""
        return {key: self.key, seq: self.seq}


class RunsPage(NamedTuple):
    """Some runs of a filter, in its order."""

    rows: list[Row]
    more: bool
    """Others follow."""


class FoundRun(NamedTuple):
    """A run that an address names."""

    trajectory_id: str
    date: date
    """On which its trace was first received, UTC."""
    seq: int
    """Its place in the index."""
    dialects: list[str]
    """The dialects that read its spans."""

    @property
    def key(self) -> dict[str, object]:
        """The parameters for queries of the run."""
        return {"trajectory_id": self.trajectory_id, "date": self.date}


class Neighbors(NamedTuple):
    """The runs before and after a run within a filter; ids, None at an end."""

    number: int
    """Number of the run, from 1; 0 if the filter leaves it out."""
    runs: int
    previous: str | None
    following: str | None


def runs_page(con: DuckDBPyConnection, run_filter: Filter, rows: int = PAGE_ROWS) -> RunsPage:
    """Return the runs of a filter from where it begins.

    Raises:
        PageMissing: It begins after a run that this lake does not have.
    """
    positions = _listed(con, run_filter, _beginning(con, run_filter), rows + 1)
    found = read_runs(con, [position.seq for position in positions[:rows]], run_filter.columns)
    return RunsPage(found, len(positions) > rows)


def count_runs(con: DuckDBPyConnection, run_filter: Filter) -> int:
    """Return how many runs a filter has, wherever its list begins."""
    (row,) = read_matching(con, "counted_runs", run_filter)
    return int(row["runs"])


def read_runs(con: DuckDBPyConnection, seqs: Sequence[int], columns: Iterable[str]) -> list[Row]:
    """Return the runs at these places of the index, in this order.

    Args:
        con: Holds the index.
        seqs: Places.
        columns: Keys of `NUMBERS`, or metrics of users' own; a metric comes with its reason.
    """
    names = [*columns]
    measured = [NUMBERS[name] for name in names if name in NUMBERS]
    reasons = [f"{name}_reason" for name in names if name in METRICS]
    own = [name for name in names if name not in NUMBERS]
    wanted = (*FACTS, *STATE_COLUMNS, *measured, *reasons, *(OWN_SCORES if own else ()))
    now = utc_now()
    found = [_with_state(row, now) for row in _rows_at(con, seqs, dict.fromkeys(wanted))]
    return [_with_own(row, own) for row in found] if own else found


def _with_state(row: Row, now: datetime) -> Row:
    """Return a row with the state of its run, in place of the times that decide on it."""
    state = state_of(row, now)
    return {**{name: row[name] for name in row if name not in _TIMES}, STATE: state}


_TIMES: Final = {*STATE_COLUMNS} - {*FACTS}


def _with_own(row: Row, names: Iterable[str]) -> Row:
    """Return a row with values and reasons of metrics of users' own under their names."""
    values, reasons = (row.pop(column) or {} for column in OWN_SCORES)
    for name in names:
        row |= {name: values.get(name), f"{name}_reason": reasons.get(name)}
    return row


def find_run(con: DuckDBPyConnection, name: str) -> FoundRun:
    """Return the run with this id, or the only one whose id begins so.

    Raises:
        PageMissing: There is none, or several begin so.
    """
    found = [FoundRun(**row) for row in read(con, "named_runs", name=name)]
    if not found and name.endswith(NO_ROOT):  # its root has come since, which gave it another id
        trace = name.removesuffix(NO_ROOT)
        found = [FoundRun(**row) for row in read(con, "named_runs", name=f"{trace}-")]
    if found and (len(found) == 1 or found[0].trajectory_id == name):
        return found[0]
    if found:
        ids = ", ".join(run.trajectory_id for run in found)
        msg = f"several runs begin with '{name}': {ids}; open one of these"
        raise PageMissing(msg)
    msg = f"no run has the id '{name}'; /runs lists those that there are"
    if near := _begin_alike(con, name):
        msg += f"; these begin alike: {', '.join(near)}"
    raise PageMissing(msg)


def _begin_alike(con: DuckDBPyConnection, name: str) -> list[str]:
    """Return some ids with the same beginning as a name: its half, else its quarter, and so on."""
    length = len(name) // 2
    while length:
        if found := read(con, "named_runs", name=name[:length]):
            return [row["trajectory_id"] for row in found]
        length //= 2
    return []


def neighbors(con: DuckDBPyConnection, run_filter: Filter, seq: int) -> Neighbors:
    """Return the runs before and after the run at a position of the index, within a filter."""
    (found,) = read_matching(con, "run_neighbors", run_filter, parameters={"seq": seq})
    beside = [found[side] for side in ("previous", "following")]
    ids = _ids(con, [seq for seq in beside if seq is not None])
    number = 0 if found["before"] is None else found["before"] + 1
    return Neighbors(number, found["runs"], *map(ids.get, beside))


def _beginning(con: DuckDBPyConnection, run_filter: Filter) -> RunPosition | None:
    if run_filter.after is None:
        return None
    everywhere = Filter(level="all", sort=run_filter.sort, descending=run_filter.descending)
    position = _position(con, everywhere, run_filter.after)
    if position is None:
        msg = f"no run has the id '{run_filter.after}' to continue after; leave out after="
        raise PageMissing(msg)
    return position


def _position(
    con: DuckDBPyConnection, run_filter: Filter, trajectory_id: str
) -> RunPosition | None:
    found = read_matching(
        con, "run_position", run_filter, parameters={"trajectory_id": trajectory_id}
    )
    return RunPosition(found[0]["sort_key"], found[0]["seq"]) if found else None


def _listed(
    con: DuckDBPyConnection, run_filter: Filter, after: RunPosition | None, rows: int
) -> list[RunPosition]:
    begin = after or RunPosition(math.nan, 0)
    values = begin.values("after_key", "after_seq")
    if after is None:
        values["after_seq"] = None
    found = read_matching(con, "listed_runs", run_filter, parameters={**values, "rows": rows})
    return [RunPosition(row["sort_key"], row["seq"]) for row in found]


def _ids(con: DuckDBPyConnection, seqs: Sequence[int]) -> dict[int, str]:
    return {
        row["seq"]: row["trajectory_id"] for row in _rows_at(con, seqs, ("seq", "trajectory_id"))
    }


def _rows_at(con: DuckDBPyConnection, seqs: Sequence[int], columns: Iterable[str]) -> list[Row]:
    """Return columns of the runs at these places of the index, in this order."""
    if not seqs:
        return []
    given = ", ".join(str(int(seq)) for seq in seqs)
    result = con.execute(
        f"SELECT {', '.join(columns)} FROM run_index "
        f"WHERE seq BETWEEN {min(seqs)} AND {max(seqs)} AND seq IN ({given})"
    )
    names = [column[0] for column in result.description or ()]
    found = {row[0]: dict(zip(names, row, strict=True)) for row in result.fetchall()}
    return [found[seq] for seq in seqs]
