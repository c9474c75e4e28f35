"""Items that were refused, with the reason: `<lake>/dead_letters/`, one JSON object per line.

Exporters ignore partial success, so without these files lost items could not be traced. The lander
writes them when their segment lands, under a name that a repeated round replaces. They are
redacted like rows; ids stay as they were sent.

`group` identifies the resource and scope that an item shares with others of its request. Each
letter holds their content, or only the first one of a group if the content is long. The files'
share of the disk is limited: items that do not fit are only counted.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade_collector.encoding import otlp, otlp_json
from tracegrade_collector.encoding.otlp import Encoding, InvalidItem, ScopeGroup
from tracegrade_collector.land.folder_room import FolderRoom
from tracegrade_collector.redact.redacted_json import redact_json
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.shortening import shortened, shortened_item
from tracegrade_collector.rows.sources import Record
from tracegrade_lake.crash_points import reach
from tracegrade_lake.files import make_folder, write_pieces

FOLDER = "dead_letters"
KEYS: dict[type, tuple[str, str, str]] = {
    Span: ("resourceSpans", "scopeSpans", "spans"),
    LogRecord: ("resourceLogs", "scopeLogs", "logRecords"),
}
"""The way to an item in OTLP/JSON."""

ID_KEYS = ("traceId", "spanId", "parentSpanId")

BATCH_LETTERS = 2000
BATCH_BYTES = 4 << 20
"""Bytes of letters in memory at once; as Python objects they take ten times as much."""

SHARED_BYTES = 2 << 10
"""Largest scope and resource that each letter repeats. Larger ones are only in the first letter of
a group: otherwise a request of a megabyte could become gigabytes.
"""


class _Letter(NamedTuple):
    content: dict[str, Any]
    size: int
    """Bytes, about."""


class RefusedItems(NamedTuple):
    """The refused items of some records."""

    by_reason: Counter[str]
    unkept: int = 0
    """Refused items that are only counted, because there was no room."""


class DeadLetters:
    """The folder, up to a total size."""

    def __init__(self, state: Path, max_bytes: int, redactor: Redactor) -> None:
        self._path = state / FOLDER
        self._room = FolderRoom(self._path, max_bytes)
        self._redactor = redactor

    def keep(self, name: str, records: Iterable[Record]) -> RefusedItems:
        """Write the refused items of these records to the file of this name, while there is room.

        Raises:
            OSError: The file cannot be written.
        """
        letters = (each for record in records for each in _letters(record, self._redactor))
        batches = _batches(letters)
        first = next(batches, None)
        if first is None:
            return RefusedItems(Counter())
        writing = _Writing(self._redactor, self._room.free_bytes())
        pieces = writing.pieces(chain([first], batches))
        piece = next(pieces, None)
        if piece is not None:
            make_folder(self._path)
            write_pieces(self._path / f"{name}.jsonl", chain([piece], pieces))
            self._room.add(writing.size)
            reach("dead_letters_written")
        return RefusedItems(writing.counts, writing.unkept)


class _Writing:
    """Letters on their way to a file of limited size."""

    def __init__(self, redactor: Redactor, max_bytes: int) -> None:
        self._redactor = redactor
        self._max_bytes = max_bytes
        self.size = 0
        self.counts: Counter[str] = Counter()
        self.unkept = 0

    def pieces(self, batches: Iterable[list[dict[str, Any]]]) -> Iterator[bytes]:
        """Yield the lines of each batch that fits; after the first that does not, count."""
        for batch in batches:
            self.counts.update(letter["reason"] for letter in batch)
            lines = b"" if self.unkept else _lines(batch, self._redactor)
            if self.unkept or self.size + len(lines) > self._max_bytes:
                self.unkept += len(batch)
                continue
            self.size += len(lines)
            yield lines


def _batches(letters: Iterable[_Letter]) -> Iterator[list[dict[str, Any]]]:
    """Yield letters in batches that fit into memory, for refused items of any size."""
    batch: list[dict[str, Any]] = []
    room = BATCH_BYTES
    for letter in letters:
        batch.append(letter.content)
        room -= letter.size
        if len(batch) == BATCH_LETTERS or room <= 0:
            yield batch
            batch, room = [], BATCH_BYTES
    if batch:
        yield batch


def _lines(batch: list[dict[str, Any]], redactor: Redactor) -> bytes:
    """Return the lines of some letters."""
    clean = redact_json(batch, redactor)
    return "".join(json.dumps(letter, ensure_ascii=False) + "\n" for letter in clean).encode()


def _letters(record: Record, redactor: Redactor) -> Iterator[_Letter]:
    body = record.body
    if record.encoding is Encoding.PROTOBUF:  # before a long value is in memory once more
        body = shortened(body, record.signal, redactor.shortened)
    request = otlp.decode(body, record.signal, record.encoding)
    sent = (
        json.loads(record.body.decode(errors="replace"))
        if record.encoding is Encoding.JSON
        else None
    )
    for path, of_group in groupby(otlp.invalid_items(request), lambda each: each.group.path):
        shared: dict[str, Any] = {}
        for number, invalid in enumerate(of_group):
            if not number:
                shared, size = _shared(invalid.group)
            elif number == 1 and size > SHARED_BYTES:
                shared, size = {}, 0
            item = otlp_json.write_json(shortened_item(invalid.item, redactor.shortened))
            if sent:
                _set_sent_ids(item, _sent_item(sent, invalid))
            content = {
                "reason": invalid.reason,
                "signal": record.signal,
                "wal_seq": record.seq,
                "group": "/".join(map(str, path)),
                "received_ns": record.received_ns,
                "item": item,
            }
            yield _Letter(content | shared, invalid.item.ByteSize() + size)


def _shared(group: ScopeGroup) -> tuple[dict[str, Any], int]:
    """Return the content that a group's items share, and its size."""
    scope, resource = group.scope.scope, group.resource.resource
    shared = {
        "scope": otlp_json.write_json(scope),
        "resource": otlp_json.write_json(resource),
    }
    return shared, scope.ByteSize() + resource.ByteSize()


def _sent_item(sent: Any, invalid: InvalidItem) -> Any:
    path = (*invalid.group.path, invalid.position)
    for key, number in zip(KEYS[type(invalid.item)], path, strict=True):
        sent = _member(sent, key)[number]
    return sent


def _member(sent: Any, key: str) -> Any:
    """Return a member of an object, however its key is spelled."""
    return next((sent[each] for each in sent if otlp_json.is_same_key(each, key)), None)


def _set_sent_ids(item: dict[str, Any], sent: Any) -> None:
    """Write the ids of an item and its links as its JSON says them.

    The decoded message has lost ids that are not hex.
    """
    item.update({key: found for key in ID_KEYS if (found := _member(sent, key))})
    for link, sent_link in zip(item.get("links", ()), _member(sent, "links") or (), strict=True):
        _set_sent_ids(link, sent_link)
