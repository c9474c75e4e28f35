"""`tracegrade score`: brings the score tables up to date with the lake and the task files.

The scores themselves record what was scored (hashes of spans, verdicts, tasks), and
`trajectory_scores` is committed last: a run that was cut off is simply repeated. After it the run
notes what the next run can skip (`last_scoring.py`). One job at a time holds the lake's lock.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_lake import Lake
from tracegrade_lake.job_lake import JobLake
from tracegrade_lake.maintenance.replaced_files import KEEP_HOURS
from tracegrade_lake.storage import Lock
from tracegrade_queries.build.build import BuildSummary
from tracegrade_queries.build.discovery import unbuilt
from tracegrade_queries.build.last_build import last_build
from tracegrade_queries.build.locked_build import build_with_costs
from tracegrade_queries.costs.pricing import NO_COSTS, Costs, Prices
from tracegrade_queries.dimensions.labeling import NO_LABELING, GivenMapping, LabelingSummary
from tracegrade_queries.engine.bucket_work import (
    Bucket,
    Outcome,
    limits_between,
    limits_of_bucket,
    together,
)
from tracegrade_queries.engine.connection import Limits
from tracegrade_queries.engine.executor import Executor, Threads
from tracegrade_queries.engine.machine import workers
from tracegrade_queries.engine.relations import count
from tracegrade_scoring.dimensions.summary import crowded_agents
from tracegrade_scoring.errors import ScoringBusy
from tracegrade_scoring.job.bucket_rows import divide, files_of
from tracegrade_scoring.job.commit import ScoringCommit, run_numbers
from tracegrade_scoring.job.counts import NOTHING, Counts, read_counts
from tracegrade_scoring.job.discovery import (
    ALL,
    NOBODY_WAITS,
    QUIET_SECS,
    TraceFilter,
    TracesToScore,
    Waiting,
    unscored,
)
from tracegrade_scoring.job.earlier_parts import find_earlier_parts, without_earlier_parts
from tracegrade_scoring.job.last_scoring import ProcessedFile, note_scoring, scored_with
from tracegrade_scoring.job.replaced import NO_REMOVAL, Removal, clean_up_after_run
from tracegrade_scoring.job.score_bucket import (
    METRIC_FAULTS,
    RESUMABLE,
    STAGED,
    SUMS,
    score_bucket,
)
from tracegrade_scoring.job.unscorable import FAILED, note_unscorable
from tracegrade_scoring.own_metrics.in_force import MetricOptions, metrics_in_force
from tracegrade_scoring.own_metrics.stored import store_metrics
from tracegrade_scoring.schema import (
    RELEASE_SCORES,
    SCORE_SUMS,
    SCORE_TABLES,
    TRAJECTORY_SCORES,
)
from tracegrade_scoring.statistics.known_cohorts import KnownCohorts
from tracegrade_scoring.statistics.sums import add_sums, start_sums, total_sums
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.stored import NO_TASKS, keep_specification, known_specification

BUCKET_STEPS: Final = 500_000
"""Steps that one bucket aims at; a trace is never split."""

BUCKET_MB: Final = 2_000
"""Memory of the engine of one bucket; it spills beyond."""

WORKER_MB: Final = 2_500
"""That the work on one bucket takes: rows that leave the engine are outside of its limit."""

LOCK_NAME: Final = "score"

Progress = Callable[[int, int], object]
"""Called with the number of scored buckets, and of all buckets."""


class ScoreSummary(NamedTuple):
    """The results of one run, or of a dry run."""

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
    builds_again: bool = False
    """On a dry run: every trace would be built again, since its steps would be made otherwise."""
    busy: bool = False
    """Another job was scoring the lake, so this one did nothing."""
    costs: Costs = NO_COSTS
    """For how many trajectories of the lake the cost is known; empty on a dry run."""
    unread: Mapping[str, int] = MappingProxyType({})
    """By instrumentation ('' if not named): traces that were built and gave no trajectory."""
    apart: Mapping[str, int] = MappingProxyType({})
    """Model calls that were built and belong to no agent's run, by reason."""
    waiting: Waiting = NOBODY_WAITS
    """Traces of the lake with runs whose root may still come."""
    due_ns: int | None = None
    """When the first of these is scored without its root, ns since 1970; None if none waits."""
    fragments: int = 0
    """Traces that were built and are parts of runs elsewhere."""
    copies: Mapping[str, int] = MappingProxyType({})
    """Spans that were built and record a call which another span records, by reason."""
    unread_logs: Mapping[str, int] = MappingProxyType({})
    """New log records without a span in any trace, by the name of their event ('' without)."""
    specification: Specification = NO_TASKS
    """What was scored against."""
    tasks_stored: bool = False
    """Its tasks and tools are those that the lake kept, not given to this run."""
    earlier_parts: int = 0
    """Trajectories among these that are the earlier part of a run that was resumed."""
    failed_metrics: Mapping[str, str] = MappingProxyType({})
    """By metric of a user's own that failed: why, in one of the buckets."""
    failed_traces: Mapping[str, str] = MappingProxyType({})
    """By trace that made scoring fail: the error. It has no scores; all others are scored."""
    unmatched_rows: Mapping[str, int] = MappingProxyType({})
    """By metric of a user's own: rows that it returned for no attempt, which are ignored."""
    without_task: int = 0
    """Trajectories that had a task file's task and lost it: none in force describes it."""
    labeling: LabelingSummary = NO_LABELING
    """How trajectories got their dimensions."""
    mixed_releases: int = 0
    """Trajectories among these with several releases; that of the root counts."""
    crowded_agents: Mapping[str, int] = MappingProxyType({})
    """Releases of agents that have more than a person can compare, by agent ('' if not named)."""
    removal: Removal = NO_REMOVAL
    """Files that the run removed, of those that earlier runs replaced."""


def score(  # noqa: PLR0913 - one for each option of the command
    lake: Lake,
    specification: Specification,
    *,
    chosen: TraceFilter = ALL,
    full: bool = False,
    wait: bool = False,
    prices: Prices | None = None,
    mapping: GivenMapping | None = None,
    bucket_steps: int = BUCKET_STEPS,
    executor: Executor | None = None,
    progress: Progress = lambda done, of: None,
    now_ns: int | None = None,
    quiet_secs: float = QUIET_SECS,
    cohorts: KnownCohorts | None = None,
    keep_replaced_hours: float = KEEP_HOURS,
) -> ScoreSummary:
    """Build new trajectories of the lake, and score every trajectory that needs it.

    Args:
        lake: The lake to read and write.
        specification: Tasks and tools to score against, which the lake stores. Fields that it does
            not set keep their last values; `NO_TASKS` computes only scores that need no task.
        chosen: Which traces to score; others keep the scores they have.
        full: Score every settled trajectory, not just new and changed ones.
        wait: Wait until another job has ended.
        prices: Prices of models, for every trajectory of the lake; no score depends on them. None:
            the last given prices, else the built-in price list.
        mapping: The mapping of dimensions, for every trajectory of the lake; None: the last given.
        bucket_steps: Approximate steps of a bucket, which is in memory; changes no score.
        executor: Runs the buckets; None for threads of this process.
        progress: Called after each bucket.
        now_ns: The time, ns since 1970, which decides what waits for its root; None for the
            clock's.
        quiet_secs: Without a record of its trace, after which a run is scored without its root.
        cohorts: What the last run of this process knows of release scores; None for nothing.
        keep_replaced_hours: Time for which files that runs replaced stay for readers.

    Raises:
        LeaseLost: On an object store, another job may have taken over the lake.
        RunOvertaken: Another job committed scores during this one.
        ScoringBusy: Another job is scoring this lake, and `wait` is false.
    """
    with _alone(lake, wait=wait) as lock:
        lake = JobLake.of(lake)
        done = _prepare(lake, specification)
        before = run_numbers(lake)
        done = _build(lake, done, full=full, prices=prices, mapping=mapping, executor=executor)
        at_work = executor or Threads(workers(WORKER_MB))
        with unscored(
            lake,
            done.specification,
            chosen,
            _limits_here(at_work),
            numbers=before,
            full=full,
            now_ns=now_ns,
            quiet_secs=quiet_secs,
        ) as found:
            done = done._replace(waiting=found.waiting(), due_ns=found.due_ns())
            if not found.traces and found.sums_are_whole:
                note_scoring(lake, found.last, found.noting(done.specification, {}))
                return done
            without_task = count(found.con, _WITHOUT_TASK)
            scored = _score_buckets(found, done.specification, bucket_steps, at_work, progress)
            lock.check()
            mixed_releases = count(found.con, _MIXED_RELEASES)
            written = _commit(
                lake, found, scored, before, at_work, done.specification, cohorts or KnownCohorts()
            )
            failed = _note_failed(lake, found, scored, done.specification)
            note_scoring(lake, found.last, found.noting(done.specification, written))
            return done._replace(
                without_task=without_task,
                mixed_releases=mixed_releases,
                failed_traces=failed,
                removal=clean_up_after_run(lake, keep_replaced_hours),
                **_of_scores(found, scored, done.specification),
            )


def _prepare(lake: JobLake, specification: Specification) -> ScoreSummary:
    """Let the lake keep what a run scores against, and drop tables of earlier versions."""
    done = start_summary(lake, specification)
    keep_specification(lake, done.specification)
    store_metrics(lake, done.specification.metrics)
    _drop_outdated(lake)
    return done


def _build(
    lake: JobLake,
    done: ScoreSummary,
    *,
    full: bool,
    prices: Prices | None,
    mapping: GivenMapping | None,
    executor: Executor | None,
) -> ScoreSummary:
    """Build steps from new spans, and return the summary with what that found."""
    built, costs, labeling = build_with_costs(
        lake,
        full=full,
        prices=prices,
        mapping=mapping,
        retrieval=done.specification.retrieval,
        executor=executor,
    )
    return done._replace(costs=costs, labeling=labeling, **_of_build(built))


def _limits_here(at_work: Executor) -> Limits:
    """Return what the engine may take, whose buckets may be scored on other machines as well."""
    here = min(at_work.slots, workers(WORKER_MB))
    return limits_between(BUCKET_MB * here, here)


def _score_buckets(
    found: TracesToScore,
    specification: Specification,
    bucket_steps: int,
    at_work: Executor,
    progress: Progress,
) -> Outcome:
    buckets = list(_buckets(found, specification, bucket_steps, at_work))
    outcomes = at_work.run(score_bucket, buckets)
    return together(_watched(outcomes, len(buckets), progress))


def _of_build(built: BuildSummary) -> dict[str, Any]:
    """Return the counts of the build that a summary repeats."""
    names = ("new_spans", "unread", "apart", "fragments", "copies", "unread_logs")
    return {name: getattr(built, name) for name in names}


def _of_scores(
    found: TracesToScore, scored: Outcome, specification: Specification
) -> dict[str, Any]:
    """Return the fields of a summary on committed scores."""
    return {
        "traces": found.traces,
        "trajectories": scored.rows(TRAJECTORY_SCORES),
        "counts": read_counts(found.con, specification, scored.tables),
        "earlier_parts": count(found.con, "earlier_part_scores WHERE made_anew"),
        "crowded_agents": crowded_agents(found.con),
        **_metric_faults(scored),
    }


def _metric_faults(scored: Outcome) -> dict[str, Any]:
    """Return the fields of a summary on faults of own metrics.

    If a metric failed in several buckets, the first message in alphabetical order counts.
    """
    found = scored.tables.get(METRIC_FAULTS)
    rows = sorted(found.to_pylist(), key=lambda row: row["metric"]) if found else []
    messages: dict[str, str] = {}
    unmatched: Counter[str] = Counter()
    for row in rows:
        if row["message"] is not None:
            known = messages.get(row["metric"], row["message"])
            messages[row["metric"]] = min(known, row["message"])
        unmatched[row["metric"]] += row["unmatched"]
    return {"failed_metrics": messages, "unmatched_rows": dict(+unmatched)}


def _note_failed(
    lake: Lake, found: TracesToScore, scored: Outcome, specification: Specification
) -> dict[str, str]:
    """Note the traces that made scoring fail; return the reason of each."""
    failed = scored.tables.get(FAILED)
    tried = found.con.sql("SELECT trace_id FROM traces_to_score").to_arrow_table()["trace_id"]
    note_unscorable(lake, tried, failed, scored_with(specification))
    return {row["trace_id"]: row["reason"] for row in failed.to_pylist()} if failed else {}


def start_summary(lake: Lake, specification: Specification) -> ScoreSummary:
    """Return the summary of a run that has done nothing yet: what it scores against.

    Args:
        lake: Keeps what is not given.
        specification: As for `score`.
    """
    known = known_specification(lake, specification)
    if "metrics" not in specification.model_fields_set:
        known = known.model_copy(update={"metrics": metrics_in_force(lake, MetricOptions())})
    return ScoreSummary(
        0, 0, specification=known, tasks_stored="tasks" not in specification.model_fields_set
    )


def preview(
    lake: Lake,
    specification: Specification,
    *,
    chosen: TraceFilter = ALL,
    full: bool = False,
    now_ns: int | None = None,
    quiet_secs: float = QUIET_SECS,
) -> ScoreSummary:
    """Return what `score` would do as the lake is now, and write nothing.

    Spans that wait to be built are counted; which trajectories they make is not known before. If
    every trace would be built again, all spans wait, and which runs change is not known either.
    """
    done = start_summary(lake, specification)
    limits, numbers = Limits(f"{BUCKET_MB * workers(WORKER_MB)}MB"), run_numbers(lake)
    retrieval = done.specification.retrieval
    new = unbuilt(lake, limits, retrieval=retrieval)
    last = last_build(lake, retrieval=retrieval)
    with unscored(
        lake,
        done.specification,
        chosen,
        limits,
        numbers=numbers,
        full=full,
        now_ns=now_ns,
        quiet_secs=quiet_secs,
    ) as found:
        return done._replace(
            waiting=found.waiting(),
            traces=found.traces,
            trajectories=count(found.con, _TRAJECTORIES_TO_SCORE),
            new_spans=new.spans,
            unread_logs=new.unread_logs,
            without_task=count(found.con, _WITHOUT_TASK),
            dry_run=True,
            builds_again=bool(last.number) and last.is_outdated,
        )


_TRAJECTORIES_TO_SCORE: Final = (
    "trajectories SEMI JOIN traces_to_score USING (trace_id) "
    "WHERE trajectory_id NOT IN (SELECT unnest(runs) FROM waiting_runs)"
)

_WITHOUT_TASK: Final = (
    "trajectory_scores ANTI JOIN task_hashes USING (task_id) WHERE task_hash IS NOT NULL "
    "AND split_part(trajectory_id, '-', 1) IN (SELECT trace_id FROM traces_to_score "
    "WHERE date IS NOT NULL)"
)

_MIXED_RELEASES: Final = (
    "trajectories SEMI JOIN traces_to_score USING (trace_id) "
    "WHERE list_contains(flags, 'mixed_release')"
)


@contextmanager
def _alone(lake: Lake, *, wait: bool) -> Iterator[Lock]:
    """Hold the lake's lock for scoring; it ends with the process, on a store a minute later."""
    lock = lake.lock(LOCK_NAME)
    try:
        if wait:
            lock.acquire()
        elif not lock.try_acquire():
            msg = (
                f"another job is scoring the lake at {lake.location}, so nothing was done; "
                "run this again later, or with --wait, which waits until that job has ended"
            )
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


def _buckets(
    found: TracesToScore,
    specification: Specification,
    most_steps: int,
    executor: Executor,
) -> Iterator[Bucket[Specification]]:
    """Yield the traces to score bucket by bucket, each with the files of its dates."""
    divided = list(divide(found.con, most_steps, executor.slots))
    at_a_time = min(executor.slots, len(divided))
    limits = limits_of_bucket(BUCKET_MB * at_a_time, executor.slots, len(divided))
    for traces in divided:
        yield Bucket(files_of(found.scope.lake, traces), traces, limits, specification)


def _watched(outcomes: Iterable[Outcome], of: int, progress: Progress) -> Iterator[Outcome]:
    for done, outcome in enumerate(outcomes, start=1):
        yield outcome
        progress(done, of)


def _commit(  # noqa: PLR0913, PLR0917 - what a commit is made of
    lake: Lake,
    found: TracesToScore,
    scored: Outcome,
    before: Mapping[str, int],
    executor: Executor,
    specification: Specification,
    cohorts: KnownCohorts,
) -> dict[str, list[ProcessedFile]]:
    """Commit the new rows; the scores of trajectories last, since they say what is done.

    Returns:
        By table what the next run goes by.
    """
    con = found.con
    start_sums(con, are_whole=found.sums_are_whole)
    if SUMS in scored.tables:
        add_sums(con, scored.tables[SUMS])
    total_sums(con)
    commit = ScoringCommit(lake, found, scored, before)
    commit.share_out(executor)
    *evidence, scores = STAGED
    for table in evidence:
        commit.commit_dated(table)
    sums = commit.commit_whole(SCORE_SUMS, _sums(con))
    find_earlier_parts(found, scored.tables.get(RESUMABLE))
    without_earlier_parts(con)
    commit.commit_whole(RELEASE_SCORES, cohorts.release_scores(con, specification.metrics))
    return {SCORE_SUMS.name: sums, scores.name: commit.commit_dated(scores)}


def _sums(con: duckdb.DuckDBPyConnection) -> pa.Table:
    schema = SCORE_SUMS.arrow()
    return con.sql("FROM current_sums ORDER BY ALL").to_arrow_table().cast(schema)
