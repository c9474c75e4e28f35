"""`score` and `trials`: captured runs, scored in memory."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from tracegrade.suggestions import did_you_mean
from tracegrade_scoring.job.in_memory import score_when_asked
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.own_metrics.in_force import metrics_of_folder
from tracegrade_scoring.rendering import words
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.specification import usable_specification
from tracegrade_scoring.tasks.stored import NO_TASKS
from tracegrade_testing.capturing import capture
from tracegrade_testing.errors import NothingCaptured, UnknownTask
from tracegrade_testing.recent import notes
from tracegrade_testing.recording import Captured
from tracegrade_testing.requests import CaptureRequests, DeclaredRun, raw_rows, requests_of
from tracegrade_testing.results import ResultSet, RunResult
from tracegrade_testing.scored_runs import RunFacts, ScoredRuns

__all__ = ["score", "trials"]

_INSTRUMENT: Final = (
    "call tracegrade.init or an OpenTelemetry instrumentor of the agent's framework before the "
    "block, or write the run with tracegrade.agent_run"
)

Stamps: TypeAlias = tuple[tuple[str, int], ...]
"""Paths of files, with the times of their last changes."""


class ScoredCaptures(NamedTuple):
    """Captures that were scored together."""

    scored: ScoredRuns

    def of(self, requests: CaptureRequests) -> list[RunFacts]:
        """Return the runs of one capture."""
        return [run for run in self.scored.runs if run.trace_id in requests.trace_ids]

    def results(self, requests: CaptureRequests, captured: Captured) -> list[RunResult]:
        """Return the results of one capture.

        Raises:
            NothingCaptured: It has none.
        """
        found = self.of(requests)
        if not found:
            raise NothingCaptured(nothing_in(captured))
        return [RunResult(self.scored, facts, captured.late) for facts in found]


def score(
    captured: Captured,
    *,
    task: str | None = None,
    trial: int | None = None,
    tasks: str | Path | Specification | None = None,
    metrics: str | Path | None = None,
) -> RunResult | ResultSet:
    """Return the score of the run in a capture, or of the runs if there are several.

    Args:
        captured: From `capture`, after its block.
        task: Its task, if no span names one.
        trial: The number of the attempt, if no span names one.
        tasks: A task file, a folder of them, or a specification. None: only metrics that need no
            task.
        metrics: A folder of metrics of your own in SQL, or one file; None: only ours.

    Raises:
        NothingCaptured: No run of an agent ended in the block.
        TaskFileInvalid: The task files hold errors.
        MetricInvalid: A file of a metric cannot be used.
        UnknownTask: The task files do not have this task.
    """
    specification = specification_of(tasks, metrics)
    check_task(task, specification)
    requests = requests_of(captured, DeclaredRun(task, trial))
    runs = score_captures([requests], specification).results(requests, captured)
    result = runs[0] if len(runs) == 1 else ResultSet(runs)
    notes.add_result(result)
    return result


def trials(
    count: int,
    run: Callable[[], object],
    *,
    task: str | None = None,
    tasks: str | Path | Specification | None = None,
    metrics: str | Path | None = None,
) -> ResultSet:
    """Run an agent several times, and return the scores of its runs.

    Args:
        count: How often; at least 1.
        run: Runs the agent once.
        task: As for `score`.
        tasks: As for `score`.
        metrics: As for `score`.

    Raises:
        NothingCaptured: No run of an agent ended in one of the trials.
    """
    specification = specification_of(tasks, metrics)
    check_task(task, specification)
    made = []
    for trial in range(1, count + 1):
        with capture() as captured:
            run()
        made.append((requests_of(captured, DeclaredRun(task, trial)), captured))
    scored = score_captures([requests for requests, _ in made], specification)
    results = ResultSet([result for each in made for result in scored.results(*each)])
    notes.add_result(results)
    return results


def score_captures(
    captures: Sequence[CaptureRequests], specification: Specification
) -> ScoredCaptures:
    """Return the scores of captures, all in one bucket: it costs as much for one as for many."""
    for requests in captures:
        notes.add_capture(requests, specification)
    return ScoredCaptures(ScoredRuns(score_when_asked(*raw_rows(captures), specification)))


def specification_of(
    tasks: str | Path | Specification | None, metrics: str | Path | None = None
) -> Specification:
    """Return the tasks and tools of task files, with metrics of users' own.

    Raises:
        TaskFileInvalid: The task files hold errors.
        TaskFileUnreadable: They cannot be read.
        MetricInvalid: A file of a metric cannot be used.
    """
    if metrics is None:
        return _tasks_of(tasks)
    own = _metrics_at(Path(metrics), _stamps(Path(metrics)))
    return _tasks_of(tasks).model_copy(update={"metrics": own})


def _tasks_of(tasks: str | Path | Specification | None) -> Specification:
    if tasks is None:
        return NO_TASKS
    if isinstance(tasks, Specification):
        return tasks
    return _loaded(Path(tasks), _stamps(Path(tasks)))


def _stamps(path: Path) -> Stamps:
    """Return the files at a path, with the times of their last changes."""
    files = (path, *sorted(path.rglob("*"))) if path.is_dir() else (path,)
    return tuple((str(file), file.stat().st_mtime_ns) for file in files if file.exists())


@lru_cache(maxsize=32)
def _metrics_at(path: Path, _: Stamps) -> tuple[OwnMetric, ...]:
    """Return the metrics of files that have changed at these times."""
    return metrics_of_folder(path)


@lru_cache(maxsize=32)
def _loaded(path: Path, _: Stamps) -> Specification:
    """Return the tasks of files that have changed at these times."""
    return usable_specification(path)[0]


def check_task(task: str | None, specification: Specification) -> None:
    """Do nothing if the task is one of the specification, or if there is neither.

    Raises:
        UnknownTask: It is not.
    """
    if task is None or task in specification.tasks or not specification.tasks:
        return
    known = [*specification.tasks]
    hint = did_you_mean(task, known) or f"they have {', '.join(known[:10])}"
    msg = f"the task files have no task '{task}'; {hint}"
    raise UnknownTask(msg)


def nothing_in(captured: Captured) -> str:
    """Return why a capture has no run, and what to do."""
    if captured.spans:
        names = sorted({span.name for span in captured.spans})[:5]
        fact = f"no run of an agent in {len(captured.spans)} spans ({', '.join(names)})"
    else:
        fact = "no spans: nothing that is instrumented ended in the block"
    if captured.late:
        late = words.count(captured.late, "span")
        return f"{fact}; {late} had not ended, so end the run inside the block"
    return f"{fact}; {_INSTRUMENT}"
