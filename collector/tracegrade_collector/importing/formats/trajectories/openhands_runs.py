"""Sorts the events of OpenHands into runs: the agent's, and one for each delegate."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tracegrade_collector.importing.formats.trajectories.openhands_events import EventReader
from tracegrade_collector.importing.spellings import as_object, as_text

AGENT: Final = "openhands"
SUBAGENT: Final = "openhands-subagent"

_DELEGATE: Final = "delegate"


class EventRun(NamedTuple):
    """One run of a stream of events."""

    position: str
    """In the stream; empty for the agent itself."""

    agent: str
    reader: EventReader


class EventRuns:
    """Reads a stream of events one by one.

    Between the action that delegates and the observation with its result, versions before the SDK
    write the delegate's events into the same stream.
    """

    def __init__(self, agent: str = AGENT) -> None:
        self._runs = [EventRun("", agent, EventReader())]
        self._open = [self._runs[0].reader]

    @property
    def main(self) -> EventReader:
        """The reader of the agent's own events."""
        return self._runs[0].reader

    def add(self, event: Any) -> None:
        """Read the next event."""
        fields = as_object(event)
        if fields.get("observation") == _DELEGATE and len(self._open) > 1:
            delegate = self._open.pop()
            self._open[-1].goes_on_from(delegate)
        reader = self._open[-1]
        reader.add(event)
        if fields.get("action") == _DELEGATE and fields.get("source", "agent") == "agent":
            self._delegate(fields, reader)

    def _delegate(self, event: dict[str, Any], parent: EventReader) -> None:
        named = as_object(event.get("args")).get("agent") or event.get("agent")
        run = EventRun(f"{_DELEGATE}-{len(self._runs)}", as_text(named or SUBAGENT), EventReader())
        run.reader.goes_on_from(parent)
        self._runs.append(run)
        self._open.append(run.reader)

    def found(self) -> Iterator[EventRun]:
        """Yield the runs that have a message, the agent's first."""
        return (run for run in self._runs if run.reader.messages)
