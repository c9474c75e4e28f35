"""Finds each trial's run in the lake after all spans have landed, and its other runs.

The trial's run is the first one that its agent announced at the gate. If the agent announced none,
or that run never arrived, it is the first run received. The order is that of traces at the relay,
then that of received root spans. Neither depends on the content of spans, so no agent can choose
its run afterwards.

Later runs of the same conversation are its later turns, and also get the verdict. All other runs
are `several_runs`: a mark keeps them in the lake and out of every rate.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from opentelemetry.trace import Status

from tracegrade import names
from tracegrade_harness.landed.runs import LandedRun, landed_runs
from tracegrade_harness.telemetry.harness_spans import HarnessSpan, send_spans
from tracegrade_harness.telemetry.relay import Endpoint
from tracegrade_harness.trial.result import TrialResult
from tracegrade_harness.trial.root_span import new_span_id
from tracegrade_lake import Lake
from tracegrade_scoring.rendering.words import count

EARLIER_NS: Final = 60_000_000_000
"""Time that a span may be received before its trial's recorded beginning: clocks step."""
MAX_TURNS: Final = 100
"""Most turns of one trial: each counts as a run, so that many would outweigh other trials."""
SEVERAL_RUNS: Final = "several_runs"
NO_SPAN: Final = "0" * 16


class BesideRun(NamedTuple):
    """A run that an agent sent in addition to its trial's own."""

    of: TrialResult
    run: LandedRun


class FoundRuns(NamedTuple):
    """The runs that the lake has for some trials."""

    results: list[TrialResult]
    """Results with their runs."""
    beside: list[BesideRun]


def found_runs(lake: Lake, results: Sequence[TrialResult]) -> FoundRuns:
    """Return results with the runs of their trials, and kills with their baselines' runs.

    Args:
        lake: The lake, in which all spans of these trials have landed.
        results: Results of trials and kills.

    Raises:
        EnvironmentFailed: The spans cannot be read.
    """
    sent = [each for each in results if each.traces]
    if not sent:
        return FoundRuns([*results], [])
    first = min(each.started_at for each in sent)
    since_ns = int(first.timestamp()) * 1_000_000_000 - EARLIER_NS
    traces = sorted({trace for each in sent for trace in each.traces})
    runs: dict[str, list[LandedRun]] = defaultdict(list)
    for run in landed_runs(lake, traces, since_ns, time.time_ns()):
        runs[run.trace_id].append(run)
    found = [_found(each, runs) if each.traces else (each, []) for each in results]
    named = [each for each, _ in found]
    baselines = {
        (each.task_id, each.trial): each.trajectory_id for each in named if not each.kill_point
    }
    beside = [BesideRun(each, run) for each, others in found for run in others]
    return FoundRuns([_with_baseline(each, baselines) for each in named], beside)


def _found(
    result: TrialResult, runs: Mapping[str, Sequence[LandedRun]]
) -> tuple[TrialResult, list[LandedRun]]:
    """Return a result with its run, and the additional runs."""
    found = [run for trace in result.traces for run in runs[trace] if run.kill_point is None]
    if result.kill_point:  # its own run is marked as killed
        return _noted(result, found), found
    if not found:
        if result.trajectory_id is not None:
            return result, []
        fact = "no_run: its spans hold 0 runs of the trial, so no verdict is on it"
        return result.model_copy(update={"notes": [*result.notes, fact]}), []
    own = _own(result.trajectory_id, found)
    talk = own.conversation_id
    turns = [run for run in found if talk is not None and run.conversation_id == talk]
    turns = [run for run in turns if run != own][:MAX_TURNS]
    others = [run for run in found if run != own and run not in turns]
    named = {"trajectory_id": own.trajectory_id, "turns": [run.trajectory_id for run in turns]}
    return _noted(result.model_copy(update=named), others), others


def _own(reported: str | None, found: Sequence[LandedRun]) -> LandedRun:
    """Return the run of a trial."""
    trace = reported and reported.partition("-")[0]
    return min(found, key=lambda run: (run.trajectory_id != reported, run.trace_id != trace))


def _noted(result: TrialResult, others: Sequence[LandedRun]) -> TrialResult:
    if not others:
        return result
    fact = (
        f"{SEVERAL_RUNS}: {count(len(others), 'run')} more than the trial's, in no rate; put all "
    )
    fact += "into one `agent_run`, or give them one conversation id"
    return result.model_copy(update={"notes": [*result.notes, fact]})


def _with_baseline(
    result: TrialResult, baselines: Mapping[tuple[str, int], str | None]
) -> TrialResult:
    baseline = baselines.get((result.task_id, result.trial))
    if not result.kill_point or baseline is None:
        return result
    return result.model_copy(update={"baseline_trajectory_id": baseline})


def mark_beside(collector: Endpoint, beside: Iterable[BesideRun]) -> None:
    """Send a span into each of these runs, which marks it as not an attempt.

    Raises:
        EnvironmentFailed: The collector did not take them.
    """
    marks: dict[tuple[str, int, str], list[BesideRun]] = defaultdict(list)
    for each in beside:
        marks[each.of.key].append(each)
    for (task_id, trial, _), some in marks.items():
        resource = {
            names.SERVICE_NAME: some[0].of.agent_name,
            names.TASK_ID: task_id,
            names.TRIAL: str(trial),
        }
        what = f"marks of {count(len(some), 'run')} next to {task_id} trial {trial}"
        send_spans(collector, [_mark(each) for each in some], resource, what)


def _mark(beside: BesideRun) -> HarnessSpan:
    result, run = beside
    now = time.time_ns()
    has_agent = run.root_span_id != NO_SPAN
    # The same agent once more, which adds no step.
    kind = {names.OPERATION_NAME: names.INVOKE_AGENT} if has_agent else {}
    return HarnessSpan(
        run.trace_id,
        new_span_id(),
        run.root_span_id if has_agent else None,
        SEVERAL_RUNS,
        {**kind, names.KILL_POINT: result.kill_point or SEVERAL_RUNS},
        now,
        now,
        Status(),
    )
