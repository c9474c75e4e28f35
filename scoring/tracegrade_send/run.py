"""Sends the scores that a destination lacks, and notes what it answers."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from tracegrade.suggestions import did_you_mean
from tracegrade_lake import Lake
from tracegrade_send.destinations.datadog import Datadog
from tracegrade_send.destinations.destination import (
    Destination,
    DestinationAddress,
    EvaluatedScore,
)
from tracegrade_send.destinations.langfuse import Langfuse
from tracegrade_send.destinations.mlflow import Mlflow
from tracegrade_send.destinations.otlp import Otlp
from tracegrade_send.destinations.phoenix import Phoenix
from tracegrade_send.errors import SendBusy, SendRefused
from tracegrade_send.ledger import SentLedger, forget, known_lake_id, lake_id_for
from tracegrade_send.scores import ScoredLake, ScoreSelection
from tracegrade_send.texts import ScoreTexts

MakesDestination: TypeAlias = Callable[[DestinationAddress, Mapping[str, str]], Destination]

OTLP: Final = "otlp"
KINDS: Final[Mapping[str, MakesDestination]] = {
    OTLP: Otlp,
    "phoenix": Phoenix,
    "langfuse": Langfuse,
    "mlflow": Mlflow,
    "datadog": Datadog,
}
"""Destinations, by the value of --to."""

FEW_METRICS: Final[Mapping[str, Sequence[str]]] = {"mlflow": ("success", "tsa")}
"""The main metrics that a destination gets by default if each score is a request of its own."""


@dataclass
class SentScores:
    """The result of a run."""

    sent: Counter[str] = field(default_factory=Counter)
    """Numbers of scores that the destination accepted, by metric."""
    waiting: Counter[str] = field(default_factory=Counter)
    """Numbers of scores that wait, by reason."""
    refused: Counter[str] = field(default_factory=Counter)
    """Numbers of scores that it refused, by reason."""


def destination_of(address: DestinationAddress, variables: Mapping[str, str]) -> Destination:
    """Return a destination with its keys.

    Args:
        address: Whose kind and endpoint count.
        variables: Of the environment; those that begin with TRACEGRADE_SEND_ count.

    Raises:
        SendRefused: The kind is unknown, or a key is missing.
    """
    if address.kind not in KINDS:
        hint = did_you_mean(address.kind, [*KINDS]) or f"there are: {', '.join(KINDS)}"
        msg = f"scores cannot be sent to '{address.kind}'; {hint}"
        raise SendRefused(msg)
    return KINDS[address.kind](address, variables)


def scores_to_send(
    lake: Lake, address: DestinationAddress, selection: ScoreSelection
) -> Mapping[str, int]:
    """Return the numbers of scores that a destination lacks, by metric; change nothing."""
    scored = ScoredLake(lake)
    with closing(scored.con):
        return scored.counts(address.hash, known_lake_id(lake), _usual(selection, address.kind))


def send_scores(
    lake: Lake,
    address: DestinationAddress,
    destination: Destination,
    selection: ScoreSelection,
    *,
    all_again: bool = False,
) -> SentScores:
    """Send the scores that a destination lacks; the lake notes each answer.

    Args:
        lake: A lake that was scored.
        address: Identifies the destination.
        destination: To which they are sent.
        selection: Which scores.
        all_again: First forget what the destination has.

    Raises:
        SendBusy: Another job sends to it.
        SendFailed: It cannot be reached; the answers until then are noted.
        SendRefused: The lake has never been scored, or a metric does not exist.
    """
    with _alone(lake, address):
        if all_again:
            forget(lake, address.hash)
        scored = ScoredLake(lake)
        with closing(scored.con):
            return _send(lake, scored, address, destination, selection)


def _send(
    lake: Lake,
    scored: ScoredLake,
    address: DestinationAddress,
    destination: Destination,
    selection: ScoreSelection,
) -> SentScores:
    found, ledger = SentScores(), SentLedger(lake, address.hash)
    lake_id = lake_id_for(lake, address)
    texts = ScoreTexts(scored.own_metrics, with_content=selection.with_content)
    selection = _usual(selection, address.kind)
    try:
        for scores in scored.scores(address.hash, lake_id, selection, destination.batch):
            explained = [EvaluatedScore(each, *texts.of(each)) for each in scores]
            answers = ledger.add(scores, destination.send(explained))
            for score, answer in zip(scores, answers, strict=True):
                if answer.state == "sent":
                    found.sent[score.metric] += 1
                else:
                    getattr(found, answer.state)[answer.reason or ""] += 1
    finally:
        ledger.note()
    return found


def _usual(selection: ScoreSelection, kind: str) -> ScoreSelection:
    """Return a selection with what a kind of destination gets by default."""
    main = FEW_METRICS.get(kind, selection.main_metrics)
    return replace(selection, main_metrics=main, responses=kind == OTLP)


@contextmanager
def _alone(lake: Lake, address: DestinationAddress) -> Iterator[None]:
    with closing(lake.lock(f"send-{address.hash}")) as lock:
        if not lock.try_acquire():
            msg = (
                f"another job is sending scores to {address.endpoint}, so nothing was done; "
                "run this again later"
            )
            raise SendBusy(msg)
        yield
