"""Finds the runs of agents that send spans and come to no gate, such as those of other languages.

Which run a trial was says the gate as it begins. Without it the lake does, once all has landed:
the trial's spans hold one, whoever wrote them. So what verifiers found is a verdict on it.
"""

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from tracegrade_harness.landed.runs import LandedRun, landed_runs
from tracegrade_harness.trial.result import TrialResult
from tracegrade_lake import Lake
from tracegrade_scoring.rendering.words import count

EARLIER_NS: Final = 60_000_000_000
"""That a span may have been received before its trial is said to have begun: clocks step."""


def with_found_runs(lake: Lake, results: Sequence[TrialResult]) -> list[TrialResult]:
    """Return results with the runs that the lake has of their trials, and kills with theirs.

    A trial of which it has several gets none, and a note: nobody could tell which of them it was.

    Args:
        lake: Where all spans of these trials have landed.
        results: Of trials and kills.

    Raises:
        EnvironmentFailed: The spans cannot be read.
    """
    unknown = [each for each in results if each.traces and each.trajectory_id is None]
    if not unknown:
        return [*results]
    first = min(each.started_at for each in unknown)
    since_ns = int(first.timestamp()) * 1_000_000_000 - EARLIER_NS
    traces = sorted({trace for each in unknown for trace in each.traces})
    runs: dict[str, list[LandedRun]] = defaultdict(list)
    for run in landed_runs(lake, traces, since_ns, time.time_ns()):
        runs[run.trace_id].append(run)
    found = {each.key: _with_run(each, runs) for each in unknown}
    named = [found.get(each.key, each) for each in results]
    baselines = {
        (each.task_id, each.trial): each.trajectory_id for each in named if not each.injection
    }
    return [_with_baseline(each, baselines) for each in named]


def _with_run(result: TrialResult, runs: dict[str, list[LandedRun]]) -> TrialResult:
    """Return a result with the only run of its traces that is of its task and trial."""
    trial = (result.task_id, result.trial)
    found = [
        run for trace in result.traces for run in runs[trace] if (run.task_id, run.trial) == trial
    ]
    if len(found) == 1:
        return result.model_copy(update={"trajectory_id": found[0].trajectory_id})
    fact = (
        f"no_run: its spans hold {count(len(found), 'run')} of the trial, so no verdict is on it"
    )
    return result.model_copy(update={"notes": [*result.notes, fact]})


def _with_baseline(
    result: TrialResult, baselines: dict[tuple[str, int], str | None]
) -> TrialResult:
    if not result.injection or result.baseline_trajectory_id is not None:
        return result
    baseline = baselines.get((result.task_id, result.trial))
    return result.model_copy(update={"baseline_trajectory_id": baseline})
