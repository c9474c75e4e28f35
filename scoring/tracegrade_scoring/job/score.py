"""`tracegrade score`: brings the score tables up to date with the lake and the task files.

What has been scored is written in the scores themselves (hashes of spans, verdicts, tasks) and
`trajectory_scores` is committed last: a run that was cut off is simply repeated. One job at a time
holds the lake's lock.

Makes:
    task_hashes: the version of each task
    traces_to_score (from unscored_traces): the traces that are scored
"""

import datetime
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake
from tracegrade_lake.storage import Lock
from tracegrade_queries.build.build import build
from tracegrade_queries.build.discovery import unbuilt_spans
from tracegrade_queries.costs.pricing import NO_COSTS, Costs, Prices, known_prices, update_costs
from tracegrade_queries.engine.bucket_work import (
    Bucket,
    Outcome,
    limits_between,
    limits_of_bucket,
    together,
)
from tracegrade_queries.engine.connection import Limits, connect, connect_job
from tracegrade_queries.engine.executor import Executor, Threads
from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.engine.relations import count, put
from tracegrade_scoring.errors import ScoringBusy
from tracegrade_scoring.job.bucket_rows import divide, files_of
from tracegrade_scoring.job.commit import ScoringCommit, run_numbers
from tracegrade_scoring.job.counts import NOTHING, Counts, read_counts
from tracegrade_scoring.job.score_bucket import STAGED, SUMS, hashes, score_bucket
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.schema import (
    RELEASE_SCORES,
    SCORE_SUMS,
    SCORE_TABLES,
    SCORER_VERSION,
    TRAJECTORY_SCORES,
)
from tracegrade_scoring.sql import query
from tracegrade_scoring.statistics.release import release_scores
from tracegrade_scoring.statistics.sums import add_sums, start_sums, sums_are_whole, total_sums
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.kept import NO_TASKS, keep_specification, known_specification

STEPS_AT_A_TIME: Final = 1_000_000
"""Steps of the buckets that are worked off at a time, of `MAX_WORKERS` at most; a trace is never
split."""

MAX_WORKERS: Final = 4
"""Buckets at a time, each on a core of its own: a bucket's many small queries are worked off with
less effort by one core than by several. More of them would need more memory."""

MEMORY_MB: Final = 6_000
"""Of the engines of all buckets that are scored at a time; they spill beyond."""

LOCK_NAME: Final = "score"

Progress = Callable[[int, int], object]
"""Is told how many buckets are scored, and of how many."""


class Chosen(NamedTuple):
    """Which traces a run scores: those with a run that all of these fit."""

    since: datetime.datetime | None = None
    """Begun at or after it, UTC; None for all, here and below."""
    until: datetime.datetime | None = None
    """Begun before it, UTC."""
    agent_name: str | None = None
    release: str | None = None


ALL: Final = Chosen()


class ScoreSummary(NamedTuple):
    """What one run did, or would do."""

    traces: int
    """Traces that were scored, or removed because they are no longer there."""
    trajectories: int
    """Trajectories that were scored."""
    new_spans: int = 0
    """Spans that were built into steps before; on a dry run those that wait for it."""
    counts: Counts = NOTHING
    """What was found in the trajectories that were scored."""
    dry_run: bool = False
    """Nothing was written: these are the traces and trajectories that would be scored."""
    busy: bool = False
    """Another job was scoring the lake, so this one did nothing."""
    costs: Costs = NO_COSTS
    """Of how many trajectories of the lake the cost is known; none on a dry run."""
    unread: Mapping[str, int] = MappingProxyType({})
    """By instrumentation ('' if not named): traces that were built and gave no trajectory."""
    apart: Mapping[str, int] = MappingProxyType({})
    """Model calls that were built and belong to no agent's run, by reason."""
    specification: Specification = NO_TASKS
    """What was scored against."""
    kept: bool = False
    """Its tasks and tools are those that the lake kept, not given to this run."""
    without_task: int = 0
    """Trajectories that had a task file's task and lost it: none in force describes it."""


def score(  # noqa: PLR0913 - one for each option of the command
    lake: Lake,
    specification: Specification,
    *,
    chosen: Chosen = ALL,
    full: bool = False,
    wait: bool = False,
    prices: Prices | None = None,
    steps_at_a_time: int = STEPS_AT_A_TIME,
    executor: Executor | None = None,
    progress: Progress = lambda done, of: None,
) -> ScoreSummary:
    """Build what is new in the lake and score every trajectory that needs it.

    Args:
        lake: The lake to read and write.
        specification: What to score against, which the lake keeps. Fields that it does not set are
            as they were given last; `NO_TASKS` scores what needs no task.
        chosen: Which traces to score; others keep the scores they have.
        full: Score every settled trajectory, not just new and changed ones.
        wait: Wait until another job has ended.
        prices: What models cost, for every trajectory of the lake; no score depends on it. None:
            as it was given last.
        steps_at_a_time: Steps to hold in memory, about; changes no score.
        executor: Who works on the buckets; None for threads of this process.
        progress: Is called after each bucket.

    Raises:
        LeaseLost: On an object store, another job may have taken the lake over meanwhile.
        RunOvertaken: Another job has committed scores meanwhile.
        ScoringBusy: Another job is scoring this lake, and `wait` is false.
    """
    with _alone(lake, wait=wait) as lock:
        done = start_summary(lake, specification)
        keep_specification(lake, done.specification)
        _drop_outdated(lake)
        before = run_numbers(lake)
        known = known_prices(lake, prices)
        built = build(lake, full=full, prices=known, executor=executor)
        costs = update_costs(lake, known)
        done = done._replace(
            new_spans=built.new_spans, costs=costs, unread=built.unread, apart=built.apart
        )
        at_work = executor or Threads(min(os.cpu_count() or 1, MAX_WORKERS))
        reader, pinned = connect_job(lake, (SCORES,), limits_between(MEMORY_MB, at_work.slots))
        with reader as con:
            now_ns = newest_receipt(lake)
            traces = find_traces(con, done.specification, chosen, full=full, now_ns=now_ns)
            if not traces and sums_are_whole(con):
                return done
            done = done._replace(traces=traces, without_task=count(con, _WITHOUT_TASK))
            most_steps = -(-steps_at_a_time // min(at_work.slots, MAX_WORKERS))
            buckets = list(_buckets(con, pinned, done.specification, most_steps, at_work))
            outcomes = at_work.run(score_bucket, buckets)
            scored = together(_watched(outcomes, len(buckets), progress))
            lock.check()
            _commit(lake, con, scored, before)
            return done._replace(
                trajectories=scored.rows(TRAJECTORY_SCORES),
                counts=read_counts(con, done.specification, scored.tables),
            )


def start_summary(lake: Lake, specification: Specification) -> ScoreSummary:
    """Return the summary of a run that has done nothing yet: what it scores against.

    Args:
        lake: Keeps what is not given.
        specification: As for `score`.
    """
    known = known_specification(lake, specification)
    return ScoreSummary(
        0, 0, specification=known, kept="tasks" not in specification.model_fields_set
    )


def look(
    lake: Lake, specification: Specification, *, chosen: Chosen = ALL, full: bool = False
) -> ScoreSummary:
    """Return what `score` would do as the lake is now, and write nothing.

    Spans that wait to be built are counted; which trajectories they make is not known before.
    """
    done = start_summary(lake, specification)
    with connect(lake, layers=(SCORES,), memory_limit=f"{MEMORY_MB}MB") as con:
        return done._replace(
            traces=find_traces(
                con, done.specification, chosen, full=full, now_ns=newest_receipt(lake)
            ),
            trajectories=count(con, _TRAJECTORIES_TO_SCORE),
            new_spans=unbuilt_spans(lake, Limits(f"{MEMORY_MB}MB")),
            without_task=count(con, _WITHOUT_TASK),
            dry_run=True,
        )


_TRAJECTORIES_TO_SCORE: Final = "trajectories SEMI JOIN traces_to_score USING (trace_id)"

_WITHOUT_TASK: Final = (
    "trajectory_scores ANTI JOIN task_hashes USING (task_id) WHERE task_hash IS NOT NULL "
    "AND split_part(trajectory_id, '-', 1) IN (SELECT trace_id FROM traces_to_score "
    "WHERE date IS NOT NULL)"
)


@contextmanager
def _alone(lake: Lake, *, wait: bool) -> Iterator[Lock]:
    """Hold the lake's lock for scoring; it ends with the process, on a store a minute later."""
    lock = lake.lock(LOCK_NAME)
    try:
        if wait:
            lock.acquire()
        elif not lock.try_acquire():
            msg = f"another job is scoring the lake at {lake.place}; --wait waits until it ends"
            raise ScoringBusy(msg)
        yield lock
    finally:
        lock.close()


def _drop_outdated(lake: Lake) -> None:
    """Remove all score tables if one has other columns than declared: they are rewritten."""
    found = [(table, lake.columns(table.name)) for table in SCORE_TABLES]
    if any(columns not in (None, table.arrow().names) for table, columns in found):
        for table, columns in found:
            if columns is not None:
                lake.drop(table.name)


def newest_receipt(lake: Lake) -> int | None:
    """Return when the newest span or log record was received, ns since 1970: the lake's time.

    Its tables' logs say so. None for a lake without any.
    """
    files = [file for table in (RAW_SPANS, RAW_LOGS) for file in lake.live_files(table.name)]
    ranges = (file.ranges.get("received_ns") for file in files)
    return max((latest for _, latest in filter(None, ranges)), default=None)


def find_traces(
    con: duckdb.DuckDBPyConnection,
    specification: Specification,
    chosen: Chosen = ALL,
    *,
    full: bool = False,
    now_ns: int | None,
) -> int:
    """Create `traces_to_score` as `unscored_traces.sql` says, and return how many there are."""
    tasks = list(specification.tasks)
    task_hashes = {"task_id": tasks, "task_hash": [specification.task_hash(id_) for id_ in tasks]}
    schema = pa.schema([("task_id", pa.string()), ("task_hash", pa.string())])
    put(con, "task_hashes", pa.table(task_hashes, schema=schema))
    parameters: dict[str, Any] = {
        "everything": full,
        "now_ns": now_ns,
        "scorer_version": SCORER_VERSION,
        **hashes(specification),
        **chosen._asdict(),
    }
    con.execute(f"CREATE TABLE traces_to_score AS {query('unscored_traces')}", parameters)
    return count(con, "traces_to_score")


def _buckets(
    con: duckdb.DuckDBPyConnection,
    pinned: PinnedLake,
    specification: Specification,
    most_steps: int,
    executor: Executor,
) -> Iterator[Bucket[Specification]]:
    """Yield the traces to score bucket by bucket, each with the files of its dates."""
    found = list(divide(con, most_steps, executor.slots))
    limits = limits_of_bucket(MEMORY_MB, executor.slots, len(found))
    for traces in found:
        yield Bucket(files_of(pinned, traces), traces, limits, specification)


def _watched(outcomes: Iterable[Outcome], of: int, progress: Progress) -> Iterator[Outcome]:
    for done, outcome in enumerate(outcomes, start=1):
        yield outcome
        progress(done, of)


def _commit(
    lake: Lake, con: duckdb.DuckDBPyConnection, scored: Outcome, before: Mapping[str, int]
) -> None:
    """Commit the new rows; the scores of trajectories last, since they say what is done."""
    start_sums(con)
    if SUMS in scored.tables:
        add_sums(con, scored.tables[SUMS])
    total_sums(con)
    commit = ScoringCommit(lake, con, scored, before)
    *evidence, scores = STAGED
    for table in evidence:
        commit.commit_dated(table)
    commit.commit_whole(SCORE_SUMS, _sums(con))
    commit.commit_whole(RELEASE_SCORES, release_scores(con))
    commit.commit_dated(scores)


def _sums(con: duckdb.DuckDBPyConnection) -> pa.Table:
    schema = SCORE_SUMS.arrow()
    return con.sql("FROM current_sums ORDER BY ALL").to_arrow_table().cast(schema)
