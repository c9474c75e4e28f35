"""Items that were refused, with the reason: `<lake>/dead_letters/`, one JSON object per line.

Exporters ignore partial success, so without these files nobody could find out what was lost. They
are written when their segment lands, under a name that a repeated round replaces. Redacted as rows
are; ids stand as they were sent.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade_collector.encoding import otlp, otlp_json
from tracegrade_collector.encoding.otlp import Encoding, InvalidItem
from tracegrade_collector.redact.redacted_json import redact_json
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.sources import Record
from tracegrade_lake.crash_points import reach
from tracegrade_lake.files import make_folder, write_whole

FOLDER = "dead_letters"
KEYS: dict[type, tuple[str, str, str]] = {
    Span: ("resourceSpans", "scopeSpans", "spans"),
    LogRecord: ("resourceLogs", "scopeLogs", "logRecords"),
}
"""The way to an item in OTLP/JSON."""

ID_KEYS = ("traceId", "spanId", "parentSpanId")


def keep_refused(
    state: Path, name: str, records: Iterable[Record], redactor: Redactor
) -> Counter[str]:
    """Write the refused items of these records to the file of this name; return them by reason."""
    letters = [letter for record in records for letter in _letters(record)]
    if letters:
        make_folder(state / FOLDER)
        clean = redact_json(letters, redactor)
        lines = [json.dumps(letter, ensure_ascii=False) + "\n" for letter in clean]
        write_whole(state / FOLDER / f"{name}.jsonl", "".join(lines).encode())
        reach("dead_letters_written")
    return Counter(letter["reason"] for letter in letters)


def _letters(record: Record) -> Iterator[dict[str, Any]]:
    request = otlp.decode(record.body, record.signal, record.encoding)
    sent = json.loads(record.body.decode()) if record.encoding is Encoding.JSON else None
    for invalid in otlp.invalid_items(request):
        item = otlp_json.write_json(invalid.item)
        if sent:
            _set_sent_ids(item, _sent_item(sent, invalid))
        yield {
            "reason": invalid.reason,
            "signal": record.signal,
            "wal_seq": record.seq,
            "received_ns": record.received_ns,
            "item": item,
            "scope": otlp_json.write_json(invalid.group.scope.scope),
            "resource": otlp_json.write_json(invalid.group.resource.resource),
        }


def _sent_item(sent: Any, invalid: InvalidItem) -> Any:
    path = (*invalid.group.path, invalid.position)
    for key, number in zip(KEYS[type(invalid.item)], path, strict=True):
        sent = sent[key][number]
    return sent


def _set_sent_ids(item: dict[str, Any], sent: Any) -> None:
    """Write the ids of an item and its links as its JSON says them.

    The decoded message has lost ids that are not hex.
    """
    item.update({key: sent[key] for key in ID_KEYS if sent.get(key)})
    for link, sent_link in zip(item.get("links", ()), sent.get("links") or (), strict=True):
        _set_sent_ids(link, sent_link)
