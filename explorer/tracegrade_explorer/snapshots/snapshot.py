"""One scoring run of a lake for pages: a connection, its index, and cached results."""

import re
import threading
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias

import duckdb
from duckdb import DuckDBPyConnection

from tracegrade_explorer.filters.conditions import keep_requests, matching_runs
from tracegrade_explorer.filters.grammar import KEYS, Filter
from tracegrade_explorer.snapshots.dates import Dates
from tracegrade_explorer.snapshots.index import build_index
from tracegrade_explorer.snapshots.metric_parts import metric_parts
from tracegrade_explorer.sql import query
from tracegrade_lake import Lake
from tracegrade_queries.build.last_build import last_build_number
from tracegrade_queries.costs.pricing import PricesInForce, stored_prices
from tracegrade_queries.engine.connection import Limits, connect_whole
from tracegrade_queries.engine.pinned import last_run
from tracegrade_queries.schema import PRICED_DATES
from tracegrade_scoring.job.last_scoring import last_scored_ms
from tracegrade_scoring.layer import RUN_ORDER, SCORES
from tracegrade_scoring.metric_definition import NAME
from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering.catalog import more_metrics
from tracegrade_scoring.rendering.own_metrics import OWN_METRICS, own_metrics
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.schema import RELEASE_SCORES

MEMORY_LIMIT: Final = "60%"
"""Share of the machine's memory, for two scoring runs while one replaces the other."""
MAX_RESULTS: Final = 256
"""Results that are computed once for a scoring run, such as counts of filters."""

Row: TypeAlias = dict[str, Any]


@dataclass
class CachedResult:
    """A computed result, once `made`; other readers wait for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    made: bool = False
    answer: object = None


class LakeState(NamedTuple):
    """The versions that show whether a snapshot is the newest."""

    run: int
    """Number of the last scoring run; 0 if there was none."""
    costs: int | None
    """Version of the costs, which new prices change without a scoring run; None without any."""
    build: int
    """Number of the last build, which adds runs without a scoring run; 0 if there was none."""


@dataclass
class LakeSnapshot:
    """A lake as of one scoring run; `LatestSnapshot` opens and closes it."""

    lake: Lake
    """The current lake; pages read the result of one scoring run from `con`."""
    con: DuckDBPyConnection
    """Only for making cursors: each request has its own."""
    dates: Dates
    """The same lake, a date at a time: one run is read from the files of its date."""
    runs: int
    """Runs in the index, sub-agents' included."""
    root_runs: int
    """Runs in the index, without those of sub-agents."""
    left_out: int
    """Older runs that are not in it."""
    scored: int
    """Runs in the index that were scored."""
    read_at: datetime
    state: LakeState
    """The state that it is made from."""
    own_metrics: Mapping[str, Metric]
    """The users' own metrics with scores, by name."""
    prices: PricesInForce | None
    """Prices behind the costs of runs; None if there are none yet."""
    dimensions: Sequence[str] = ()
    """Dimensions of the mapping file that are keys of filters, by name."""
    scored_ms: int | None = None
    """When scores were written last, ms since 1970; None if they never were."""
    readers: int = 0
    """Requests under way."""
    _results: dict[object, CachedResult] = field(default_factory=dict)
    _keeping: threading.Lock = field(default_factory=threading.Lock)

    @property
    def run(self) -> int:
        """Number of the scoring run; 0 if there was none."""
        return self.state.run

    def cached(self, key: object, make: Callable[[], object]) -> Any:
        """Return the cached result of a key, or compute it once for all callers."""
        with self._keeping:
            found = self._results.setdefault(key, CachedResult())
            if len(self._results) > MAX_RESULTS:
                self._results.pop(next(iter(self._results)))
        with found.lock:
            if not found.made:
                found.answer = make()
                found.made = True
            return found.answer

    def made_before(self, key: object) -> Any:
        """Return the cached result of a key; None if there is none yet."""
        with self._keeping:
            found = self._results.get(key)
        return found.answer if found and found.made else None

    def close(self) -> None:
        """Free its memory."""
        self.dates.close()
        self.con.close()


def lake_state(lake: Lake) -> LakeState:
    """Return the state that a new snapshot would be made from."""
    return LakeState(
        last_run(lake, RUN_ORDER), lake.version(PRICED_DATES.name), last_build_number(lake)
    )


def take_snapshot(lake: Lake, max_runs: int) -> LakeSnapshot:
    """Return the lake as its last whole scoring run left it.

    Raises:
        LakeUnreachable: Its object store does not answer.
    """
    state = lake_state(lake)
    prices = stored_prices(lake)
    con, pinned = connect_whole(lake, (SCORES,), Limits(MEMORY_LIMIT, serving=True))
    try:
        build_index(con, max_runs)
        found = con.sql(
            "SELECT count(*), count(*) FILTER (WHERE parent_trajectory_id IS NULL), "
            "count(*) FILTER (WHERE scored), max(date) FROM run_index"
        ).fetchall()[0]
        whole = con.sql("SELECT count(*) FROM trajectories").fetchall()[0][0]
        own = _own_metrics(con)
        dimensions = _dimensions(con, own)
        relations = {"observed_optima": "kept_optima", "continued_runs": "kept_continued"}
        dates = Dates(
            pinned, {name: con.table(of).to_arrow_table() for name, of in relations.items()}
        )
        if found[3] is not None:
            dates.cursor(found[3])  # most readers begin with the newest runs
    except duckdb.Error:
        con.close()
        raise
    counts = (found[0], found[1], whole - found[0], found[2])
    scores = pinned.tables.get(RELEASE_SCORES.name)
    scored_ms = last_scored_ms(scores.files if scores else ())
    return LakeSnapshot(
        lake, con, dates, *counts, datetime.now(UTC), state, own, prices, dimensions, scored_ms
    )


def _own_metrics(con: DuckDBPyConnection) -> dict[str, Metric]:
    """Return the metrics of users' own that can be a key of a filter, by name."""
    names = [row["metric"] for row in read(con, "own_metric_names")]
    keys = {name for name in names if re.fullmatch(NAME, name) and name not in KEYS}
    known = own_metrics(read_rows(con, OWN_METRICS))
    return {metric.name: metric for metric in more_metrics(keys, known)}


def _dimensions(con: DuckDBPyConnection, own: Collection[str]) -> list[str]:
    """Return the dimensions that runs have and that can be a key of a filter."""
    rows = con.sql("SELECT DISTINCT unnest(map_keys(dimensions)) FROM run_index").fetchall()
    return sorted(name for (name,) in rows if name not in KEYS and name not in own)


def read(con: DuckDBPyConnection, name: str, /, **parameters: object) -> list[Row]:
    """Return the rows of a query of this package, in its order."""
    return _rows(con, query(name), parameters)


def read_matching(
    con: DuckDBPyConnection,
    name: str,
    run_filter: Filter,
    /,
    *,
    measured: str | None = None,
    parameters: Mapping[str, object] = {},
) -> list[Row]:
    """Return the rows of a query over `matching_runs`: the runs of a filter."""
    if run_filter.request:
        keep_requests(con, run_filter.request)
    runs = matching_runs(run_filter, measured)
    text = f"WITH matching_runs AS NOT MATERIALIZED ({runs.text})\n{query(name)}"
    return _rows(con, text, {**runs.values, **parameters})


def read_added_up(
    con: DuckDBPyConnection, name: str, run_filter: Filter, /, measured: str, **parameters: object
) -> list[Row]:
    """Return the rows of a query over `matching_runs` and the `metric_parts` of one metric."""
    runs, parts = matching_runs(run_filter, measured), metric_parts(measured)
    if run_filter.request:
        keep_requests(con, run_filter.request)
    text = (
        f"WITH matching_runs AS NOT MATERIALIZED ({runs.text}), "
        f"metric_parts AS NOT MATERIALIZED ({parts.text})\n{query(name)}"
    )
    return _rows(con, text, {**runs.values, **parts.values, **parameters})


def read_cached(
    snapshot: LakeSnapshot,
    con: DuckDBPyConnection,
    name: str,
    run_filter: Filter,
    /,
    *,
    measured: str | None = None,
    **parameters: Hashable,
) -> list[Row]:
    """Return the rows as `read_matching`, of a query that heeds neither order nor beginning.

    Runs of a state are counted each time, since time alone changes it.
    """
    if run_filter.state is not None:
        return read_matching(
            con, name, run_filter.conditions_alone, measured=measured, parameters=parameters
        )
    key = (name, run_filter.conditions_alone.query, measured, *parameters.items())
    found: list[Row] = snapshot.cached(
        key,
        lambda: read_matching(
            con, name, run_filter.conditions_alone, measured=measured, parameters=parameters
        ),
    )
    return found


def _rows(con: DuckDBPyConnection, text: str, parameters: Mapping[str, object]) -> list[Row]:
    result = con.execute(text, dict(parameters) or None)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
