"""Items that were refused, with the reason: `<lake>/dead_letters/`, one JSON object per line.

Exporters ignore partial success, so without these files nobody could find out what was lost. They
are written when their segment lands, under a name that a repeated round replaces. Redacted as rows
are; ids stand as they were sent. `group` says which resource and which scope of its request an
item is of; what these say stands in the first letter of a group, if it is long, and else in each.
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
from tracegrade_collector.redact.redacted_json import redact_json
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.shortening import shortened_item
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

LOT_LETTERS = 2000
LOT_BYTES = 4 << 20
"""Of letters in memory at once; as Python objects they take ten times that."""

SHARED_BYTES = 2 << 10
"""Of scope and resource that each letter repeats. Larger ones are in the first of a group alone:
a request of a megabyte could otherwise become gigabytes."""


class _Letter(NamedTuple):
    content: dict[str, Any]
    size: int
    """Bytes, about."""


def keep_refused(
    state: Path, name: str, records: Iterable[Record], redactor: Redactor
) -> Counter[str]:
    """Write the refused items of these records to the file of this name; return them by reason."""
    counts: Counter[str] = Counter()
    lots = _lots(letter for record in records for letter in _letters(record, redactor))
    first = next(lots, None)
    if first:
        make_folder(state / FOLDER)
        pieces = (_lines(lot, redactor, counts) for lot in chain([first], lots))
        write_pieces(state / FOLDER / f"{name}.jsonl", pieces)
        reach("dead_letters_written")
    return counts


def _lots(letters: Iterable[_Letter]) -> Iterator[list[dict[str, Any]]]:
    """Yield letters in lots that fit into memory, whatever was refused."""
    lot: list[dict[str, Any]] = []
    room = LOT_BYTES
    for letter in letters:
        lot.append(letter.content)
        room -= letter.size
        if len(lot) == LOT_LETTERS or room <= 0:
            yield lot
            lot, room = [], LOT_BYTES
    if lot:
        yield lot


def _lines(lot: list[dict[str, Any]], redactor: Redactor, counts: Counter[str]) -> bytes:
    """Return the lines of some letters, and count these by reason."""
    counts.update(letter["reason"] for letter in lot)
    clean = redact_json(lot, redactor)
    return "".join(json.dumps(letter, ensure_ascii=False) + "\n" for letter in clean).encode()


def _letters(record: Record, redactor: Redactor) -> Iterator[_Letter]:
    request = otlp.decode(record.body, record.signal, record.encoding)
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
    """Return what the items of a group share, and its size."""
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
