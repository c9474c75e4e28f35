"""Measures how often `tracegrade watch` alarms without a change, and how soon after one.

Simulates releases of one success metric, each day's probability moved by a normal day effect on
the scale of log odds, and looks at them after every day with the functions of the product. Prints
the shares of repetitions with an alarm, and the day of the middle one.

    python -m tests.benchmarks.watch.measure_watch_alarms --repetitions 2000
"""

import argparse
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from tracegrade_watch.statistics.cells import Cells, Floats
from tracegrade_watch.statistics.drift import DAYS_PER_YEAR, detect_drift
from tracegrade_watch.statistics.mixture import compare_sides

ALPHA: Final = 0.05
SMALLEST: Final = 0.05
LOOKS: Final = 60
"""Days of the candidate, with a look after each."""
BASE_DAYS: Final = 14
PER_DAY: Final = 40
MIN_DAYS: Final = 5
DAY_EFFECTS: Final = (0.0, 0.2, 0.4, 0.8)
TASK_EFFECT: Final = 0.8
"""Standard deviation of the tasks' log odds."""


class Change(NamedTuple):
    """A simulated agent."""

    before: float
    """Probability of success of the base."""
    after: float
    """Of the candidate."""
    tasks: int
    day_effect: float
    """Standard deviation of log odds among days."""
    changed_on: int = 0
    """Day on which `after` begins."""


class Detected(NamedTuple):
    """Results of repetitions."""

    alarms: float
    """Share with an alarm."""
    middle_day: int | None


def _odds(probability: Floats) -> Floats:
    found: Floats = np.log(probability / (1 - probability))
    return found


def _task_probabilities(mean: float, effects: Floats) -> Floats:
    """Return the probabilities of tasks with these effects and this mean."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        found = 1 / (1 + np.exp(-(middle + effects)))
        low, high = (middle, high) if found.mean() < mean else (low, middle)
    return np.asarray(found)


class Days:
    """Simulated days: runs and successes with axes for repetitions, days and tasks."""

    def __init__(self, change: Change, days: int, repetitions: int, seed: int) -> None:
        """Simulate the base's days and then those of the candidate."""
        random = np.random.default_rng(seed)
        effects = random.normal(0, TASK_EFFECT, change.tasks) if change.tasks > 1 else np.zeros(1)
        before, after = (
            _task_probabilities(mean, effects) for mean in (change.before, change.after)
        )
        day = np.arange(BASE_DAYS + days)[:, np.newaxis]
        changed = day >= BASE_DAYS + change.changed_on
        odds = np.where(changed, _odds(after), _odds(before))
        moved = random.normal(0, 1, (repetitions, len(day), 1)) * change.day_effect
        chances = np.full(change.tasks, 1 / change.tasks)
        self.runs = random.multinomial(PER_DAY, chances, (repetitions, len(day)))
        self.successes = random.binomial(self.runs, 1 / (1 + np.exp(-(odds + moved))))

    def cells(self, first: int, last: int, base_days: int) -> Cells:
        """Return the cells of some days; the first of them are on the side of the base."""
        _, _, tasks = self.runs.shape
        day, task = (each.ravel() for each in np.indices((last - first, tasks)))
        runs, successes = (
            each[:, first:last].reshape(len(each), -1).astype(np.float64)
            for each in (self.runs, self.successes)
        )
        side = (day >= base_days).astype(np.int64)
        return Cells(task, day, side, runs, runs, runs, successes, successes)


def regressions(change: Change, repetitions: int, seed: int) -> Detected:
    """Return how a regression rule behaves."""
    days = Days(change, LOOKS, repetitions, seed)
    first_alarm = np.zeros(repetitions, dtype=int)
    for look in range(MIN_DAYS, LOOKS + 1):
        cells = days.cells(0, BASE_DAYS + look, BASE_DAYS)
        found = compare_sides(cells, smallest=SMALLEST, better=1, is_share=True)
        alarm = (found.log_ratio >= -np.log(ALPHA)) & (found.enough > 0)
        first_alarm[alarm & (first_alarm == 0)] = look
    return _detected(first_alarm)


def drifts(change: Change, repetitions: int, seed: int) -> Detected:
    """Return how a drift rule behaves, whose reference are the first days."""
    days = Days(change, LOOKS, repetitions, seed)
    reference = days.cells(0, BASE_DAYS, BASE_DAYS)
    first_alarm = np.zeros(repetitions, dtype=int)
    for look in range(1, LOOKS + 1):
        later = days.cells(BASE_DAYS, BASE_DAYS + look, LOOKS)
        alarm = detect_drift(reference, later, better=1).log_ratio >= np.log(DAYS_PER_YEAR)
        first_alarm[alarm & (first_alarm == 0)] = look
    return _detected(first_alarm)


def _detected(first_alarm: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Detected:
    days = first_alarm[first_alarm > 0]
    return Detected(float((first_alarm > 0).mean()), int(np.median(days)) if len(days) else None)


def changes() -> Iterator[tuple[str, float, float, int]]:
    """Yield the rows of the table: label, probabilities, day of the change."""
    yield "no change, .90", 0.9, 0.9, 0
    yield "no change, .50", 0.5, 0.5, 0
    yield "no change, .99", 0.99, 0.99, 0
    yield ".90 to .80", 0.9, 0.8, 0
    yield ".90 to .85", 0.9, 0.85, 0
    yield ".90 to .80 on day 21", 0.9, 0.8, 20


def main() -> None:
    """Print the table as Markdown."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repetitions", type=int, default=500)
    repetitions = options.parse_args().repetitions
    print("| rule | tasks | change |", " | ".join(f"sd {each}" for each in DAY_EFFECTS), "|")
    print("|---|---|---|" + "---|" * len(DAY_EFFECTS))
    for rule, measure in (("regressed", regressions), ("drifted", drifts)):
        for tasks in (1, 20):
            for number, (label, before, after, day) in enumerate(changes()):
                found = [
                    measure(Change(before, after, tasks, effect, day), repetitions, number)
                    for effect in DAY_EFFECTS
                ]
                cells = (
                    f"{each.alarms:.3f}" + (f" ({each.middle_day})" if each.middle_day else "")
                    for each in found
                )
                print(f"| {rule} | {tasks} | {label} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
