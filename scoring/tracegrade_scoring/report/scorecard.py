"""How ready each release is: the T-Score with its axes, and the tier, in words."""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.model import Release, Reliability
from tracegrade_scoring.statistics.reliability import TRIES
from tracegrade_scoring.statistics.t_score import PRESETS, label_of, t_score
from tracegrade_scoring.statistics.tiers import Tier

SMALL: Final = "insufficient_sample"
"""The flag of an axis with fewer than 10 tasks, or decision points than 50."""
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

    @property
    def has_value(self) -> bool:
        """Whether there is anything to show."""
        return self.value != words.NOTHING


class TierView(NamedTuple):
    """The tier, and what it is based on."""

    tier: str
    basis: str
    is_hint: bool
    """The sample is too small for more: nothing to be shown in bold."""


class Card(NamedTuple):
    """One release."""

    release: str
    score: str
    """The T-Score; '' if there is none, which a note explains."""
    label: str
    """What it means; '' without a T-Score."""
    is_hint: bool
    """The T-Score is of a sample too small for more: its label is not to be shown in bold."""
    notes: tuple[str, ...]
    """What the article recommends at this score, or in one line why there is none."""
    axes: tuple[AxisView, ...]
    tier: TierView | None
    presets: tuple[tuple[str, str], ...]
    """T-Score by the weights of each kind of work."""


CARD_HEADINGS = ("release", "T-Score", *words.AXES.values(), "tier", "note")
"""The headings of `card_row`."""


def card_row(found: Card) -> tuple[str, ...]:
    """Return a card as one row, for output without room for cards."""
    tier = f"{found.tier.tier} ({found.tier.basis})" if found.tier else ""
    score = f"{found.score}, {found.label}" if found.score else words.NOTHING
    axes = (axis.value for axis in found.axes)
    return (found.release, score, *axes, tier, "; ".join(found.notes))


def card(release: Release, label: str) -> Card | None:
    """Return the card of a release; None if neither an axis nor a tier is known."""
    axes, score, few = release.axes, release.t_score, _few(release)
    reliability = release.reliability
    tier = _tier(reliability) if reliability and reliability.tier.tasks else None
    if tier is None and axes.tsa is None and axes.ra is None:
        return None
    return Card(
        label,
        "" if score.value is None else words.number(score.value),
        _with_hint(score.label, few) if score.label else "",
        bool(score.label and few),
        tuple(_notes(release)),
        tuple(_axis(name, value, release) for name, value in axes._asdict().items()),
        tier,
        tuple(_presets(release)),
    )


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
    score, strict = release.t_score, t_score(release.strict_axes, literal=release.options.literal)
    yield score.recommended_use or _why_none(release)
    found = release.t_score_interval
    if found and found.low == found.high:
        yield "All tasks alike: no interval"
    elif found:
        ends = f"{words.number(found.low)} to {words.number(found.high)}"
        labels = dict.fromkeys(label_of(end)[0] or "" for end in (found.low, found.high))
        level = words.level(release.options.level)
        yield f"{level} interval {ends}, {' to '.join(labels)}"
    if release.options.literal:
        yield "By the article's own formula: no missed decision points, strict planning quality"
    if strict.value is not None and strict.value != score.value:
        yield f"With strict planning quality: {words.number(strict.value)}, {strict.label}"
    if unplanned := release.remarks.unplanned:
        of = words.count(unplanned, "run")
        if unplanned < (scored := release.metrics["pq"].scored):
            of = f"{unplanned:,} of {words.count(scored, 'run')}"
        yield f"Planning quality is 0 by definition: no plan in {of}"
    if release.pq_defaulted:
        yield "Not applicable to any run, planning quality counts as 10"


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
    if tier.tier_conservative and tier.tier_conservative != tier.tier:
        parts.append(f"conservatively: {tier.tier_conservative}")
    categories = [
        f"{words.name(name)} {_with_hint(its.tier, () if tier.flags else its.flags)}"
        for name, its in found.categories
        if its.tier
    ]
    if categories:
        by = "by category, also as hints" if tier.flags else "by category"
        parts.append(f"{by}: {', '.join(categories)}")
    shown = tier.tier or "no tier: too few attempts"
    return TierView(_with_hint(shown, tier.flags), "; ".join(parts), bool(tier.flags))


def _tier_basis(tier: Tier) -> str:
    """Return the tasks and attempts that a tier goes by, and which bounds they stay below."""
    tasks = words.count(tier.tasks, "task")
    if tier.pass_hat_3 is not None:
        tasks += f" with {TRIES} or more attempts"
    basis = f"{tasks}, {words.count(tier.attempts, 'attempt')} in all"
    bounds = [words.TIER_FLAGS[flag] for flag in tier.flags]
    return f"{basis} (fewer than {' or '.join(bounds)})" if bounds else basis


def _with_hint(text: str, flags: Collection[str]) -> str:
    return f"{text}, as a hint" if flags else text


def _few(release: Release) -> list[str]:
    """Return the axes of the T-Score that are of a small sample."""
    scores = (release.metrics.get(name) for name in ("tsa", "pq", "ra_after_recovery"))
    return [score.metric for score in scores if score and SMALL in score.flags]


def _share(value: float | None) -> str:
    return words.NOTHING if value is None else f"{value * 100:.1f}%"


def _presets(release: Release) -> Iterator[tuple[str, str]]:
    for name, weights in PRESETS.items():
        found = t_score(release.axes, weights, literal=release.options.literal)
        if found.value is not None:
            yield (
                name,
                f"{words.number(found.value)}, {_with_hint(found.label or '', _few(release))}",
            )
