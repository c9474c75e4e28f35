"""Names, numbers and codes as text for people, each on one line and visible."""

from datetime import UTC, datetime
from math import floor, isfinite, log10

from tracegrade.terminal.visible import visible
from tracegrade_scoring.metrics import Metric, Scale
from tracegrade_scoring.rendering.reasons import reason_of

DASH = "\u2013"
"""Between the ends of a range; alone where there is nothing."""
NOTHING = DASH
NO_SPREAD = "all tasks alike: no interval"
"""In place of an interval without any width."""
CENTS = 2
"""Decimals of an amount of a dollar and more; a smaller one has three digits that count."""
RUN_ID_LENGTH = 12
"""Hex digits that tell a million runs apart."""

AXES = {"tsa": "Tool selection", "pq": "Planning quality", "ra": "Rollback-ability"}
"""The axes of the T-Score."""
CRITERIA = {
    "a": "not the expected tool",
    "b": "wrong arguments",
    "c": "a safer or cheaper tool was available",
}
"""The meaning of a failed criterion of tool selection (docs/metrics.md, section 1.3)."""
FLAGS = {
    "insufficient_sample": "small sample: fewer than 50 decision points or 10 tasks, so treat it "
    "as a hint, not as a measurement",
    "few_tasks": "too few tasks for an interval",
    "uncalibrated": "from verdicts of a judge that is not calibrated, so how far to trust it "
    "is unknown",
    "no_spread": "all tasks have the same value, so its uncertainty cannot be estimated",
}
"""The meaning of a flag of an aggregated score."""
_LEFT_OPEN = "the sample is too small to rule out the lowest one"
NO_LABEL = {
    "insufficient_sample": "a label takes at least 10 tasks on each axis and 50 decision points",
    "left_open": _LEFT_OPEN,
    **{f"missing_{axis}": f"{name.lower()} was not measured" for axis, name in AXES.items()},
}
"""Why a T-Score has no label, by the reason of `carried`."""
NO_TIER = {
    "insufficient_sample": "a tier takes at least 10 tasks and 20 attempts",
    "small_sample": "a tier takes at least 10 tasks and 20 attempts",
    "too_few_attempts": "no task has 3 attempts",
    "no_attempts": "no attempt at a known task ended in success or failure",
    "left_open": _LEFT_OPEN,
}
"""Why there is no tier, by the reason."""


def name(text: str | None, absent: str = NOTHING) -> str:
    """Return a name from a trace, or the given text if there is none."""
    return absent if text is None or text == "" else clip(visible(text), 120)


def run(trajectory_id: str | None) -> str:
    """Return the beginning of a run's id, which `report --trajectory` takes as well."""
    return name(trajectory_id)[:RUN_ID_LENGTH]


def cohort(agent_name: str | None, run_mode: str | None) -> str:
    """Return the name of an agent in a run mode."""
    agent = name(agent_name, "(no agent name)")
    return f"{agent}, {name(run_mode)}" if run_mode else agent


def clip(text: str, length: int) -> str:
    """Return a text cut to a length, its cut marked."""
    return text if len(text) <= length else text[: length - 1] + "…"


def number(value: float | None) -> str:
    """Return a count or a mean: whole numbers plain, others with two decimals."""
    if value is None or not isfinite(value):
        return NOTHING
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"


def amount(value: float | None, scale: Scale) -> str:
    """Return a metric's value as written for its scale."""
    if value is None or not isfinite(value):
        return NOTHING
    return f"{value * 100:.1f}%" if scale is Scale.SHARE else number(value)


def usd(amount: float) -> str:
    """Return an amount of money: `$1,234.50`, `$0.0029`, and never `$0.00` for something."""
    if amount >= 1 or amount <= 0:
        return f"${amount:,.{CENTS}f}"
    decimals = CENTS - floor(log10(amount))
    whole, _, part = f"{amount:.{decimals}f}".partition(".")
    return f"${whole}.{part.rstrip('0').ljust(CENTS, '0')}"


def axis(value: float | None) -> str:
    """Return a value of an axis of the composite score, which runs from 0 to 10."""
    return NOTHING if value is None else f"{value:.1f} of 10"


def level(share: float) -> str:
    """Return the level of intervals, such as 95%."""
    return f"{share * 100:g}%"


def interval(low: float | None, high: float | None, scale: Scale) -> str:
    """Return an interval, '' without one.

    It has enough decimals to distinguish its ends from each other, and from 0% and 100% unless
    they are equal to these.
    """
    if low is None or high is None:
        return ""
    if low == high:
        return NO_SPREAD
    if scale is not Scale.SHARE:
        return f"{number(low)}{DASH}{number(high)}"
    for digits in range(4):
        ends = (round(low, digits + 2), round(high, digits + 2))
        if ends[0] != ends[1] and (ends[0] > 0 or low == 0) and (ends[1] < 1 or high == 1):
            break
    return f"{low * 100:.{digits}f}{DASH}{high * 100:.{digits}f}%"


def difference(change: float, scale: Scale) -> str:
    """Return a signed change; shares change by percentage points."""
    if not change:
        return "no change"
    if scale is Scale.SHARE:
        return f"{change * 100:+.1f} pts"
    return f"{change:+,.2f}"


def ratio(numerator: float | None, denominator: float | None, metric: Metric) -> str:
    """Return what a value was counted from, '' if it is not a ratio of counts."""
    if numerator is None or denominator is None or not metric.unit:
        return ""
    return f"{number(numerator)} of {number(denominator)} {metric.unit}"


def reason(code: str | None) -> str:
    """Return why something was not scored, in words."""
    if not code:
        return "no reason was recorded"
    return clip(visible(reason_of(code).meaning), 200)


def remedy(code: str | None) -> str:
    """Return what a user can do about a missing value, '' if nothing."""
    return reason_of(code).remedy or "" if code else ""


def flag(code: str) -> str:
    """Return what a flag warns of, in words."""
    return FLAGS.get(code, clip(visible(code).replace("_", " "), 120))


def count(amount: int, noun: str) -> str:
    """Return a number of things, the noun in the right form."""
    return f"{amount:,} {noun if amount == 1 else noun + 's'}"


def waiting(amount: int, noun: str, until_ns: int) -> str:
    """Return the number of runs, or traces, that wait for their root, and until when."""
    until = datetime.fromtimestamp(-(-until_ns // 60_000_000_000) * 60, UTC)
    verb, whose = ("waits", "its") if amount == 1 else ("wait", "their")
    return (
        f"{count(amount, noun)} {verb} for {whose} root, until {until:%Y-%m-%d %H:%M} UTC; "
        "after that `tracegrade score` scores what has come as unfinished"
    )


def line(text: str) -> str:
    """Return a sentence from a trace on one line, cut where it is too long for a table."""
    return clip(visible(text), 400)


def mode(code: str) -> str:
    """Return the name of a failure mode as words."""
    return clip(visible(code), 120).replace("_", " ")


def duration(milliseconds: float) -> str:
    """Return how long something took, in the largest unit that leaves a number above 1."""
    if milliseconds < 10:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 1_000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1_000
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s"


def age(seconds: float) -> str:
    """Return how old something is, in the largest unit of which it is one at least."""
    if seconds >= 86_400:
        return count(int(seconds // 86_400), "day")
    for unit, length in (("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{max(0, int(seconds))} s"
