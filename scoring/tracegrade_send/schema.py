"""The tables that sending writes: where scores were sent, and what each destination has."""

from typing import Final

from tracegrade_lake import Column, Table
from tracegrade_lake.columns import TEXT, TIMESTAMP

_DESTINATION: Final = Column(
    "destination", TEXT, "12 hex digits: hash of kind, endpoint and project."
)

SEND_DESTINATIONS: Final = Table(
    name="send_destinations",
    grain="one destination that scores of this lake were sent to",
    columns=(
        _DESTINATION,
        Column("kind", TEXT, "otlp | phoenix | langfuse | mlflow | datadog."),
        Column("endpoint", TEXT, "URL without credentials."),
        Column("project", TEXT, "Project, as given; NULL if none was."),
        Column("lake_id", TEXT, "Random id of the lake, the same in each row; part of each key."),
        Column("added_at", TIMESTAMP, "UTC."),
    ),
    partition_by=(),
)

SENT_SCORES: Final = Table(
    name="sent_scores",
    grain="one answer of a destination to one score; the newest of a key counts",
    columns=(
        _DESTINATION,
        Column(
            "key",
            TEXT,
            "32 hex digits: hash of lake_id, trajectory or conversation, span or place, and "
            "metric. Equal after a score was computed again.",
        ),
        Column(
            "id",
            TEXT,
            "32 hex digits: hash of key, value, status, label, scorer_version, "
            "specification_hash and input_hash.",
        ),
        Column("remote_id", TEXT, "Id that the destination gave; NULL if none."),
        Column(
            "state",
            TEXT,
            "sent | waiting (the destination does not have the trace yet) | refused.",
        ),
        Column("reason", TEXT, "Why it waits or was refused; NULL if sent."),
        Column("waits_since", TIMESTAMP, "First time that it had to wait, UTC; NULL if sent."),
        Column("sent_at", TIMESTAMP, "Time of the answer, UTC."),
    ),
    partition_by=(),
)
