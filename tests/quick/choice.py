"""Chooses tests for a change: those that always run, then the nearest and cheapest others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from tests.costs import suite_files
from tests.quick.near import near, package_of

GUARDS: Final = Path(__file__).parents[1] / "check.txt"
"""Tests that always run, though their files cost more than others: files, or single tests."""

CHEAP_SECS: Final = 0.5
"""Files that cost no more always run."""

BUDGET_SECS: Final = 45.0
"""What tests near a change may cost, in processor time."""

UNKNOWN_SECS: Final = 3.0
"""What a file is taken to cost that was never measured."""


@dataclass(frozen=True)
class Choice:
    """Which test files run for a change, and which do not."""

    costs: Mapping[str, float]
    base: Sequence[str]
    """Files that run for every change, the dearest first."""
    single: Sequence[str]
    """Single tests that run for every change, of files that do not run as a whole."""
    near: Sequence[str]
    """Files that run for this change, the nearest first."""
    left_out: Sequence[str]
    """Files near the change for which the budget had no room."""
    only_base: Sequence[str]
    """Packages with a changed file that no test file is near to."""

    def cost(self, file: str) -> float:
        """Return seconds of processor time."""
        return self.costs.get(file, UNKNOWN_SECS)

    def secs(self, files: Iterable[str]) -> float:
        """Return seconds of processor time of several files."""
        return sum(self.cost(file) for file in files)

    @property
    def targets(self) -> list[str]:
        """What pytest is to run: the dearest first, so that all processes end at one time."""
        files = sorted((*self.base, *self.near), key=lambda file: (-self.cost(file), file))
        return [*self.single, *files]


def choose(
    changed: Iterable[str], costs: Mapping[str, float], budget: float = BUDGET_SECS
) -> Choice:
    """Return which tests run.

    Args:
        changed: The files that changed.
        costs: Seconds of processor time by test file.
        budget: Seconds of processor time that the tests near the change may cost.
    """
    base = base_files(costs)
    found = {file: [*near(file)] for file in changed}
    distances: dict[str, int] = {}
    for distance, test in chain(*found.values()):
        distances[test] = min(distance, distances.get(test, distance))
    nearest = sorted(
        distances.keys() - {*base},
        key=lambda test: (distances[test], costs.get(test, UNKNOWN_SECS), test),
    )
    taken, left_out = _within(budget, nearest, costs)
    whole = {*base, *taken}
    single = [guard for guard in guards() if guard.partition("::")[0] not in whole]
    alone = {package for file in found if not found[file] and (package := package_of(file))}
    return Choice(costs, base, single, taken, left_out, sorted(alone))


def base_files(costs: Mapping[str, float]) -> list[str]:
    """Return the files that always run, the dearest first."""
    cheap = {file for file in suite_files() if costs.get(file, UNKNOWN_SECS) <= CHEAP_SECS}
    guarded = {guard for guard in guards() if "::" not in guard}
    return sorted(cheap | guarded, key=lambda file: (-costs.get(file, UNKNOWN_SECS), file))


def guards() -> list[str]:
    """Return the lines of `check.txt`."""
    return GUARDS.read_text("utf-8").split()


def _within(
    budget: float, files: Iterable[str], costs: Mapping[str, float]
) -> tuple[list[str], list[str]]:
    """Return those of the files, in their order, for which there is room, and the others."""
    taken, left_out = [], []
    for file in files:
        cost = costs.get(file, UNKNOWN_SECS)
        if cost <= budget:
            taken.append(file)
            budget -= cost
        else:
            left_out.append(file)
    return taken, left_out
