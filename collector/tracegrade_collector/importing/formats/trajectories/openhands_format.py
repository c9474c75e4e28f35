"""The format `openhands`: events of OpenHands → spans (0.30 to 1.9, August 2026).

A file is a run: a list of events, or one a line, as OpenHands before 1 saves a trajectory
(`action`, `observation`) or as its SDK writes events (`kind`). A conversation's folder of the SDK,
with its `events`, is a run as well. Actions of one response are one message. Finishing is the
answer, and the tool `think` is a thought. An exit code other than 0 of a command that ended is a
failure. Tokens are those of each response, else the totals, which the last model call gets.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.formats.trajectories.openhands_events import EventReader
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, read_records
from tracegrade_collector.importing.source import open_plain, source_of
from tracegrade_collector.importing.trajectory import (
    RunOrigin,
    Trajectory,
    counts,
    left_out,
    spans_of,
    with_totals,
)

FORMAT: Final = "openhands"
EVENTS: Final = "events"

_KINDS: Final = ("Event", "Observation")
_OLD: Final = ("action", "observation")
_STATE: Final = "base_state.json"


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    if not isinstance(record, dict) or "source" not in record or "timestamp" not in record:
        return False
    is_new = isinstance(record.get("kind"), str) and record["kind"].endswith(_KINDS)
    is_old = any(isinstance(record.get(key), str) for key in _OLD) and "id" in record
    return is_new or (is_old and ("args" in record or "extras" in record))


def fits_folder(folder: Path) -> bool:
    """Return whether this is the folder of a conversation of the SDK."""
    return (folder / _STATE).is_file() and (folder / EVENTS).is_dir()


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for the run of a file or folder, after one for each invalid event."""
    files = sorted((path / EVENTS).glob("*.json")) if path.is_dir() else [path]
    reader = EventReader()
    for file in files:
        if not file.is_file():
            continue
        with open_plain(file) as opened:
            for record in read_records(opened):
                if record.fault:
                    yield ImportPart(f"{file}:{record.line}", fault=record.fault)
                else:
                    reader.add(record.value)
    if not reader.messages:
        yield ImportPart(str(path), fault="no message or action of OpenHands is in it")
        return
    try:
        yield _part(path, reader)
    except RecursionError:
        yield ImportPart(str(path), fault=TOO_DEEP)


def _part(path: Path, reader: EventReader) -> ImportPart:
    messages = with_totals(reader.finished(), reader.total_usage, reader.total_cost)
    trajectory = Trajectory(
        RunOrigin(FORMAT, source_of(path), "", 0),
        path.name,
        messages,
        agent=FORMAT,
        system="\n".join(reader.system) or None,
        tools=reader.tools,
    )
    return ImportPart(
        str(path),
        Signal.TRACES,
        spans_of(trajectory),
        understood=counts(trajectory),
        ignored=Counter(reader.ignored) + left_out(trajectory),
    )
