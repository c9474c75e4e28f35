"""Tool calls in progress between an agent and its MCP servers."""

import threading
from collections import defaultdict

from tracegrade_harness.mcp.messages import answers_of, calls_of
from tracegrade_harness.telemetry.observed_run import ObservedCall, ObservedRun


class McpCalls:
    """Calls from one client to one server that wait for an answer."""

    def __init__(self, run: ObservedRun | None) -> None:
        """Watch for a run; without a run, calls are counted and none is stopped."""
        self._run = run
        self._waiting: dict[str, list[ObservedCall]] = defaultdict(list)
        self._changed = threading.Condition()

    def sent(self, message: bytes) -> None:
        """Wait until a client's message may pass to the server.

        Raises:
            McpUnreadable: It cannot be read.
            RunClosed: It must not.
        """
        for id_, call in calls_of(message):
            if self._run is not None:
                self._run.begin()
            with self._changed:
                self._waiting[id_].append(call)

    def answered(self, message: bytes) -> None:
        """Wait until a server's message may pass to the client.

        Raises:
            McpUnreadable: It cannot be read.
            RunClosed: It must not.
        """
        for id_, answer in answers_of(message):
            call = self._taken(id_)
            if call is not None and self._run is not None:
                self._run.returned(call, answer)

    def settle(self, timeout_secs: float) -> bool:
        """Wait until no call is in progress; return whether that happened in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting, timeout_secs)

    def abandon(self) -> None:
        """Note that the server has ended, so that open calls get no answer."""
        with self._changed:
            self._waiting.clear()
            self._changed.notify_all()

    def _taken(self, id_: str) -> ObservedCall | None:
        with self._changed:
            calls = self._waiting.get(id_)
            if not calls:
                return None
            call = calls.pop(0)
            if not calls:
                del self._waiting[id_]
            self._changed.notify_all()
            return call
