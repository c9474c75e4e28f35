"""How ready each release is: the T-Score with its axes, and the tier, in words."""

from collections.abc import Iterator
from typing import NamedTuple

from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.model import Release, Reliability
from tracegrade_scoring.statistics.t_score import PRESETS, label_of, t_score

LEAST_LATE_RA = 7
"""Below it nothing else matters until it is fixed [Triangle]."""


class AxisView(NamedTuple):
    """One axis of the T-Score."""

    name: str
    value: str
    share: float
    """0..100 of its scale."""
    by_default: bool
    """Nothing was measured; the value means that there is nothing to criticise."""


class TierView(NamedTuple):
    """The tier, and what it is based on."""

    tier: str
    basis: str


class Card(NamedTuple):
    """One release."""

    release: str
    score: str
    """The T-Score, or a dash."""
    label: str
    notes: tuple[str, ...]
    """What the article recommends at this score, or why there is none; other readings of it."""
    axes: tuple[AxisView, ...]
    tier: TierView | None
    presets: tuple[tuple[str, str], ...]
    """T-Score by the weights of each kind of work."""


CARD_HEADINGS = ("release", "T-Score", *words.AXES.values(), "tier", "note")
"""The headings of `card_row`."""


def card_row(found: Card) -> tuple[str, ...]:
    """Return a card as one row, for output without room for cards."""
    tier = f"{found.tier.tier} ({found.tier.basis})" if found.tier else ""
    score = found.score if found.score == words.NOTHING else f"{found.score}, {found.label}"
    axes = (axis.value for axis in found.axes)
    return (found.release, score, *axes, tier, "; ".join(found.notes))


def card(release: Release, label: str) -> Card | None:
    """Return the card of a release; None if neither an axis nor a tier is known."""
    axes, score = release.axes, release.t_score
    reliability = release.reliability
    tier = _tier(reliability) if reliability and reliability.tier.tasks else None
    if tier is None and axes.tsa is None and axes.ra is None:
        return None
    return Card(
        label,
        words.number(score.value),
        score.label or "no T-Score",
        tuple(_notes(release)),
        tuple(
            _axis(name, value, by_default=name == "pq" and release.pq_defaulted)
            for name, value in axes._asdict().items()
        ),
        tier,
        tuple(_presets(release)),
    )


def late_ra_warning(release: Release) -> str | None:
    """Return what to report first: a task whose late kill leaves things in disorder."""
    lowest = release.lowest_late_ra
    if lowest is None or round(lowest.late_ra or 0.0, 9) >= LEAST_LATE_RA:
        return None
    return (
        f"after a late kill, {words.name(lowest.task_id, 'a run without a known task')} recovers "
        f"only to {words.axis(lowest.late_ra)}: fix this before anything else."
    )


def _notes(release: Release) -> Iterator[str]:
    score, strict = release.t_score, t_score(release.strict_axes, literal=release.options.literal)
    yield score.recommended_use or _why_none(release)
    if found := release.t_score_interval:
        ends = f"{words.number(found.low)} to {words.number(found.high)}"
        labels = dict.fromkeys(label_of(end)[0] or "" for end in (found.low, found.high))
        level = words.level(release.options.level)
        yield f"{level} interval {ends}, {' to '.join(labels)}"
    if release.options.literal:
        yield "By the article's own formula, without missed decision points"
    if score.value is None and _measured(release):
        yield f"From {' and '.join(_known(release))} only: {words.number(score.partial)}"
    if strict.value is not None and strict.value != score.value:
        yield f"With strict planning quality: {words.number(strict.value)}, {strict.label}"
    if release.axes.pq == 0 and not _planned(release):
        yield "No plan was found although tasks need three or more steps: planning quality is 0"
    if release.pq_defaulted:
        yield "No task needs a plan, so planning quality counts as 10"


def _planned(release: Release) -> bool:
    """Return whether any run declared a plan."""
    replans = release.metrics.get("replans")
    return replans is None or bool(replans.scored or replans.error)


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
    return f"Not measured: {', '.join(missing)}"


def _axis(name: str, value: float | None, *, by_default: bool) -> AxisView:
    shown = words.axis(value) + (", by default" if by_default else "")
    return AxisView(words.AXES[name], shown, round(10 * (value or 0.0), 1), by_default)


def _tier(found: Reliability) -> TierView:
    tier = found.tier
    parts = [f"pass@1 {_share(tier.pass_at_1)}", f"pass^3 {_share(tier.pass_hat_3)}"]
    if tier.tier_conservative and tier.tier_conservative != tier.tier:
        parts.append(f"conservatively: {tier.tier_conservative}")
    parts.append(words.count(tier.tasks, "task"))
    parts += [f"{words.name(name)}: {its.tier}" for name, its in found.categories if its.tier]
    return TierView(tier.tier or "no tier: too few attempts", ", ".join(parts))


def _share(value: float | None) -> str:
    return words.NOTHING if value is None else f"{value * 100:.1f}%"


def _presets(release: Release) -> Iterator[tuple[str, str]]:
    for name, weights in PRESETS.items():
        found = t_score(release.axes, weights, literal=release.options.literal)
        if found.value is not None:
            yield name, f"{words.number(found.value)}, {found.label}"
