"""States of an issue, from counts of runs by release and from marks of people; pure.

Source: docs/metrics.md, section 10.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Final, NamedTuple

from tracegrade_scoring.statistics.intervals import wilson

NEW: Final = "new"
OPEN: Final = "open"
FIXED: Final = "fixed"
REOPENED: Final = "reopened"
MUTED: Final = "muted"
STATES: Final = (REOPENED, NEW, OPEN, FIXED, MUTED)
"""In the order in which a reader should look at them."""
MARKABLE: Final = (FIXED, MUTED, OPEN)
"""States that a person can set."""

BY_RUNS: Final = "runs"
BY_MARK: Final = "mark"

CHANCE: Final = 0.05
"""An issue is fixed if so many runs without it have at most this probability."""
TWO_SIDED: Final = 0.90
"""Level of the two-sided interval whose lower end is one-sided at 95 %."""


class ReleaseCount(NamedTuple):
    """Runs of one release, of the tasks that showed an issue in any release."""

    position: int
    """Place of the release among those of the agent and run mode, from 1."""
    release: str | None
    hits: int
    """Runs that showed the issue."""
    runs: int


class StateMark(NamedTuple):
    """The state that a person set last."""

    state: str
    """One of `MARKABLE`."""
    position: int
    """Fixed: the first release with the fix. Open: the newest release at that time."""
    release: str | None = None
    """Fixed: the release that the person named."""


class IssueState(NamedTuple):
    """The state of an issue after the newest release."""

    name: str
    """One of `STATES`."""
    source: str | None = None
    """Evidence of the fix: `runs` or `mark`; `mark` if muted; None if new or open."""
    release: str | None = None
    """Fixed: the release with the fix. Reopened: the release that showed it again."""
    needed_runs: int = 0
    """Further runs without it after which it counts as fixed; 0 if it is fixed or muted."""


class Fix(NamedTuple):
    """A fix of an issue."""

    source: str
    release: str | None


@dataclass
class _Life:
    """An issue up to some release."""

    hits: int = 0
    runs: int = 0
    """Runs of the releases in which it lived."""
    clean: int = 0
    """Runs since it was last seen."""
    first: int = 0
    """Place of the first release that showed it."""
    fix: Fix | None = None
    """None while it lives."""
    reopened: int = 0
    """Place of the release that showed it again after a fix; 0 without one."""
    reopened_in: str | None = None
    broken_fix: Fix | None = None

    def add(self, count: ReleaseCount) -> None:
        """Add the runs of the next release."""
        if count.hits:
            self._show(count)
        elif self.first:
            self.clean += count.runs
            if self.fix is None and not needed_runs(self.hits, self.runs, self.clean):
                self.fix = Fix(BY_RUNS, count.release)

    def _show(self, count: ReleaseCount) -> None:
        self.first = self.first or count.position
        if self.fix is None:
            self.runs += self.clean  # it lived, though no run showed it
        else:
            self.reopened, self.reopened_in = count.position, count.release
            self.broken_fix, self.fix = self.fix, None
        self.hits += count.hits
        self.runs += count.runs
        self.clean = 0


def needed_runs(hits: int, runs: int, clean: int) -> int:
    """Return how many further runs without an issue show that it is fixed; 0 if it is.

    At the lowest plausible rate of the issue while it lived, so many runs without it have a
    probability of at most `CHANCE`.

    Args:
        hits: Runs that showed it while it lived; at least 1.
        runs: All runs of that time, at least as many.
        clean: Runs since then, all without it.
    """
    low = wilson(hits, runs, TWO_SIDED).low
    return max(0, ceil(log(CHANCE) / log(1 - low)) - clean)


def issue_state(
    counts: Sequence[ReleaseCount], newest: int, mark: StateMark | None = None
) -> IssueState:
    """Return the state of an issue.

    Args:
        counts: The releases that ran its tasks, in their order; at least one showed it.
        newest: Place of the newest release of the agent and run mode.
        mark: The state that a person set last; None without one.
    """
    if mark and mark.state == MUTED:
        return IssueState(MUTED, BY_MARK)
    fix_from = mark.position if mark and mark.state == FIXED else None
    life = _Life()
    for count in counts:
        if mark and fix_from is not None and count.position >= fix_from:
            life.fix, fix_from = Fix(BY_MARK, mark.release), None
        life.add(count)
    if mark and fix_from is not None:
        life.fix = Fix(BY_MARK, mark.release)
    known_until = mark.position if mark and mark.state == OPEN else 0
    return _state(life, newest, known_until)


def _state(life: _Life, newest: int, known_until: int) -> IssueState:
    """Return the state after a life; news up to a release are known to people."""
    if life.fix:
        return IssueState(FIXED, *life.fix)
    needed = needed_runs(life.hits, life.runs, life.clean)
    if life.broken_fix and life.reopened > known_until:
        return IssueState(REOPENED, life.broken_fix.source, life.reopened_in, needed)
    is_new = life.first == newest > 1 and life.first > known_until
    return IssueState(NEW if is_new else OPEN, needed_runs=needed)
