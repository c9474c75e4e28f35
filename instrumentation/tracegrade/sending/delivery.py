"""Sends one batch: divides it if necessary, and counts lost spans by reason."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, NamedTuple, Protocol, runtime_checkable

from opentelemetry.sdk.trace import ReadableSpan

_FIRST_DIVISIONS: Final = 8
_DIVISIONS: Final = 64
"""Most divisions of a batch to find spans that a collector cannot read: by halves, one in 4096
takes 12. A collector that has accepted no part after 8 accepts none.
"""

NO_ANSWER: Final = "no answer"


class Fate(Enum):
    """Result for the spans of one request."""

    TAKEN = auto()
    """The collector has them, but for those that it rejected."""
    LATER = auto()
    """They may be sent again, unchanged."""
    TOO_LARGE = auto()
    """They may be sent again, in smaller requests."""
    BAD = auto()
    """At least one of them cannot be read by the collector; the others may be sent again."""
    LOST = auto()
    """They are not to be sent again."""


class Reply(NamedTuple):
    """Result of one request."""

    fate: Fate
    reason: str = ""
    """Why not all were taken, in few words: losses are counted by them."""
    detail: str = ""
    """The collector's message."""
    rejected: int = 0
    """How many spans of a request that was taken were not."""
    wait_secs: float = 0
    """How long the collector asks to wait before the next try; 0 if it does not."""


_DIVIDED: Final = (Fate.TOO_LARGE, Fate.BAD)


@dataclass
class Delivery:
    """Result of a batch: spans that are neither lost nor waiting were accepted."""

    lost: Counter[str] = field(default_factory=Counter)
    """Spans that are lost, by reason."""
    details: dict[str, str] = field(default_factory=dict)
    """What the collector said, by reason."""
    waiting: list[ReadableSpan] = field(default_factory=list)
    """Spans that may be sent again."""
    why: str = ""
    """Why they wait."""
    wait_secs: float = 0
    """How long they must wait; 0 if the collector gives no time."""

    def lose(self, answer: Reply, count: int) -> None:
        """Count spans that are lost."""
        self.lost[answer.reason] += count
        self.details.setdefault(answer.reason, answer.detail)


@runtime_checkable
class Delivers(Protocol):
    """An exporter that reports the result of each span."""

    def deliver(self, spans: Sequence[ReadableSpan]) -> Delivery:
        """Send a batch."""

    def batch_size(self) -> int:
        """Return how many spans like those sent before fit well into one request."""


def deliver(
    spans: Sequence[ReadableSpan], send: Callable[[Sequence[ReadableSpan]], Reply]
) -> Delivery:
    """Send a batch, in parts where the collector does not take it as a whole.

    Args:
        spans: The batch.
        send: Sends one request.
    """
    delivery = Delivery()
    parts = deque([spans])
    left = _FIRST_DIVISIONS
    while parts:
        part = parts.popleft()
        answer = send(part)
        if answer.fate is Fate.TAKEN:
            left = max(left, _DIVISIONS)
            if answer.rejected:
                delivery.lose(answer, min(answer.rejected, len(part)))
            elif answer.detail:
                delivery.details[answer.reason] = answer.detail
        elif answer.fate is Fate.LATER:
            delivery.waiting = [span for each in (part, *parts) for span in each]
            delivery.why, delivery.wait_secs = answer.reason, answer.wait_secs
            delivery.details[answer.reason] = answer.detail
            break
        elif len(part) > 1 and (left or answer.fate is Fate.TOO_LARGE) and answer.fate in _DIVIDED:
            left -= answer.fate is Fate.BAD
            half = len(part) // 2
            parts += [part[:half], part[half:]]
        else:
            delivery.lose(answer, len(part))
    return delivery
