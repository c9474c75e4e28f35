"""How often an issue that lives is called fixed, and how many clean runs a gone one takes.

Each simulated issue shows up in each run with one probability, in ten releases.
`python -m tests.scoring.issues.simulated_states [ISSUES]` prints the tables of docs/metrics.md,
section 10.5.
"""

import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from tests.benchmarks.command_line import while_read

from tracegrade_scoring.issues.states import (
    FIXED,
    REOPENED,
    IssueState,
    ReleaseCount,
    issue_state,
    needed_runs,
)

RELEASES: Final = 10
RATES: Final = (0.01, 0.05, 0.2, 0.5)
RUNS: Final = (10, 40, 200)
"""Runs of a release."""
TASKS: Final = ((10, 1), (40, 1), (40, 4), (200, 1))
"""Tasks, and runs of each in a release."""


class FalseFixes(NamedTuple):
    """Shares of the living issues that were seen."""

    rule: float
    """Called fixed by `issue_state` at least once."""
    absent_once: float
    """Absent from at least one release after they were seen."""


def main() -> None:
    """Simulate and print the tables."""
    issues = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    sys.stdout.writelines(f"{line}\n" for line in table_lines(issues))


def table_lines(issues: int) -> Iterator[str]:
    """Yield the lines of the tables, each of so many simulated issues."""
    yield "rate of a living issue | runs of a release | called fixed | absent from a release"
    for rate in RATES:
        for runs in RUNS:
            found = false_fixes(rate, runs, issues)
            yield f"{rate:.2f} | {runs} | {found.rule:.3f} | {found.absent_once:.3f}"
    yield "rate | tasks | runs of each task in a release | called fixed"
    for rate in RATES[:3]:
        for tasks, runs in TASKS:
            found_fixed = false_fixes_of_tasks(rate, tasks, runs, issues // 10)
            yield f"{rate:.2f} | {tasks} | {runs} | {found_fixed:.3f}"
    yield "rate while it lived | runs while it lived | clean runs until it is called fixed"
    for rate in RATES[1:]:
        for runs in RUNS[1:]:
            yield f"{rate:.2f} | {runs} | {clean_runs(rate, runs, issues)}"


def false_fixes(rate: float, runs: int, issues: int) -> FalseFixes:
    """Return how often issues of this rate are called fixed, though no release fixes them."""
    generator = np.random.Generator(np.random.PCG64(1))
    drawn = generator.binomial(runs, rate, (issues, RELEASES))
    seen = drawn[drawn.sum(axis=1) > 0]
    states = [final_state([*map(int, hits)], runs) for hits in seen]
    absent = (seen == 0) & (np.maximum.accumulate(seen, axis=1) > 0)
    called = sum(state.name in {FIXED, REOPENED} for state in states)
    return FalseFixes(called / len(states), float(absent.any(axis=1).mean()))


def false_fixes_of_tasks(rate: float, tasks: int, runs: int, issues: int) -> float:
    """Return how often a living issue that any task may show is called fixed in some release.

    Only runs of tasks that showed it by then count, so the tasks are chosen by what was seen.
    """
    generator = np.random.Generator(np.random.PCG64(3))
    drawn = generator.binomial(runs, rate, (issues, RELEASES, tasks))
    seen = [hits for hits in drawn if hits.any()]
    return sum(_is_called_fixed(hits, runs) for hits in seen) / len(seen)


def _is_called_fixed(hits: npt.NDArray[np.int64], runs: int) -> bool:
    for last in range(1, RELEASES + 1):
        shown = hits[:last].any(axis=0)
        by_release = hits[:last, shown].sum(axis=1)
        if shown.any() and (
            final_state([*map(int, by_release)], int(shown.sum()) * runs).name == FIXED
        ):
            return True
    return False


def final_state(hits: list[int], runs: int) -> IssueState:
    """Return the state of an issue after releases of equal size; a false fix leaves a trace."""
    counts = [ReleaseCount(place, str(place), each, runs) for place, each in enumerate(hits, 1)]
    return issue_state(counts, len(hits))


def clean_runs(rate: float, runs: int, issues: int) -> int:
    """Return the median of the runs without an issue after which it is called fixed."""
    generator = np.random.Generator(np.random.PCG64(2))
    drawn = generator.binomial(runs, rate, issues)
    return int(np.median([needed_runs(int(hits), runs, 0) for hits in drawn[drawn > 0]]))


if __name__ == "__main__":
    with while_read():
        main()
