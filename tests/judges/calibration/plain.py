"""Agreement and correction as their definitions read, slow and plain."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import NormalDist

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
    rates = sorted(s * r + (1 - s) * m for s, r, m in zip(*draws(counts), strict=True))
    s, right, missed = ((a + 0.5) / (a + b + 1) for a, b in counts)
    low, high = (percentile(rates, share) for share in (0.025, 0.975))
    return s * right + (1 - s) * missed, low, high


def prediction_powered(yes: int, of: int, pairs: Pairs) -> tuple[float, float, float]:
    """Return the rate by PPI++ and its interval, from lists of what judge and people say."""
    said, people = ([float(pair[i]) for pair in pairs] for i in (0, 1))
    labeled_yes = int(sum(said))
    n, others = len(pairs), of - len(pairs)
    unlabeled = [1.0] * (yes - labeled_yes) + [0.0] * (others - yes + labeled_yes)
    weight = 0.0
    if others and len({*said, *unlabeled}) == 2:
        covariance = _mean(
            [a * b for a, b in zip(_centered(said), _centered(people), strict=True)]
        )
        weight = covariance / ((1 + n / others) * _spread(said + unlabeled))
        weight = min(1.0, max(0.0, weight))
    rest = [y - weight * f for y, f in zip(people, said, strict=True)]
    value, variance = _mean(rest), _spread(rest) / n
    if others:
        value += weight * _mean(unlabeled)
        variance += weight**2 * _spread(unlabeled) / others
    half = NormalDist().inv_cdf(0.975) * math.sqrt(variance)
    low, middle, high = (min(1.0, max(0.0, value + way * half)) for way in (-1, 0, 1))
    return middle, low, high


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def _centered(values: list[float]) -> list[float]:
    middle = _mean(values)
    return [value - middle for value in values]


def _spread(values: list[float]) -> float:
    return _mean([each**2 for each in _centered(values)])


def draws(counts: Sequence[tuple[int, ...]]) -> list[list[float]]:
    """Return 4,096 draws of the share of each yes and no, in the order of a fixed stream."""
    numbers = np.random.PCG64(0).random_raw(len(counts) * 4096).tolist()
    found = []
    for i, (a, b) in enumerate(counts):
        points = _quantiles(a + 0.5, b + 0.5)
        row = numbers[4096 * i : 4096 * (i + 1)]
        found.append([points[k] for k in sorted(range(4096), key=row.__getitem__)])
    return found


def _quantiles(a: float, b: float) -> list[float]:
    """Return the points of Beta(a, b) below which are 0.5/4096, 1.5/4096, … of its mass."""
    center, half = math.asin(math.sqrt(a / (a + b))), 6 / math.sqrt(a + b)
    first, last = max(0.0, center - half), min(math.pi / 2, center + half)
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


def percentile(ordered: list[float], share: float) -> float:
    """Return the value at a share of a sorted list, linear between neighbors."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    after = ordered[min(below + 1, len(ordered) - 1)]
    return ordered[below] + (after - ordered[below]) * (place - below)
