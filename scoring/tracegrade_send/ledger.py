"""The lake's notes of what each destination has: written after its answers, read before a run.

A process that is killed between an answer and its note sends those scores again. Each score has a
key, so the destination replaces it then.
"""

import datetime
import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from tracegrade_lake import Lake
from tracegrade_lake.errors import FilesReplaced
from tracegrade_send.destinations.destination import DestinationAddress, ScoreAnswer
from tracegrade_send.schema import SEND_DESTINATIONS, SENT_SCORES
from tracegrade_send.scores import ScoreToSend

NOTE_SECS: Final = 5.0
"""Time between two notes; a killed process sends again what it sent since the last."""
MOST_NOTED: Final = 50_000
"""Answers in one note at most."""
LONGEST_WAIT: Final = datetime.timedelta(days=7)
"""After that a score whose trace the destination still does not have is refused."""


def known_lake_id(lake: Lake) -> str:
    """Return the id of the lake in the keys of scores; '' before it sent any."""
    return min((row["lake_id"] for row in _destinations(lake)), default="")


def lake_id_for(lake: Lake, address: DestinationAddress) -> str:
    """Return the id of the lake in the keys of scores, after the destination is in the lake."""
    lake_id = known_lake_id(lake) or uuid.uuid4().hex
    if address.hash not in {row["destination"] for row in _destinations(lake)}:
        row = {"destination": address.hash, **address._asdict()}
        row |= {"lake_id": lake_id, "added_at": _now()}
        lake.append(SEND_DESTINATIONS, pa.Table.from_pylist([row], SEND_DESTINATIONS.arrow()))
    return lake_id


def _destinations(lake: Lake) -> list[dict[str, Any]]:
    dataset = lake.dataset(SEND_DESTINATIONS.name)
    return dataset.to_table(columns=["destination", "lake_id"]).to_pylist() if dataset else []


class SentLedger:
    """The answers of one destination that are not in the lake yet."""

    def __init__(self, lake: Lake, destination: str) -> None:
        """Take the lake, and the hash of the destination."""
        self._lake = lake
        self._destination = destination
        self._rows: list[dict[str, Any]] = []
        self._noted_at = time.monotonic()

    def add(
        self, scores: Sequence[ScoreToSend], answers: Sequence[ScoreAnswer]
    ) -> list[ScoreAnswer]:
        """Take answers to scores, and return them; a wait that is too long is a refusal."""
        now = _now()
        final = [_final(*each, now) for each in zip(scores, answers, strict=True)]
        for score, answer in zip(scores, final, strict=True):
            waits = answer.state == "waiting"
            self._rows.append({
                "destination": self._destination,
                "key": score.key,
                "id": score.id,
                "remote_id": answer.remote_id,
                "state": answer.state,
                "reason": answer.reason,
                "waits_since": (score.waits_since or now) if waits else None,
                "sent_at": now,
            })  # fmt: skip
        is_due = time.monotonic() - self._noted_at >= NOTE_SECS
        if is_due or len(self._rows) >= MOST_NOTED:
            self.note()
        return final

    def note(self) -> None:
        """Write the answers into the lake."""
        if self._rows:
            self._lake.append(SENT_SCORES, pa.Table.from_pylist(self._rows, SENT_SCORES.arrow()))
        self._rows = []
        self._noted_at = time.monotonic()


def forget(lake: Lake, destination: str) -> None:
    """Let the next run send all scores to a destination again.

    Call it while no other job sends to the destination.
    """
    while (version := lake.version(SENT_SCORES.name)) is not None:
        dataset = lake.dataset(SENT_SCORES.name, version)
        batches = _of_others(dataset, destination) if dataset else ()
        staged = lake.stage_batches(SENT_SCORES, {}, batches, uuid.uuid4().hex)
        files = [each.path for each in lake.live_files(SENT_SCORES.name, version)]
        try:
            lake.replace_files(SENT_SCORES, files, [staged] if staged else [])
        except FilesReplaced:  # by a compaction, after which the same rows are in other files
            continue
        return


def _of_others(dataset: ds.Dataset, destination: str) -> Iterator[pa.Table]:
    """Yield the answers of other destinations, some rows at a time: there may be millions."""
    columns, rows = SENT_SCORES.arrow().names, pc.field("destination") != destination
    for batch in dataset.to_batches(columns=columns, filter=rows):
        yield SENT_SCORES.declared(pa.Table.from_batches([batch]))


def _final(score: ScoreToSend, answer: ScoreAnswer, now: datetime.datetime) -> ScoreAnswer:
    since = score.waits_since
    if answer.state == "waiting" and since is not None and now - since > LONGEST_WAIT:
        return answer._replace(state="refused")
    return answer


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
