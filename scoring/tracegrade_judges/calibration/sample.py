"""Draws verdicts of a judge for people to label: at random within yes and no, and repeatably."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

VERDICTS: Final = ("yes", "no")


class SampledVerdict(NamedTuple):
    """A verdict that was drawn."""

    row: Mapping[str, Any]
    probability: float
    """The probability that each verdict of its stratum is drawn."""


def draw(rows: Sequence[Mapping[str, Any]], count: int, seed: int) -> list[SampledVerdict]:
    """Return verdicts drawn without replacement, in random order.

    Each stratum (the judge's answer) gets its share of the sample, and at least one, so that the
    sample resembles the whole.

    Args:
        rows: The verdicts that may be drawn, with their `label`, in a fixed order.
        count: Number of verdicts, at least 2; all if there are fewer.
        seed: Seed of the stream of random numbers.
    """
    sizes = {each: sum(row["label"] == each for row in rows) for each in VERDICTS}
    left = dict(zip(VERDICTS, allocation(sizes["yes"], sizes["no"], count), strict=True))
    chances = {each: left[each] / size for each, size in sizes.items() if size}
    numbers = np.random.PCG64(seed).random_raw(max(len(rows), 1))
    found = []
    for index in np.argsort(numbers, kind="stable")[: len(rows)].tolist():
        label = rows[index]["label"]
        if left[label]:
            left[label] -= 1
            found.append(SampledVerdict(rows[index], chances[label]))
    return found


def allocation(yes: int, no: int, count: int) -> tuple[int, int]:
    """Return how many of each stratum to draw, in proportion to their sizes, one at least."""
    if count >= yes + no:
        return yes, no
    share = round(count * yes / (yes + no))
    of_yes = min(max(share, min(1, yes), count - no), yes, count - min(1, no))
    return of_yes, count - of_yes
