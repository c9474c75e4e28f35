"""Runs trials in order, several at a time, and records those that cannot run."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Final

from tracegrade.errors import TracegradeError
from tracegrade_harness.suite.model import Kill, Point
from tracegrade_harness.trial.baseline import Baseline, run_baseline
from tracegrade_harness.trial.budget import Budget
from tracegrade_harness.trial.killed import KillTrial
from tracegrade_harness.trial.points import Boundary, points
from tracegrade_harness.trial.result import Status, TrialResult
from tracegrade_harness.trial.run_file import RunFile
from tracegrade_harness.trial.spending import Spending
from tracegrade_harness.trial.suite_run import SuiteRun, Trial

TRIES: Final = 3
"""Most attempts at a trial that fails because of the harness."""

AGAIN: Final = frozenset({"invalid", "not_run"})
"""Statuses of trials that a resumed run tries again."""


def in_order(counts: Iterable[tuple[str, int]]) -> list[Trial]:
    """Return the trials in an order that covers all cases early.

    Args:
        counts: Cases in the order of the suite, each with its number of trials.
    """
    cases = list(counts)
    most = max((count for _, count in cases), default=0)
    return [
        Trial(task_id, number)
        for number in range(1, most + 1)
        for task_id, count in cases
        if number <= count
    ]


class Schedule:
    """Runs trials, several at a time, and stores their results."""

    def __init__(
        self,
        suite_run: SuiteRun,
        kills: Mapping[str, Kill],
        file: RunFile,
        budget: Budget,
        say: Callable[[TrialResult, int, int], None],
    ) -> None:
        """Prepare.

        Args:
            suite_run: The run.
            kills: Case → its trials that are killed, and their points; others are not killed.
            file: The file for results; results that it has are not repeated.
            budget: The most that all trials together may cost.
            say: Called with each result, the number of results so far, and their final number,
                from any thread.
        """
        self._suite_run = suite_run
        self._kills = kills
        self._file = file
        self._budget = budget
        self._say = say
        self._reported, self._to_report = 0, 0
        self._lock = threading.Lock()

    def run(self, order: Sequence[Trial], jobs: int) -> None:
        """Run all trials, `jobs` at a time."""
        self._to_report = sum(self._known(*each) is None for each in self._planned(order))
        with ThreadPoolExecutor(jobs, thread_name_prefix="trial") as pool:
            waiting = [pool.submit(self._run, trial) for trial in order]
            try:
                for future in waiting:
                    future.result()
            except (
                BaseException
            ):  # also Ctrl-C: running trials are ended, waiting ones are not begun
                self._suite_run.stop()
                pool.shutdown(cancel_futures=True)
                raise

    def _planned(self, order: Iterable[Trial]) -> Iterator[tuple[Trial, Point | None]]:
        for trial in order:
            yield from ((trial, kill_point) for kill_point in (None, *self._injections(trial)))

    def _injections(self, trial: Trial) -> Sequence[Point]:
        kill = self._kills.get(trial.task_id)
        return kill.points_of(trial.number) if kill else []

    def _run(self, trial: Trial) -> None:
        kill_points = self._injections(trial)
        result, baseline = self._baseline(trial, observe=bool(kill_points))
        for killed in self._killed(trial, kill_points, result, baseline):
            if self._known(trial, killed.kill_point) is None:
                self._keep(killed)

    def _known(self, trial: Trial, kill_point: Point | None) -> TrialResult | None:
        """Return a result that must not be tried again; None if there is none."""
        known = self._file.result(trial, kill_point)
        return None if known is None or known.status in AGAIN else known

    def _baseline(self, trial: Trial, *, observe: bool) -> tuple[TrialResult, Baseline | None]:
        known = self._known(trial, None)
        if known is not None:
            return known, self._file.baseline(trial)
        found: list[Baseline] = []

        def once(spending: Spending) -> TrialResult:
            result, baseline = run_baseline(self._suite_run, trial, spending, observe=observe)
            found.append(baseline)
            return result

        result = self._trial(trial, None, once)
        baseline = found[-1] if found and result.status not in AGAIN else None
        self._keep(result, baseline if observe else None)
        return result, baseline

    def _killed(
        self,
        trial: Trial,
        kill_points: Sequence[Point],
        result: TrialResult,
        baseline: Baseline | None,
    ) -> Iterator[TrialResult]:
        """Yield the result of each kill; mid and late at one moment share a result."""
        if baseline is None or result.status != "done" or baseline.trajectory_id is None:
            none = self._not_run(trial, None, *_why_no_kill(result, baseline))
            of = {"baseline_trajectory_id": result.trajectory_id}
            yield from (none.model_copy(update={**of, "kill_point": each}) for each in kill_points)
            return
        found = points(baseline.boundaries, baseline.planned_steps)
        done: dict[int, TrialResult] = {}
        for kill_point in sorted(kill_points, key=["early", "late", "mid"].index):
            target = found[kill_point]
            if not isinstance(target, Boundary):
                absent = self._not_run(trial, kill_point, "not_applicable", target)
                yield absent.model_copy(update={"baseline_trajectory_id": baseline.trajectory_id})
                continue
            if kill_point == "mid" and target.number in done:
                late = done[target.number]
                notes = [
                    *late.notes,
                    f"one_kill: mid and late are both after call {target.number}",
                ]
                of_late = {"tokens": None, "usd": None}  # those are in the result of late
                yield late.model_copy(update={**of_late, "kill_point": "mid", "notes": notes})
                continue
            kill = partial(self._kill, trial, kill_point, target, baseline)
            known = self._known(trial, kill_point)
            killed = known or self._trial(trial, kill_point, kill)
            done[target.number] = killed
            yield killed

    def _kill(
        self,
        trial: Trial,
        kill_point: Point,
        target: Boundary,
        baseline: Baseline,
        spending: Spending,
    ) -> TrialResult:
        return KillTrial(self._suite_run, trial, kill_point, target, baseline, spending).run()

    def _trial(
        self, trial: Trial, kill_point: Point | None, once: Callable[[Spending], TrialResult]
    ) -> TrialResult:
        """Return the result of a trial; `invalid` if the harness failed every time.

        An error in one trial, of any kind, does not stop the others.
        """
        error: Exception | None = None
        limits = trial.case(self._suite_run).limits
        if kill_point is not None:  # it repeats a run that stayed within its tokens
            limits = limits.model_copy(update={"tokens": None})
        for _ in range(TRIES):
            with self._budget.reserve(limits.usd) as reserved:
                if reserved is None:
                    reason = self._budget.why_not(limits.usd)
                    return self._not_run(trial, kill_point, "not_run", reason)
                try:
                    return once(Spending(self._suite_run.prices, limits, reserved.spend))
                except (TracegradeError, OSError) as failed:
                    error = failed
            if self._suite_run.sandbox.is_stopped:
                break
        return self._not_run(trial, kill_point, "invalid", str(error))

    def _not_run(
        self, trial: Trial, kill_point: Point | None, status: Status, reason: str
    ) -> TrialResult:
        return TrialResult.model_validate(
            {
                "task_id": trial.task_id,
                "agent_name": trial.case(self._suite_run).agent,
                "release": trial.release(self._suite_run),
                "trial": trial.number,
                "kill_point": kill_point,
                "status": status,
                "reason": reason,
                "started_at": datetime.now(UTC),
            }
        )

    def _keep(self, result: TrialResult, baseline: Baseline | None = None) -> None:
        if self._suite_run.sandbox.is_stopped:
            raise CancelledError  # the harness ended its agent, so it is repeated
        self._file.add(result, baseline)
        with self._lock:  # so that the numbers are in order
            self._reported += 1
            self._say(result, self._reported, self._to_report)


def _why_no_kill(result: TrialResult, baseline: Baseline | None) -> tuple[Status, str]:
    """Return status and reason of kills that have no undisturbed trial to repeat.

    If a limit ended the undisturbed trial, the trial has failed and there is nothing to kill. If
    the harness could not run it, it is tried again with its kills.
    """
    if result.status != "done" or baseline is None:
        statuses: dict[Status, Status] = {
            "budget": "not_applicable",
            "invalid": "invalid",
            "not_run": "not_run",
        }
        reason = f"no_baseline: the undisturbed trial is '{result.status}'"
        why = f"{reason} ({result.reason})" if result.reason else reason
        return statuses.get(result.status, "error"), why
    silent = "silent: no agent span reached the gate; start the agent with `tracegrade run --` "
    silent += "(in an image, install tracegrade there), or, if it is not Python, put its tools "
    return "error", f"{silent}behind the channel mcp or http"
