"""The format `openhands`: events of OpenHands → spans (0.9 to 1.9, August 2026).

A file is a run: a list of events, or one a line, as OpenHands before 1 saves a trajectory
(`action`, `observation`) or as its SDK writes events (`kind`). A conversation's folder of the SDK,
with its `events`, is a run as well, and so is each record of its benchmarks' `output.jsonl`
(`history`). A delegate is a run of its own in the same conversation. Actions of one response are
one message. Finishing is the answer, and the tool `think` is a thought. A result that is marked as
an error, and an exit code other than 0 of a command that ended, are failures. Tokens are those of
each response, else the totals, which the last model call gets.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.formats.trajectories.openhands_outputs import (
    OutputRecord,
    is_output,
)
from tracegrade_collector.importing.formats.trajectories.openhands_runs import (
    AGENT,
    SUBAGENT,
    EventRun,
    EventRuns,
)
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, FileRecord, read_records
from tracegrade_collector.importing.source import open_plain, source_of
from tracegrade_collector.importing.trajectory import (
    RunOrigin,
    Trajectory,
    counts,
    left_out,
    spans_of,
    with_totals,
)

FORMAT: Final = AGENT
EVENTS: Final = "events"

_KINDS: Final = ("Event", "Observation")
_OLD: Final = ("action", "observation")
_STATE: Final = "base_state.json"
_SUBAGENTS: Final = "subagents"
_NOTHING: Final = "no message or action of OpenHands is in it"


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    if is_output(record):
        return True
    if not isinstance(record, dict) or "source" not in record or "timestamp" not in record:
        return False
    is_new = isinstance(record.get("kind"), str) and record["kind"].endswith(_KINDS)
    is_old = any(isinstance(record.get(key), str) for key in _OLD) and "id" in record
    return is_new or (is_old and ("args" in record or "extras" in record))


def fits_folder(folder: Path) -> bool:
    """Return whether this is the folder of a conversation of the SDK."""
    return (folder / _STATE).is_file() and (folder / EVENTS).is_dir()


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each run of a file or folder, after one for each invalid event."""
    if path.is_dir():
        yield from _folder_parts(path, path.name, AGENT)
        return
    runs, has_outputs = EventRuns(), False
    with open_plain(path) as opened:
        for number, record in enumerate(read_records(opened)):
            if record.fault:
                yield ImportPart(f"{path}:{record.line}", fault=record.fault)
            elif is_output(record.value):
                has_outputs = True
                yield from _output_parts(path, record, number)
            else:
                runs.add(record.value)
    if not has_outputs or runs.main.messages:
        yield from _parts(path, runs, "")


def _folder_parts(path: Path, conversation: str, agent: str) -> Iterator[ImportPart]:
    """Yield the parts of a conversation's folder, and those of the subagents' in it."""
    runs, is_parent = EventRuns(agent), (path / _SUBAGENTS).is_dir()
    for file in sorted((path / EVENTS).glob("*.json")):
        if not file.is_file():
            continue
        with open_plain(file) as opened:
            for record in read_records(opened):
                if record.fault:
                    yield ImportPart(f"{file}:{record.line}", fault=record.fault)
                else:
                    runs.add(record.value)
    is_linked = is_parent or agent == SUBAGENT
    yield from _parts(path, runs, conversation if is_linked else "")
    for folder in sorted((path / _SUBAGENTS).glob("*")):
        if fits_folder(folder):
            yield from _folder_parts(folder, conversation, SUBAGENT)


def _parts(path: Path, runs: EventRuns, conversation: str) -> Iterator[ImportPart]:
    """Yield a part for each run of a stream of events."""
    found = list(runs.found())
    if not found:
        yield ImportPart(str(path), fault=_NOTHING, ignored=runs.main.ignored)
        return
    source = source_of(path)
    shared = conversation or (source if len(found) > 1 else "")
    for number, run in enumerate(found):
        try:
            messages = with_totals(
                run.reader.finished(), run.reader.total_usage, run.reader.total_cost
            )
            origin = RunOrigin(FORMAT, source, run.position, number)
            trajectory = Trajectory(
                origin,
                path.name,
                messages,
                agent=run.agent,
                conversation=shared or None,
                system="\n".join(run.reader.system) or None,
                tools=run.reader.tools,
            )
            yield _part(str(path), trajectory, run)
        except RecursionError:
            yield ImportPart(str(path), fault=TOO_DEEP)


def _output_parts(path: Path, record: FileRecord, number: int) -> Iterator[ImportPart]:
    """Yield a part for each run of a benchmark's record."""
    location, output = f"{path}:{record.line}", OutputRecord(record.value)
    try:
        found = list(output.runs().found())
        if not found:
            yield ImportPart(location, fault=_NOTHING)
        for count, run in enumerate(found):
            position = f"{number}{'.' * bool(run.position)}{run.position}"
            origin = RunOrigin(FORMAT, source_of(path), position, number + count)
            is_linked = len(found) > 1
            trajectory = output.trajectory(
                origin, path.name, run, f"{source_of(path)}:{number}" if is_linked else None
            )
            verdicts = [] if run.position else output.verdicts(origin.trajectory_id())
            part = _part(location, trajectory, run)
            understood = {**part.understood, "scores": len(verdicts)}
            yield part._replace(verdicts=verdicts, understood=understood)
    except RecursionError:
        yield ImportPart(location, fault=TOO_DEEP)


def _part(location: str, trajectory: Trajectory, run: EventRun) -> ImportPart:
    return ImportPart(
        location,
        Signal.TRACES,
        spans_of(trajectory),
        understood=counts(trajectory),
        ignored=run.reader.ignored + left_out(trajectory),
    )
