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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_lake import Lake, StagedFile, Table
from tracegrade_lake.crash_points import reach
from tracegrade_lake.locks import FolderLock
from tracegrade_queries.build.build import build, unbuilt_spans
from tracegrade_queries.costs.pricing import NO_COSTS, Costs, Prices, known_prices, update_costs
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.relations import count, put
from tracegrade_scoring.errors import ScoringBusy
from tracegrade_scoring.job.bucket import STAGED, hashes, score_bucket
from tracegrade_scoring.job.bucket_rows import (
    leave_bucket,
    number_buckets,
    steps_read,
    take_bucket,
)
from tracegrade_scoring.job.counts import NOTHING, Counts, add_counts, read_counts, start_counts
from tracegrade_scoring.job.run import Run
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
from tracegrade_scoring.statistics.sums import (
    BATCH_ROWS,
    add_scores,
    start_sums,
    sums_are_whole,
    total_sums,
)
from tracegrade_scoring.tasks import Specification

STEPS_AT_A_TIME: Final = 1_000_000
"""Steps of all buckets that are worked off at a time; a trace is never split."""

MAX_WORKERS: Final = 4
"""Buckets at a time, each on a core of its own: a bucket's many small queries are worked off with
less effort by one core than by several. More of them would need more memory."""

MEMORY_LIMIT: Final = "6GB"
"""Of the engine; it spills beyond."""

LOCK_NAME: Final = "score.lock"

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


def score(  # noqa: PLR0913 - one for each option of the command
    lake: Lake,
    specification: Specification,
    *,
    chosen: Chosen = ALL,
    full: bool = False,
    wait: bool = False,
    prices: Prices | None = None,
    steps_at_a_time: int = STEPS_AT_A_TIME,
    progress: Progress = lambda done, of: None,
) -> ScoreSummary:
    """Build what is new in the lake and score every trajectory that needs it.

    Args:
        lake: The lake to read and write.
        specification: What to score against; an empty one scores what needs no task.
        chosen: Which traces to score; others keep the scores they have.
        full: Score every settled trajectory, not just new and changed ones.
        wait: Wait until another job has ended.
        prices: What models cost, for every trajectory of the lake; no score depends on it. None:
            as it was given last.
        steps_at_a_time: Steps to hold in memory, about; changes no score.
        progress: Is called after each bucket.

    Raises:
        ScoringBusy: Another job is scoring this lake, and `wait` is false.
    """
    with _alone(lake, wait=wait):
        _drop_outdated(lake)
        known = known_prices(lake, prices)
        built = build(lake, full=full, prices=known)
        costs = update_costs(lake, known)
        workers, threads = _shares(lake)
        with connect(
            lake, layers=(SCORES,), others=False, memory_limit=MEMORY_LIMIT, threads=threads
        ) as con:
            traces = find_traces(con, specification, chosen, full=full)
            if not traces and sums_are_whole(con):
                return ScoreSummary(0, 0, built.new_spans, costs=costs, unread=built.unread)
            run = Run(lake, con)
            buckets = number_buckets(con, -(-steps_at_a_time // workers), workers)
            trajectories = 0
            start_sums(con)
            start_counts(con)
            scored = _score_buckets(con, run, specification, buckets, workers)
            for done, bucket in enumerate(scored, start=1):
                trajectories += bucket.trajectories
                run.add(bucket.files)
                progress(done, len(buckets))
            _commit(con, run)
            counts = read_counts(con, specification)
            return ScoreSummary(
                traces, trajectories, built.new_spans, counts, costs=costs, unread=built.unread
            )


def look(
    lake: Lake, specification: Specification, *, chosen: Chosen = ALL, full: bool = False
) -> ScoreSummary:
    """Return what `score` would do as the lake is now, and write nothing.

    Spans that wait to be built are counted; which trajectories they make is not known before.
    """
    with connect(lake, layers=(SCORES,), memory_limit=MEMORY_LIMIT) as con:
        traces = find_traces(con, specification, chosen, full=full)
        trajectories = count(con, _TRAJECTORIES_TO_SCORE)
        return ScoreSummary(traces, trajectories, unbuilt_spans(lake, con), dry_run=True)


_TRAJECTORIES_TO_SCORE: Final = "trajectories SEMI JOIN traces_to_score USING (trace_id)"


@contextmanager
def _alone(lake: Lake, *, wait: bool) -> Iterator[None]:
    """Hold the lake's lock for scoring; it ends with the process."""
    lock = FolderLock(lake.state / LOCK_NAME)
    try:
        if wait:
            lock.acquire()
        elif not lock.try_acquire():
            msg = f"another job is scoring the lake at {lake.place}; --wait waits until it ends"
            raise ScoringBusy(msg)
        yield
    finally:
        lock.close()


def _drop_outdated(lake: Lake) -> None:
    """Remove all score tables if one has other columns than declared: they are written anew."""
    found = [(table, lake.columns(table.name)) for table in SCORE_TABLES]
    if any(columns not in (None, table.arrow().names) for table, columns in found):
        for table, columns in found:
            if columns is not None:
                lake.drop(table.name)


def find_traces(
    con: duckdb.DuckDBPyConnection,
    specification: Specification,
    chosen: Chosen = ALL,
    *,
    full: bool = False,
) -> int:
    """Create `traces_to_score` as `unscored_traces.sql` says, and return how many there are."""
    tasks = list(specification.tasks)
    task_hashes = {"task_id": tasks, "task_hash": [specification.task_hash(id_) for id_ in tasks]}
    schema = pa.schema([("task_id", pa.string()), ("task_hash", pa.string())])
    put(con, "task_hashes", pa.table(task_hashes, schema=schema))
    parameters: dict[str, Any] = {
        "everything": full,
        "scorer_version": SCORER_VERSION,
        **hashes(specification),
        **chosen._asdict(),
    }
    con.execute(f"CREATE TABLE traces_to_score AS {query('unscored_traces')}", parameters)
    return count(con, "traces_to_score")


def _shares(lake: Lake) -> tuple[int, int | None]:
    """Return how many buckets are scored at a time, and the engine's threads for all cores.

    Workers count as threads while they ask. An object store is read by one alone: another
    connection does not see what is registered for it.
    """
    if not lake.is_local:
        return 1, None
    cores = os.cpu_count() or 1
    workers = min(cores, MAX_WORKERS)
    return workers, 1 + cores - workers


class Scored(NamedTuple):
    """What scoring one bucket made."""

    trajectories: int
    files: Mapping[Table, list[StagedFile]]
    """Of each table, staged and not yet committed."""


def _score_buckets(
    con: duckdb.DuckDBPyConnection,
    run: Run,
    specification: Specification,
    buckets: Sequence[int],
    workers: int,
) -> Iterator[Scored]:
    """Score buckets side by side, and yield what each made, in their order.

    Each has a connection of its own, whose temporary tables no other sees and that end with it.
    """
    readers: dict[int, duckdb.DuckDBPyConnection] = {}

    def work_off(bucket: int) -> Scored:
        reader = readers[bucket] = con.cursor() if workers > 1 else con
        found = _score_bucket(reader, run, specification, bucket)
        if readers.pop(bucket) is not con:
            reader.close()
        return found

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(work_off, buckets)
        except BaseException:
            for reader in list(readers.values()):
                reader.interrupt()
            raise


def _score_bucket(
    con: duckdb.DuckDBPyConnection, run: Run, specification: Specification, bucket: int
) -> Scored:
    """Stage the new rows of one bucket, and add them to the sums and counts of the run."""
    take_bucket(con, bucket, steps_read(specification))
    rows = score_bucket(con, specification)
    files = {table: run.stage(table, new) for table, new in rows.items()}
    reach("scores_staged")
    add_scores(con, rows[TRAJECTORY_SCORES].to_batches(BATCH_ROWS))
    add_counts(con, rows[TRAJECTORY_SCORES])
    leave_bucket(con)
    return Scored(len(rows[TRAJECTORY_SCORES]), files)


def _commit(con: duckdb.DuckDBPyConnection, run: Run) -> None:
    """Commit the new rows; the scores of trajectories last, since they say what is done."""
    *evidence, scores = STAGED
    for table in evidence:
        run.commit_dated(table)
    total_sums(con)
    run.commit_whole(SCORE_SUMS, _sums(con))
    run.commit_whole(RELEASE_SCORES, release_scores(con))
    run.commit_dated(scores)


def _sums(con: duckdb.DuckDBPyConnection) -> pa.Table:
    schema = SCORE_SUMS.arrow()
    return con.sql("FROM current_sums ORDER BY ALL").to_arrow_table().cast(schema)
