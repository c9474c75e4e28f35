"""How often a comparison of two sides that are alike says that something is worse, or better.

Both sides of each simulated pair are drawn from one distribution: tasks with their own chances of
success, of what each metric counts, of each failure mode, and of skipping each critical sub-goal.
`python -m tests.benchmarks.measure_false_alarms [PAIRS]` prints the table of docs/metrics.md,
section 10.3, and below it how often a real loss is named.
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tests.benchmarks.command_line import while_read

from tracegrade_scoring.compare.beyond_chance import decided
from tracegrade_scoring.compare.model import (
    Cohort,
    Compared,
    Comparison,
    FailureMode,
    SkippedSubGoal,
    TaskChange,
)
from tracegrade_scoring.compare.paired import TaskPair, difference

MODES = 5
METRICS = 12
"""That are no failure mode."""
Counts = npt.NDArray[np.int64]


class Setting(NamedTuple):
    """One kind of pair."""

    tasks: int
    trials: int
    goals: int
    """Critical sub-goals of all tasks together."""
    loss: float = 0.0
    """By how much the candidate's chance of success is lower."""


SETTINGS = (
    Setting(5, 4, 1),
    Setting(5, 4, 40),
    Setting(10, 2, 20),
    Setting(20, 1, 40),
    Setting(20, 3, 10),
    Setting(50, 4, 40),
    Setting(140, 5, 40),
)
LOSSES = (Setting(6, 5, 6, 0.4), Setting(20, 3, 10, 0.2), Setting(50, 4, 40, 0.1))


def main() -> None:
    """Simulate and print both tables."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    generator = np.random.Generator(np.random.PCG64(7))
    for settings in (SETTINGS, LOSSES):
        print(
            "| tasks | trials | sub-goals | loss | pairs | worse or broke | success worse "
            "| better | success better |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for setting in settings:
            number = max(20, pairs // len(settings))
            found = [decided(simulated(setting, generator)) for _ in range(number)]
            worse = sum(any(says_worse(one)) for one in found)
            better = sum(any(says_better(one)) for one in found)
            success = [one.metrics["success"].direction for one in found]
            counts = (worse, success.count(-1), better, success.count(1))
            cells = (*setting, number, *(share(count, number) for count in counts))
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
        print()


def share(part: int, whole: int) -> str:
    """Return a share as per cent."""
    return f"{part / whole:.1%}"


def says_worse(comparison: Comparison) -> Iterator[bool]:
    """Yield whether each thing that can be worse is said to be."""
    for name, compared in comparison.metrics.items():
        yield compared.direction > 0 if name.startswith("mode") else compared.direction < 0
    yield from (task.fell_surely for task in comparison.tasks)
    yield from (goal.is_sure for goal in comparison.skipped_sub_goals)


def says_better(comparison: Comparison) -> Iterator[bool]:
    """Yield whether each metric is said to be better."""
    for name, compared in comparison.metrics.items():
        yield compared.direction < 0 if name.startswith("mode") else compared.direction > 0


def simulated(setting: Setting, generator: np.random.Generator) -> Comparison:
    """Return one comparison, undecided."""
    tasks, trials = setting.tasks, setting.trials
    chance = generator.beta(2, 1, tasks)
    successes: tuple[Counts, ...] = (
        generator.binomial(trials, chance),
        generator.binomial(trials, np.clip(chance - setting.loss, 0, 1)),
    )
    found: dict[str, tuple[Counts, ...]] = {"success": successes}
    for metric in range(METRICS):
        of_task = generator.beta(4, 2, tasks)
        found[f"metric{metric}"] = tuple(generator.binomial(trials, of_task) for _ in range(2))
    for mode in range(MODES):
        rate = generator.choice([0.0, 0.02, 0.2])
        found[f"mode{mode}"] = tuple(generator.binomial(trials, rate, tasks) for _ in range(2))
    metrics = {name: compared(name, sides, trials) for name, sides in found.items()}
    return Comparison(
        Cohort("agent", None, tasks * trials, tasks * trials, 0, 0, 0, 0, tasks, 0, 0),
        metrics,
        failure_modes=tuple(
            FailureMode(
                name, metrics[name], is_new=False, rose=True, trajectory_id=None, span_id=None
            )
            for name in metrics
            if name.startswith("mode")
        ),
        tasks=tuple(
            TaskChange(
                f"t{at}", old / trials, new / trials, trials, trials, None, None, None, None
            )
            for at, (old, new) in enumerate(zip(*successes, strict=True))
        ),
        skipped_sub_goals=tuple(skipped(setting, generator)),
    )


def compared(name: str, sides: tuple[Counts, ...], trials: int) -> Compared:
    """Return a metric that is a share of attempts."""
    pairs = [
        TaskPair((float(old), float(trials)), (float(new), float(trials)))
        for old, new in zip(*sides, strict=True)
    ]
    return Compared(name, difference(pairs), 0, 0, 0, 0)


def skipped(setting: Setting, generator: np.random.Generator) -> Iterator[SkippedSubGoal]:
    """Yield the sub-goals that are skipped more often than before."""
    for goal in range(setting.goals):
        rate = generator.beta(1, 4)
        old, new = generator.binomial(setting.trials, rate, 2)
        if new > old:
            yield SkippedSubGoal(None, f"g{goal}", old, setting.trials, new, setting.trials, ())


if __name__ == "__main__":
    with while_read():
        main()
