"""Agreement and correction as their definitions read, slow and plain."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

Pairs = Sequence[tuple[bool, bool]]


def kappa(pairs: Pairs) -> float | None:
    """Return Cohen's kappa."""
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs) / n
    chance = sum(
        (sum(a == answer for a, _ in pairs) / n) * (sum(b == answer for _, b in pairs) / n)
        for answer in (True, False)
    )
    return None if chance == 1 else (agreed - chance) / (1 - chance)


def ac1(pairs: Pairs) -> float:
    """Return Gwet's AC1."""
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs) / n
    yes = (sum(a for a, _ in pairs) / n + sum(b for _, b in pairs) / n) / 2
    chance = sum(p * (1 - p) for p in (yes, 1 - yes))
    return (agreed - chance) / (1 - chance)


def corrected(yes: int, of: int, pairs: Pairs) -> tuple[float, float, float]:
    """Return the corrected rate and its interval, one draw after the other."""
    counts = [
        (yes, of - yes),
        (pairs.count((True, True)), pairs.count((True, False))),
        (pairs.count((False, True)), pairs.count((False, False))),
    ]
    numbers = np.random.PCG64(0).random_raw(3 * 4096).tolist()
    draws = []
    for i, (a, b) in enumerate(counts):
        points = _quantiles(a + 0.5, b + 0.5)
        row = numbers[4096 * i : 4096 * (i + 1)]
        draws.append([points[k] for k in sorted(range(4096), key=row.__getitem__)])
    rates = sorted(s * right + (1 - s) * missed for s, right, missed in zip(*draws, strict=True))
    s, right, missed = ((a + 0.5) / (a + b + 1) for a, b in counts)
    low, high = (_percentile(rates, share) for share in (0.025, 0.975))
    return s * right + (1 - s) * missed, low, high


def _quantiles(a: float, b: float) -> list[float]:
    """Return the points of Beta(a, b) below which are 0.5/4096, 1.5/4096, … of its mass."""
    centre, half = math.asin(math.sqrt(a / (a + b))), 6 / math.sqrt(a + b)
    first, last = max(0.0, centre - half), min(math.pi / 2, centre + half)
    angles = [first + (last - first) * i / 4095 for i in range(4096)]
    logs = [_log(2 * a - 1, math.sin(x)) + _log(2 * b - 1, math.cos(x)) for x in angles]
    most = max(logs)
    density = [math.exp(each - most) for each in logs]
    mass = [0.0]
    for left, right in pairwise(density):
        mass.append(mass[-1] + (left + right) / 2)
    found, j = [], 0
    for i in range(4096):
        wanted = (i + 0.5) / 4096 * mass[-1]
        while mass[j + 1] < wanted:
            j += 1
        part = (wanted - mass[j]) / (mass[j + 1] - mass[j])
        found.append(math.sin(angles[j] + part * (angles[j + 1] - angles[j])) ** 2)
    return found


def _log(times: float, value: float) -> float:
    if times == 0:
        return 0.0
    return times * math.log(value) if value > 0 else -math.inf


def _percentile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    after = ordered[min(below + 1, len(ordered) - 1)]
    return ordered[below] + (after - ordered[below]) * (place - below)
