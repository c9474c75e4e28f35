"""The readiness of each release in words: the T-Score with its axes and its label, or the tier."""

from collections.abc import Iterator
from typing import NamedTuple

from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.planning_share import planning_remarks
from tracegrade_scoring.report.model import Release, Reliability
from tracegrade_scoring.report.readiness import label
from tracegrade_scoring.statistics.readiness_labels import Carried
from tracegrade_scoring.statistics.reliability import TRIES
from tracegrade_scoring.statistics.t_score import DEFAULT, PRESETS, row_of, t_score
from tracegrade_scoring.statistics.tiers import Tier

LEAST_LATE_RA = 7
"""Below it nothing else matters until it is fixed [Triangle]."""


class AxisView(NamedTuple):
    """One axis of the T-Score."""

    name: str
    value: str
    share: float
    """0..100 of its scale."""
    by_default: bool
    """Nothing was measured; the value means that there is nothing to criticize."""

    @property
    def has_value(self) -> bool:
        """Whether there is anything to show."""
        return self.value != words.NOTHING


class TierView(NamedTuple):
    """The tier that the sample carries, and what it is based on."""

    tier: str
    """'' if it carries none, as `basis` then says."""
    basis: str


class ReleaseCard(NamedTuple):
    """One release."""

    release: str
    score: str
    """The T-Score; '' without one, which a note explains."""
    label: str
    """The label that the sample carries; '' if it carries none, which a note explains."""
    notes: tuple[str, ...]
    """The article's words on this label, or one line on why there is no label."""
    axes: tuple[AxisView, ...]
    tier: TierView | None
    """None where the report speaks in labels of the T-Score."""
    presets: tuple[tuple[str, str], ...]
    """T-Score by the weights of each kind of work."""


CARD_HEADINGS = ("release", "T-Score", *words.AXES.values(), "tier", "note")
"""The headings of `card_row`."""


def card_row(found: ReleaseCard) -> tuple[str, ...]:
    """Return a card as one row, for output without room for cards."""
    tier = "; ".join(filter(None, found.tier or ()))
    score = ", ".join(filter(None, (found.score, found.label))) or words.NOTHING
    axes = (axis.value for axis in found.axes)
    return (found.release, score, *axes, tier, "; ".join(found.notes))


def card(release: Release, name: str, *, in_labels: bool) -> ReleaseCard | None:
    """Return the card of a release; None if neither an axis nor a tier is known.

    Args:
        release: Any.
        name: The release as shown.
        in_labels: The report speaks in labels of the T-Score, not in tiers.
    """
    axes, score = release.axes, release.t_score
    reliability = release.reliability
    has_tier = reliability is not None and reliability.tier.tasks > 0
    if not has_tier and axes.tsa is None and axes.ra is None:
        return None
    return ReleaseCard(
        name,
        "" if score.value is None else words.number(score.value),
        _carried_words(label(release)),
        tuple(_notes(release)),
        tuple(_axis(axis, value, release) for axis, value in axes._asdict().items()),
        _tier(reliability) if reliability and has_tier and not in_labels else None,
        tuple(_presets(release)),
    )


def _carried_words(found: Carried) -> str:
    """Return the label that a sample carries, '' if it carries none."""
    if found.label is None:
        return ""
    return f"{found.label} or better" if found.at_least else found.label


def late_ra_warning(release: Release) -> str | None:
    """Return what to report first, without a stop: a task that a late kill leaves in disorder."""
    lowest = release.lowest_late_ra
    if lowest is None or round(lowest.late_ra or 0.0, 9) >= LEAST_LATE_RA:
        return None
    return (
        f"after a late kill, {words.name(lowest.task_id, 'a run without a known task')} recovers "
        f"only to {words.axis(lowest.late_ra)}: fix this before anything else"
    )


def _notes(release: Release) -> Iterator[str]:
    score = release.t_score
    yield from [_why_none(release)] if score.value is None else _standing(release)
    found = release.t_score_interval
    if found and found.low == found.high:
        yield "All tasks alike: no interval"
    elif found:
        level = words.level(release.options.level)
        yield f"{level} interval {words.number(found.low)} to {words.number(found.high)}"
    yield from _other_ways(release)
    if unplanned := release.remarks.unplanned:
        of = words.count(unplanned, "run")
        if unplanned < (scored := release.metrics["pq"].scored):
            of = f"{unplanned:,} of {words.count(scored, 'run')}"
        yield f"Planning quality is 0 by definition: no plan in {of}"
    yield from planning_remarks(release.remarks.planning)
    if release.pq_defaulted:
        yield "Not applicable to any run, planning quality counts as 10"


def _standing(release: Release) -> Iterator[str]:
    """Yield the article's words on the label, or why there is no label."""
    found = label(release)
    if found.label is None:
        yield f"No label: {words.NO_LABEL[found.reason or '']}"
        return
    row = row_of(found.label)
    yield f"Recommended use: {row.recommended_use}"
    yield f"Typical failure: {row.typical_failure}"


def _other_ways(release: Release) -> Iterator[str]:
    """Yield how the T-Score was made if not as usual, and what it were with strict planning."""
    weights = release.options.weights
    if release.options.literal:
        yield "By the article's own formula: no missed decision points, strict planning quality"
    if weights != PRESETS[DEFAULT]:
        named = zip(words.AXES.values(), weights, strict=True)
        yield f"Weights: {', '.join(f'{name} {weight:g}' for name, weight in named)}"
    strict = t_score(release.strict_axes, weights, literal=release.options.literal)
    if strict.value is not None and strict.value != release.t_score.value:
        yield f"With strict planning quality: {words.number(strict.value)}"


def _known(release: Release) -> list[str]:
    """Return the axes that have a value."""
    values = release.axes._asdict()
    return [words.AXES[name].lower() for name, value in values.items() if value is not None]


def _measured(release: Release) -> bool:
    """Return whether an axis has a value that is not a default."""
    axes = release.axes
    return any(value is not None for value in (axes.tsa, axes.ra)) or (
        axes.pq is not None and not release.pq_defaulted
    )


def _why_none(release: Release) -> str:
    known = _known(release)
    missing = [name for axis in words.AXES.values() if (name := axis.lower()) not in known]
    why = f"No T-Score: not measured: {', '.join(missing)}"
    if not _measured(release):
        return why
    return f"{why}; from {' and '.join(known)} only: {words.number(release.t_score.partial)}"


def _axis(name: str, value: float | None, release: Release) -> AxisView:
    by_default = name == "pq" and release.pq_defaulted
    shown = words.axis(value) + (", by default" if by_default else "")
    if name == "pq" and value == 0 and release.remarks.unplanned:
        shown += ", by definition"
    return AxisView(words.AXES[name], shown, round(10 * (value or 0.0), 1), by_default)


def _tier(found: Reliability) -> TierView:
    tier = found.tier
    means = f"pass@1 {_share(tier.pass_at_1)} and pass^3 {_share(tier.pass_hat_3)}"
    parts = [f"{means}, means over {_tier_basis(tier)}"]
    carried = tier.carried
    if carried.label is None:
        parts = [f"No tier: {words.NO_TIER[carried.reason or '']}", *parts]
    categories = [
        f"{words.name(name)} {_carried_words(its.carried)}"
        for name, its in found.categories
        if its.carried.label
    ]
    if categories:
        parts.append(f"by category: {', '.join(categories)}")
    return TierView(_carried_words(carried), "; ".join(parts))


def _tier_basis(tier: Tier) -> str:
    """Return the tasks and attempts that a tier goes by."""
    tasks = words.count(tier.tasks, "task")
    if tier.pass_hat_3 is not None:
        tasks += f" with {TRIES} or more attempts"
    return f"{tasks}, {words.count(tier.attempts, 'attempt')} in all"


def _share(value: float | None) -> str:
    return words.NOTHING if value is None else f"{value * 100:.1f}%"


def _presets(release: Release) -> Iterator[tuple[str, str]]:
    for name, weights in PRESETS.items():
        found = t_score(release.axes, weights, literal=release.options.literal)
        if found.value is not None:
            yield name, words.number(found.value)
