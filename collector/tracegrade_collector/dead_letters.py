"""Items that were refused, with the reason: `<lake>/dead_letters/`, one JSON object per line.

Exporters ignore partial success, so without these files nobody could find out what was lost. They
are written when their segment lands, under a name that a repeated round replaces.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from tracegrade_collector import otlp, otlp_json
from tracegrade_collector.files import make_folder, write_whole
from tracegrade_collector.sources import Record

FOLDER = "dead_letters"


def keep_refused(lake_root: Path, name: str, records: Iterable[Record]) -> None:
    """Write the refused items of these records, if there are any, to the file of this name."""
    lines = [line for record in records for line in _lines(record)]
    if not lines:
        return
    folder = lake_root / FOLDER
    make_folder(folder)
    write_whole(folder / f"{name}.jsonl", "".join(lines).encode())


def _lines(record: Record) -> Iterator[str]:
    request = otlp.decode(record.body, record.signal, record.encoding)
    for reason, item, scope, resource in otlp.invalid_items(request):
        letter = {
            "reason": reason,
            "signal": record.signal,
            "wal_seq": record.seq,
            "received_ns": record.received_ns,
            "item": otlp_json.write_json(item),
            "scope": otlp_json.write_json(scope),
            "resource": otlp_json.write_json(resource),
        }
        yield json.dumps(letter, ensure_ascii=False) + "\n"
