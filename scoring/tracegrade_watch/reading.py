"""Reads what rules watch: the sums of days, made by the engine once for each dimension."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import duckdb

from tracegrade_queries.engine.relations import make_empty, make_table, make_view, only
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.schema import SCORE, TRAJECTORY_SCORES
from tracegrade_scoring.sql import RELATIONS
from tracegrade_scoring.sql import unordered as scoring_unordered
from tracegrade_watch.rules.load import USAGE_METRICS
from tracegrade_watch.rules.model import WatchRule
from tracegrade_watch.sql import QUERIES, query

EXAMPLES: Final = 3
"""Runs that an alert names."""
MOST_VALUES: Final = 50
"""Values of a dimension that a rule watches, of all its agents together."""


class WatchedSeries(NamedTuple):
    """One metric of one agent, run mode and value of a dimension."""

    agent_name: str | None
    run_mode: str | None
    dimension_value: str | None
    metric: str


class ReleaseDays(NamedTuple):
    """A release of a series."""

    release: str | None
    days: int
    """Days with a value."""
    scored: int
    """Observations with a value."""


def read_rows(
    con: duckdb.DuckDBPyConnection, name: str, /, **parameters: object
) -> list[ResultRow]:
    """Return the rows of a query of this package, in its order."""
    result = con.execute(query(name), parameters)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def prepare(con: duckdb.DuckDBPyConnection) -> None:
    """Make what all rules read; `con` holds the tables of a scored lake."""
    RELATIONS.make(con, "superseded_runs")
    make_table(con, "task_releases", scoring_unordered("task_releases"))


@contextmanager
def watched_sums(
    con: duckdb.DuckDBPyConnection, dimension: str | None, metrics: Collection[str]
) -> Iterator["WatchedSums"]:
    """Yield the sums of metrics, by the values of a dimension or of all runs together."""
    built_in = sorted(_ALWAYS.union(metrics).intersection(METRICS))
    columns = ", ".join([*_COLUMNS, *built_in])  # names of our own metrics, no text of others
    with only(con, [TRAJECTORY_SCORES.name], "TRUE", columns):
        attempts = QUERIES.unordered("watched_attempts")
        make_table(con, "watched_attempts", attempts, {"dimension": dimension})
        _make_usage(con, metrics)
        days = {"stored": _stored(metrics), "others": sorted(set(metrics) - STORED)}
        make_table(con, "watched_days", query("watched_days"), days)
        yield WatchedSums(con)


_COLUMNS: Final = tuple(
    column.name for column in TRAJECTORY_SCORES.columns if column.type != SCORE
)
_SUCCESS: Final = "success"
_AT_READ: Final = frozenset(("step_efficiency", "step_ratio"))
"""Metrics that are worked out when scores are read."""
_ALWAYS: Final = _AT_READ.union((_SUCCESS, "actual_steps"))
"""Metrics that the views of scores read."""
STORED: Final = frozenset(METRICS) - _AT_READ
"""Metrics whose values are read as they are stored, in a sixth of the time."""


def _stored(metrics: Collection[str]) -> list[str]:
    """Return those of the metrics that have a column; one of no interest if none has."""
    return sorted(STORED.intersection(metrics)) or [_SUCCESS]


def _make_usage(con: duckdb.DuckDBPyConnection, metrics: Collection[str]) -> None:
    if not set(USAGE_METRICS).intersection(metrics):
        columns = [("trajectory_id", "VARCHAR"), ("metric", "VARCHAR"), ("amount", "DOUBLE")]
        make_empty(con, "run_usage", columns)
        return
    attempts = "SELECT trajectory_id, TRUE AS is_root, TRUE AS counted FROM watched_attempts"
    make_view(con, "compared_runs", attempts)
    RELATIONS.make(con, "run_members")
    RELATIONS.make(con, "run_usage")


class WatchedSums:
    """The sums that a connection holds while `watched_sums` lasts."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        """Read which series and releases there are."""
        self._con = con
        self._releases: dict[WatchedSeries, list[ReleaseDays]] = {}
        for row in read_rows(con, "watched_releases"):
            series = WatchedSeries(*(row[name] for name in WatchedSeries._fields))
            found = ReleaseDays(row["release"], row["days"], row["scored"])
            self._releases.setdefault(series, []).append(found)

    def of_rule(self, rule: WatchRule) -> list[WatchedSeries]:
        """Return the series that a rule watches, of a dimension those with most observations."""
        found = [
            series
            for series in self._releases
            if series.metric == rule.metric and in_scope(rule, series.agent_name, series.run_mode)
        ]
        if rule.by is None:
            return found
        most = sorted(found, key=lambda series: -self._scored(series))[:MOST_VALUES]
        return [series for series in found if series in most]

    def _scored(self, series: WatchedSeries) -> int:
        return sum(release.scored for release in self._releases[series])

    def releases(self, series: WatchedSeries) -> list[ReleaseDays]:
        """Return the releases of a series in their order."""
        return self._releases[series]

    def days(
        self, series: WatchedSeries, releases: Iterable[str | None] | None = None
    ) -> list[ResultRow]:
        """Return the rows of `day_sums` of some releases; of all without them."""
        if releases is None:
            releases = [each.release for each in self.releases(series)]
        return read_rows(self._con, "day_sums", **series._asdict(), releases=[*releases])

    def examples(self, series: WatchedSeries, better: int, **chosen: object) -> tuple[str, ...]:
        """Return the attempts with the worst values of a release or day, at most three.

        Args:
            series: What is watched.
            better: 1 if the least values are the worst, -1 if the greatest are.
            chosen: The `release`, or the `date` of any release.
        """
        parameters: Mapping[str, Any] = {
            **series._asdict(),
            "release": None,
            "date": None,
            "any_release": "release" not in chosen,
            "better": better,
            "rows": EXAMPLES,
            "stored": _stored([series.metric]),
            **chosen,
        }
        rows = read_rows(self._con, "example_attempts", **parameters)
        return tuple(row["trajectory_id"] for row in rows)


def in_scope(rule: WatchRule, agent_name: str | None, run_mode: str | None) -> bool:
    """Return whether a rule is about this agent and run mode."""
    return rule.agent in {None, agent_name} and rule.run_mode in {None, run_mode}
