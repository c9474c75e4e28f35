"""Counts how often twins changed a judge's verdict; pure."""

import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple

from tracegrade_judges.ask.ask import ERROR, NO, YES
from tracegrade_judges.twins.attacks import ATTACKS
from tracegrade_judges.twins.copies import NEGATION, PADDED, Twin, places_of
from tracegrade_scoring.statistics.intervals import wilson


class TwinVerdict(NamedTuple):
    """A judge's verdicts on a run and on its twin."""

    twin: Twin
    before: str
    after: str
    """yes | no | error."""
    reason: str | None
    """Code for why `after` is error."""


class FlipCounts(NamedTuple):
    """Counts of the twins of one kind that changed a judge's verdict."""

    kind: str
    """attacks | padding | negation."""
    place: str | None
    """Where the change is; None: in all places together."""
    twins: int
    """That have a verdict, and are of a run that can be moved so."""
    flipped: int
    errors: int
    """Twins without a verdict, apart."""

    @property
    def rate(self) -> float | None:
        """Share of twins that flipped, in [0, 1]; None without twins."""
        return self.flipped / self.twins if self.twins else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval of the rate; None without twins."""
        return wilson(self.flipped, self.twins)[:2] if self.twins else None


def counted(verdicts: Sequence[TwinVerdict], subject: str) -> list[FlipCounts]:
    """Return the counts of attacks in all and by place, of padding and of negation.

    An attack demands a yes, so it counts the runs whose no turned into a yes. Padding counts every
    change. The opposite question counts as flipped if the judge says yes to both questions.
    """
    attacks = [each for each in verdicts if each.twin.twin in ATTACKS and each.before == NO]
    padded = [each for each in verdicts if each.twin.twin == PADDED]
    negated = [each for each in verdicts if each.twin.twin == NEGATION and each.before == YES]
    return [
        _counts("attacks", None, attacks),
        *(
            _counts("attacks", place, [e for e in attacks if e.twin.place == place])
            for place in places_of(subject)
        ),
        _counts(PADDED, None, padded),
        _counts(NEGATION, None, negated, wants_other=True),
    ]


def _counts(
    kind: str,
    place: str | None,
    verdicts: Sequence[TwinVerdict],
    *,
    wants_other: bool = False,
) -> FlipCounts:
    answered = [each for each in verdicts if each.after != ERROR]
    flipped = sum((each.before == each.after) is wants_other for each in answered)
    return FlipCounts(kind, place, len(answered), flipped, len(verdicts) - len(answered))


def rate_rows(source: str, subject: str, counts: Sequence[FlipCounts]) -> list[dict[str, Any]]:
    """Return rows of `judge_flip_rates`."""
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    return [
        {
            "source": source,
            "subject": subject,
            **each._asdict(),
            "flip_rate": each.rate,
            "flip_rate_low": each.interval and each.interval[0],
            "flip_rate_high": each.interval and each.interval[1],
            "asked_at": now,
        }
        for each in counts
    ]
