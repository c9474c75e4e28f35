"""Finds the traces to score, at the cost of new data and not of the whole lake.

A date is read if it does not consist of the files that the last run noted, if some of its traces
waited then, or if verdicts on its traces were added or removed since. Whole dates are read,
because a trace has its trajectories and its scores on the same date. At moments when these differ,
both dates are read.

Every date is read if the notes are unreliable: tasks, tools or definitions changed, scores were
erased, or the last run did not finish.

The clock decides only how long a run waits, so that a lake at rest is scored, too. The same lake
gives the same scores for runs that no longer wait.

Makes:
    conversation_turns: the turns of its conversation that each run has, if tasks give turns
    failing_traces: traces that made scoring fail, and are left out
    metric_hashes: the version of each metric of a user's own, and whether it runs
    task_hashes: the version of each task
    traces_with_other_metrics (from metric_hashes): traces scored by other metrics of users' own
    unscored_traces (from traces_with_other_metrics): the traces that are scored, or will be once
        they are settled and chosen
    traces_to_score (from failing_traces, unscored_traces): the traces that are scored
    waiting_runs: runs that wait for their root
"""

import datetime
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake import RAW_LOGS, RAW_SPANS, VERDICTS, Lake, Table
from tracegrade_lake.errors import LakeDamaged
from tracegrade_lake.maintenance.row_selection import TRACE_ID_DIGITS
from tracegrade_queries.engine.connection import Limits, connect_pinned, read_pinned
from tracegrade_queries.engine.pinned import PinnedLake, dated_on
from tracegrade_queries.engine.relations import (
    count,
    given,
    has_rows,
    make_table,
    put,
    table,
)
from tracegrade_queries.schema import STEPS, TRAJECTORIES
from tracegrade_scoring.job.last_scoring import (
    LastScoring,
    ProcessedFile,
    files_now,
    last_scoring,
    noted,
    scored_with,
)
from tracegrade_scoring.job.score_bucket import hashes
from tracegrade_scoring.job.unscorable import unscorable_traces
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.schema import (
    SCORE_SUMS,
    SCORE_TABLES,
    SCORER_VERSION,
    TRAJECTORY_SCORES,
)
from tracegrade_scoring.sql import query
from tracegrade_scoring.statistics.sums import sums_are_whole
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.unscorable import UNSCORABLE_TRACES

READ: Final = (STEPS, TRAJECTORIES, VERDICTS, *SCORE_TABLES)
"""The tables that a run is about."""


class TraceFilter(NamedTuple):
    """The traces that a run scores: those with a run that fits all of these."""

    since: datetime.datetime | None = None
    """Begun at or after it, UTC; None for all, here and below."""
    until: datetime.datetime | None = None
    """Begun before it, UTC."""
    agent_name: str | None = None
    release: str | None = None


ALL: Final = TraceFilter()


class Waiting(NamedTuple):
    """Traces with runs that are not scored yet, because their root may still come."""

    traces: int
    until_ns: int | None
    """When all of them are scored without it, ns since 1970; None if there are none."""


NOBODY_WAITS: Final = Waiting(0, None)

QUIET_SECS: Final = 600.0
"""Without a span or log record, after which the runs of a trace no longer wait for their root."""


class ScoringScope(NamedTuple):
    """At which dates a run looks."""

    lake: PinnedLake
    """All files of the lake."""
    torn: Mapping[str, frozenset[str]]
    """By score table the dates at which a run that was killed left other rows than the last whole
    one."""
    dates: frozenset[str] | None
    """Dates that may need work, including torn ones; None for all."""

    @property
    def read(self) -> PinnedLake:
        """The files that are read: of these dates, and no steps."""
        of_dates = dated_on(self.dates) if self.dates is not None else lambda _: True
        parts = {table.name: of_dates for table in READ if table is not STEPS}
        return self.lake.only({**parts, VERDICTS.name: lambda _: self.dates != frozenset()})


class TracesToScore(NamedTuple):
    """The traces to score."""

    con: duckdb.DuckDBPyConnection
    """Holds `traces_to_score`, and the tables as `Look.read` has them."""
    scope: ScoringScope
    last: LastScoring
    traces: int
    """How many traces are scored."""
    sums_are_whole: bool
    """Whether `score_sums` is of all scores: some may have been erased since."""

    def waiting(self) -> Waiting:
        """Return how many traces of the lake have runs that wait for their root."""
        found = self.con.sql("SELECT count(*), max(until_ns) FROM waiting_runs").fetchall()
        return Waiting(*found[0])

    def due_ns(self) -> int | None:
        """Return when the first of these runs no longer waits, ns since 1970; None without any."""
        found = self.con.sql("SELECT min(until_ns) FROM waiting_runs").fetchall()
        due_ns: int | None = found[0][0]
        return due_ns

    def noting(
        self, specification: Specification, written: Mapping[str, Collection[ProcessedFile]]
    ) -> LastScoring:
        """Return the notes of this run.

        Args:
            specification: Tasks and tools that the run scored against.
            written: All current files of the tables that were committed to, by table.
        """
        unchanged = (file for file in files_now(self.scope.lake) if file.table not in written)
        files = [*unchanged, *chain.from_iterable(written.values())]
        return noted(files, self._waiting_dates(), specification)

    def _waiting_dates(self) -> Iterator[str]:
        found = self.con.sql(
            "SELECT unnest([date, scored_date]) FROM unscored_traces WHERE waits "
            "UNION SELECT date FROM waiting_runs"
        )
        return (str(date) for (date,) in found.fetchall())


@contextmanager
def unscored(  # noqa: PLR0913 - one for each option of the command
    lake: Lake,
    specification: Specification,
    chosen: TraceFilter,
    limits: Limits,
    *,
    numbers: Mapping[str, int],
    full: bool,
    now_ns: int | None = None,
    quiet_secs: float = QUIET_SECS,
) -> Iterator[TracesToScore]:
    """Find the traces to score.

    Args:
        lake: The lake to read.
        specification: Tasks and tools to score against.
        chosen: Which traces to score.
        limits: Limits of the engine.
        numbers: By score table, the run that committed to it last.
        full: Score every settled trace, not just new and changed ones.
        now_ns: The time, ns since 1970; None for the clock's. The lake's own time counts if it is
            later.
        quiet_secs: As for `find_traces`.
    """
    last = last_scoring(lake)
    full = full or _have_lost_rows(numbers)
    is_known = not full and last.scored_with == scored_with(specification)

    def connected(pinned: PinnedLake) -> tuple[duckdb.DuckDBPyConnection, ScoringScope]:
        torn = _torn(lake, pinned, numbers)
        dates = _changed_dates(lake, pinned, last, limits) if is_known else None
        if dates and specification.gives_turns:
            dates = None  # a run of a conversation moves the turns of others, of any date
        scope = ScoringScope(pinned, torn, dates if dates is None else dates.union(*torn.values()))
        return connect_pinned(scope.read, READ, limits), scope

    con, scope = read_pinned(lake, [table.name for table in READ], connected, (SCORES,))
    with con:
        now = max(newest_receipt(lake), time.time_ns() if now_ns is None else now_ns)
        traces = find_traces(
            con,
            specification,
            chosen,
            full=full,
            now_ns=now,
            quiet_secs=quiet_secs,
            failing=None if full else _failing(lake, specification),
        )
        are_whole = scope.dates is not None or sums_are_whole(con)
        yield TracesToScore(con, scope, last, traces, are_whole)


def _have_lost_rows(numbers: Mapping[str, int]) -> bool:
    """Return whether a score table is behind the last whole run, which commits to all of them.

    Its newest commit was damaged and put aside; or it is new, and no run has filled it.
    """
    return any(number < numbers[TRAJECTORY_SCORES.name] for number in numbers.values())


def _torn(lake: Lake, pinned: PinnedLake, numbers: Mapping[str, int]) -> dict[str, frozenset[str]]:
    """Return by score table the dates at which it has other files than the last whole run left."""
    whole = numbers[TRAJECTORY_SCORES.name]
    torn = [table for table in SCORE_TABLES if numbers[table.name] > whole]
    return {table.name: _changed_since(lake, pinned, table) for table in torn}


def _changed_since(lake: Lake, pinned: PinnedLake, table: Table) -> frozenset[str]:
    found = pinned.tables.get(table.name)
    before = {(file.path, file.date) for file in found.files} if found else set()
    now = {(file.path, file.date) for file in lake.live_files(table.name)}
    return frozenset(date for _, date in now ^ before if date)


def _changed_dates(
    lake: Lake, pinned: PinnedLake, last: LastScoring, limits: Limits
) -> frozenset[str] | None:
    """Return the dates that are not as the last run noted them; None if any may be another."""
    now = files_now(pinned)
    if _sums_of(now) != _sums_of(last.files):
        return None
    judged = _judged_anew(lake, last.files, now)
    if judged is None:
        return None
    changed = {file.date for file in now ^ last.done if file.table in _DATED and file.date}
    return frozenset(changed.union(_dates_of(pinned, judged, limits)))


_DATED: Final = {TRAJECTORIES.name, TRAJECTORY_SCORES.name}


def _sums_of(files: Collection[ProcessedFile]) -> tuple[set[str], int]:
    """Return the files of the sums, and the number of scores that there are."""
    sums = {file.path for file in files if file.table == SCORE_SUMS.name}
    return sums, sum(file.rows for file in files if file.table == TRAJECTORY_SCORES.name)


def _judged_anew(
    lake: Lake, before: Collection[ProcessedFile], now: Collection[ProcessedFile]
) -> pa.ChunkedArray | None:
    """Return the traces of verdicts that came or went; None if it is not known which went.

    Files that left the table are kept for slow readers, but not those with rows that were erased.
    """
    then, after = (
        {file for file in files if file.table == VERDICTS.name} for files in (before, now)
    )
    signs = {file: 1 if file in after else -1 for file in then ^ after}
    try:
        rows = [_verdicts_of(lake, file, sign) for file, sign in signs.items()]
    except LakeDamaged:
        return None
    schema = VERDICTS.arrow().append(pa.field("sign", pa.int64()))
    every = pa.concat_tables([schema.empty_table(), *rows])
    counted = every.group_by(VERDICTS.arrow().names).aggregate([("sign", "sum")])
    changed = counted.filter(pc.not_equal(counted["sign_sum"], 0))
    return pc.unique(pc.utf8_slice_codeunits(changed["trajectory_id"], 0, TRACE_ID_DIGITS))


def _verdicts_of(lake: Lake, file: ProcessedFile, sign: int) -> pa.Table:
    """Return the verdicts in a file, each with this sign.

    Raises:
        LakeDamaged: The file is gone.
    """
    with lake.open_parquet(VERDICTS.name, file.path) as parquet:
        rows = VERDICTS.declared(parquet.read())
    date = pa.repeat(datetime.date.fromisoformat(file.date or ""), len(rows))
    column = rows.column_names.index("date")
    return rows.set_column(column, "date", date).append_column("sign", pa.repeat(sign, len(rows)))


def _dates_of(pinned: PinnedLake, traces: pa.ChunkedArray, limits: Limits) -> set[str]:
    """Return the dates of traces."""
    if not len(traces):
        return set()
    files = pinned.only({TRAJECTORIES.name: lambda _: True})
    with connect_pinned(files, (TRAJECTORIES,), limits) as con:
        with given(con, "judged_traces", pa.table({"trace_id": traces})):
            found = con.sql(
                "SELECT DISTINCT date FROM trajectories SEMI JOIN judged_traces USING (trace_id)"
            ).fetchall()
        return {str(date) for (date,) in found}


def newest_receipt(lake: Lake) -> int:
    """Return when the newest span or log record was received, ns since 1970: the lake's time.

    The time comes from the tables' logs. 0 for a lake without records.
    """
    files = [file for table in (RAW_SPANS, RAW_LOGS) for file in lake.live_files(table.name)]
    ranges = (file.ranges.get("received_ns") for file in files)
    return max((latest for _, latest in filter(None, ranges)), default=0)


def find_traces(  # noqa: PLR0913 - one for each option of the command
    con: duckdb.DuckDBPyConnection,
    specification: Specification,
    chosen: TraceFilter = ALL,
    *,
    full: bool = False,
    now_ns: int,
    quiet_secs: float = QUIET_SECS,
    failing: pa.Table | None = None,
) -> int:
    """Create `waiting_runs`, `unscored_traces`, `traces_to_score`; return how many are scored.

    Args:
        con: Holds `trajectories`, `trajectory_scores` and `verdicts`.
        specification: What to score against.
        chosen: Which traces to score.
        full: As for `unscored`.
        now_ns: The time, ns since 1970.
        quiet_secs: Without a record of its trace, after which a run no longer waits for its root.
        failing: Traces that are left out as long as their input is the same: `trace_id`,
            `input_hash`; None for none.
    """
    tasks = list(specification.tasks)
    task_hashes = {"task_id": tasks, "task_hash": [specification.task_hash(id_) for id_ in tasks]}
    schema = pa.schema([("task_id", pa.string()), ("task_hash", pa.string())])
    put(con, "task_hashes", pa.table(task_hashes, schema=schema))
    parameters: dict[str, Any] = {
        "everything": full,
        "fragments": specification.fragments,
        "scorer_version": SCORER_VERSION,
        **hashes(specification),
        **chosen._asdict(),
    }
    times = {"now_ns": now_ns, "quiet_ns": int(quiet_secs * 1e9)}
    make_table(con, "waiting_runs", query("waiting_runs"), times)
    by_turn = {"by_turn": specification.gives_turns}
    make_table(con, "conversation_turns", query("conversation_turns"), by_turn)
    put(con, "metric_hashes", _metric_hashes(specification))
    is_used = bool(specification.metrics) or has_rows(con, "custom_scores")
    others = query("traces_with_other_metrics").rstrip().removesuffix(";")
    limit = "" if is_used else " LIMIT 0"
    make_table(con, "traces_with_other_metrics", others + limit)
    make_table(con, "unscored_traces", query("unscored_traces"), parameters)
    put(
        con,
        "failing_traces",
        UNSCORABLE_TRACES.arrow().empty_table() if failing is None else failing,
    )
    make_table(con, "traces_to_score", _TRACES_TO_SCORE)
    return count(con, "traces_to_score")


_TRACES_TO_SCORE: Final = (
    "SELECT * EXCLUDE (waits) FROM unscored_traces "
    "ANTI JOIN failing_traces USING (trace_id, input_hash) WHERE NOT waits"
)


def _failing(lake: Lake, specification: Specification) -> pa.Table:
    """Return the traces that made scoring fail with this specification."""
    noted_traces = unscorable_traces(lake)
    return noted_traces.filter(pc.equal(noted_traces["scored_with"], scored_with(specification)))


_METRIC_HASHES: Final = pa.schema(
    {"metric": pa.string(), "metric_hash": pa.string(), "runs": pa.bool_()}
)


def _metric_hashes(specification: Specification) -> pa.Table:
    rows = [(each.name, each.hash, each.runs) for each in specification.metrics]
    return table(_METRIC_HASHES, rows)
