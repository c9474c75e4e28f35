"""Which attempts of two releases count for success, pass@k and pass^k.

Source: docs/metrics.md, section 8.5.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from tracegrade_scoring.rendering.rows import Row
from tracegrade_scoring.statistics.reliability import Missing

SIDES: Final = ("base", "candidate")


class AttemptCounting(NamedTuple):
    """How attempts that are missing are counted."""

    missing: Missing = "exclude"
    """Whether attempts of unknown success are left out or are failures."""
    trials: int = 0
    """Attempts that each task should have, also one that a release alone ran; under `as-failure`
    the rest are failures too."""


KNOWN_ALONE: Final = AttemptCounting()
"""Attempts of known success, of the tasks that both releases ran."""


class CountedAttempts(NamedTuple):
    """The attempts that count."""

    rows: list[Row]
    """Those of each task, in the order of tasks, as `attempt_pairs` has them."""
    failures: tuple[int, int]
    """Attempts of base and candidate that are missing or of unknown success, among them."""


def counted_attempts(rows: Iterable[Row], counting: AttemptCounting) -> CountedAttempts:
    """Return the attempts that count, of the rows of `attempt_pairs`."""
    if counting.missing == "exclude":
        return CountedAttempts([row for row in rows if all(_made(row))], (0, 0))
    kept = [row for row in rows if (any if counting.trials else all)(_made(row))]
    filled = [_filled(row, counting.trials) for row in kept]
    base, candidate = (
        sum(row[f"{side}_valid"] for row in filled) - sum(row[f"{side}_valid"] for row in kept)
        for side in SIDES
    )
    return CountedAttempts(filled, (base, candidate))


def _made(row: Row) -> list[int]:
    """Return how many attempts at the task each release made."""
    return [row[f"{side}_valid"] + row[f"{side}_invalid"] for side in SIDES]


def _filled(row: Row, trials: int) -> Row:
    """Return the row with the attempts that are missing or of unknown success as failures."""
    numbers = zip(SIDES, _made(row), strict=True)
    valid = {f"{side}_valid": max(made, trials) for side, made in numbers}
    return row | valid | {f"{side}_invalid": 0 for side in SIDES}
