"""`graded`: runs of a whole session of tests, scored together at its end.

One bucket costs about as much for hundreds of runs as for one, so a test that uses the fixture
takes the time of its agent, and the session a second more.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from tracegrade.errors import TracegradeError
from tracegrade_scoring.tasks import Specification
from tracegrade_testing.capturing import capture
from tracegrade_testing.checks import ExpectedRun, fault_of
from tracegrade_testing.recording import Captured
from tracegrade_testing.requests import CaptureRequests, DeclaredRun, requests_of
from tracegrade_testing.results import RunResult
from tracegrade_testing.scoring import (
    ScoredCaptures,
    check_task,
    nothing_in,
    score_captures,
    specification_of,
)

_NONE: Final[Mapping[str, float]] = MappingProxyType({})


class GradedFault(NamedTuple):
    """A test whose run is not as expected; plain values, which travel between processes."""

    test: str
    """Its node id."""
    location: tuple[str, int | None, str]
    """File, line from 0 and name of the test."""
    text: str
    trajectory_ids: tuple[str, ...]
    """The runs that differ."""


class GradedRun(NamedTuple):
    """A captured block, to be scored at the end."""

    test: str
    location: tuple[str, int | None, str]
    requests: CaptureRequests
    expected: ExpectedRun
    specification: Specification
    late: int
    nothing: str
    """Why there is no run, if there is none."""


class Grading:
    """The captured blocks of a session."""

    def __init__(self, tasks: str | Path | None, metrics: str | Path | None = None) -> None:
        self._tasks = tasks
        self._metrics = metrics
        self._runs: list[GradedRun] = []

    def of_test(self, test: str, location: tuple[str, int | None, str]) -> "TestGrading":
        """Return what a test gets as the fixture `graded`."""
        return TestGrading(self, test, location)

    def specification(
        self, tasks: str | Path | Specification | None, metrics: str | Path | None
    ) -> Specification:
        """Return the tasks and metrics that a test gives, else those of the project."""
        return specification_of(
            self._tasks if tasks is None else tasks, self._metrics if metrics is None else metrics
        )

    def add(self, run: GradedRun) -> None:
        """Score a block at the end."""
        self._runs.append(run)

    def faults(self) -> Iterator[GradedFault]:
        """Score all blocks, and yield each test whose run differs; a second call yields none."""
        runs, self._runs = self._runs, []
        by_tasks: defaultdict[str, list[GradedRun]] = defaultdict(list)
        for run in runs:
            by_tasks[run.specification.hash].append(run)
        for alike in by_tasks.values():
            yield from _faults(alike)


class TestGrading:
    """The fixture `graded` of one test: call it for a block in which an agent runs."""

    __test__ = False  # pytest would take it for a class of tests

    def __init__(self, grading: Grading, test: str, location: tuple[str, int | None, str]) -> None:
        self._grading = grading
        self._test = test
        self._location = location

    @contextmanager
    def __call__(
        self,
        *,
        task: str | None = None,
        at_least: Mapping[str, float] = _NONE,
        at_most: Mapping[str, float] = _NONE,
        calls: Sequence[str] | None = None,
        tasks: str | Path | Specification | None = None,
        metrics: str | Path | None = None,
    ) -> Iterator[Captured]:
        """Capture the run of the block, and check it at the end of the session.

        Args:
            task: As for `score`.
            at_least: By metric, its lowest value.
            at_most: By metric, its highest value.
            calls: The tools that the run must call, in order.
            tasks: As for `score`; None: those of the option `tracegrade_tasks`.
            metrics: As for `score`; None: those of the option `tracegrade_metrics`.
        """
        specification = self._grading.specification(tasks, metrics)
        check_task(task, specification)
        with capture() as captured:
            yield captured
        self._grading.add(
            GradedRun(
                self._test,
                self._location,
                requests_of(captured, DeclaredRun(task)),
                ExpectedRun(at_least, at_most, calls),
                specification,
                captured.late,
                nothing_in(captured),
            )
        )


def _faults(runs: Sequence[GradedRun]) -> Iterator[GradedFault]:
    """Yield the faults of runs with the same tasks; all of them if they cannot be scored."""
    try:
        scored = score_captures([run.requests for run in runs], runs[0].specification)
    except TracegradeError as error:
        for run in runs:
            yield GradedFault(run.test, run.location, str(error), ())
        return
    for run in runs:
        yield from _fault(run, scored)


def _fault(run: GradedRun, scored: ScoredCaptures) -> Iterator[GradedFault]:
    found = [RunResult(scored.scored, facts, run.late) for facts in scored.of(run.requests)]
    faults = {each.trajectory_id: fault_of(each, run.expected) for each in found}
    wrong = {name: text for name, text in faults.items() if text}
    if wrong or not found:
        text = "\n\n".join(wrong.values()) if wrong else run.nothing
        yield GradedFault(run.test, run.location, text, tuple(wrong))
