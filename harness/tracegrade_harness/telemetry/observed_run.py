"""A run whose calls the harness itself observes, on a channel between agent and tools.

Such an agent writes no spans and does not use the gate. The observer does both for it. It
announces a run at the gate as `tracegrade.gate` would. After each call, it asks whether the answer
may pass to the agent. It sends spans of the run and its calls.

While it waits at the gate, no other call begins. Calls that began earlier continue, and are
counted.
"""

import contextlib
import json
import os
import platform
import secrets
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from opentelemetry.trace import Status, StatusCode

from tracegrade import names
from tracegrade.gate.spans import MAX_ATTRIBUTES_CHARS, MAX_NAME_CHARS, bounded
from tracegrade_harness.control.gate_messages import PROTOCOL
from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.telemetry.harness_spans import HarnessSpan, send_spans
from tracegrade_harness.telemetry.relay import Endpoint
from tracegrade_queries.build.canonical import canonical_json

MAX_UNSENT_CHARS: Final = 4 << 20
"""Most characters of spans that wait to be sent."""
_ANSWER_BYTES: Final = 4096


class RunClosed(Exception):
    """The run was ended; nothing may pass to its agent any more."""


class Origin(NamedTuple):
    """The destination and the resource of a run's spans."""

    collector: Endpoint
    resource: Mapping[str, str]
    agent_name: str
    user_input: str | None = None
    """The user's request, if the suite has it."""


@dataclass(frozen=True)
class ObservedCall:
    """A call that has begun."""

    tool: str
    arguments: str | None
    """JSON if it is valid; None if there are no arguments."""
    span_id: str = field(default_factory=lambda: secrets.token_hex(8))
    start_ns: int = field(default_factory=time.time_ns)


class ObservedAnswer(NamedTuple):
    """The outcome of a call."""

    ok: bool
    text: str | None
    """Result of the call; None if it has none."""


class ObservedRun:
    """One run of an agent; usable from any thread."""

    def __init__(self, gate: str, origin: Origin) -> None:
        """Connect to a gate, and announce a run that starts now.

        Args:
            gate: Path of the gate's socket.
            origin: The origin of the run.

        Raises:
            OSError: No process listens there.
        """
        self.trace_id = secrets.token_hex(16)
        self.span_id = secrets.token_hex(8)
        self._origin = origin
        self._start_ns = time.time_ns()
        self._lock = threading.Lock()
        self._requests = self._calls = self._in_flight = 0
        self._is_over = False
        self._unsent: list[HarnessSpan] = []
        self._unsent_chars = self._lost = 0
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.connect(gate)
        self._greet()

    def begin(self) -> None:
        """Count a call that is about to begin; wait while another call is at the gate.

        Raises:
            RunClosed: It must not begin.
        """
        with self._lock:
            self._stop_if_over()
            self._in_flight += 1

    def returned(self, call: ObservedCall, answer: ObservedAnswer) -> None:
        """Wait until the answer of a call may pass to the agent.

        Raises:
            RunClosed: It must not.
        """
        with self._lock:
            self._in_flight -= 1
            self._calls += 1
            self._hold(self._span_of(call, answer))
            self._ask({"type": "tool", "n": self._calls, **_tool_message(call, answer)})

    def answering(self) -> None:
        """Return when an agent without further tool calls may continue.

        Raises:
            RunClosed: It must not.
        """
        with self._lock:
            self._ask({"type": "answer"})

    def finish(self, exit_code: int | None) -> None:
        """Report that the agent ended, and send the spans of its run.

        Args:
            exit_code: None if a limit ended it.

        Raises:
            EnvironmentFailed: The collector did not take them.
        """
        with self._lock:
            self._hold(self._root(exit_code))
            self._send()

    def notes(self) -> list[str]:
        """Return the notes about the run for readers of the trial."""
        return [f"spans: {self._lost} of its calls could not be sent"] if self._lost else []

    def close(self) -> None:
        """Let nothing pass to the agent any more. Idempotent."""
        self._is_over = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits at the gate
        with self._lock:
            self._socket.close()

    def _greet(self) -> None:
        self._tell(
            {
                "type": "hello",
                "protocol": PROTOCOL,
                "pid": os.getpid(),
                "python": platform.python_version(),
            }
        )
        attributes = {**self._attributes, **self._user_input}
        is_short = sum(map(len, attributes.values())) <= MAX_ATTRIBUTES_CHARS
        self._tell(
            {
                "type": "run",
                "trace_id": self.trace_id,
                "span_id": self.span_id,
                "parent_id": None,
                "name": self._name,
                "start_ns": self._start_ns,
                "attributes": attributes if is_short else self._attributes,
                "attributes_cut": not is_short,
            }
        )

    @property
    def _name(self) -> str:
        return f"{names.INVOKE_AGENT} {self._origin.agent_name}"

    @property
    def _attributes(self) -> dict[str, str]:
        return {
            names.OPERATION_NAME: names.INVOKE_AGENT,
            names.AGENT_NAME: self._origin.agent_name,
        }

    @property
    def _user_input(self) -> dict[str, str]:
        """The user's input, in the attribute that agents use."""
        text = self._origin.user_input
        if text is None:
            return {}
        messages = [{"role": "user", "parts": [{"type": "text", "content": text}]}]
        return {names.INPUT_MESSAGES: json.dumps(messages)}

    def _ask(self, message: Mapping[str, Any]) -> None:
        """Wait at the gate with the lock held, so that no call begins."""
        self._requests += 1
        try:
            self._tell({**message, "ask": self._requests, "in_flight": self._in_flight})
            while not self._is_let_go():
                pass
        except OSError:
            self._is_over = True
        self._stop_if_over()

    def _is_let_go(self) -> bool:
        """Read an answer of the gate; return whether it ends the wait."""
        text = self._socket.recv(_ANSWER_BYTES)
        answer = json.loads(text) if text else {"type": "over"}
        if answer["type"] == "flush":
            complete = self._flush()
            flushed = {"type": "flushed", "ask": self._requests, "complete": complete}
            self._tell({**flushed, "lost": self._lost})
            return False
        self._is_over = self._is_over or answer["type"] != "go"
        return True

    def _tell(self, message: Mapping[str, Any]) -> None:
        text = json.dumps(message, ensure_ascii=False).encode(errors="replace")
        self._socket.send(text, socket.MSG_NOSIGNAL)

    def _stop_if_over(self) -> None:
        if self._is_over:
            raise RunClosed

    def _hold(self, span: HarnessSpan) -> None:
        self._unsent.append(span)
        self._unsent_chars += sum(len(str(value)) for value in span.attributes.values())
        if self._unsent_chars > MAX_UNSENT_CHARS:
            self._flush()

    def _flush(self) -> bool:
        """Send the waiting spans; return whether the collector took them."""
        count = len(self._unsent)
        try:
            self._send()
        except EnvironmentFailed:
            self._lost += count
        return not self._lost

    def _send(self) -> None:
        unsent, self._unsent, self._unsent_chars = self._unsent, [], 0
        if unsent:
            what = f"spans of {self.trace_id}-{self.span_id}"
            send_spans(self._origin.collector, unsent, self._origin.resource, what)

    def _span_of(self, call: ObservedCall, answer: ObservedAnswer) -> HarnessSpan:
        texts = {
            names.TOOL_CALL_ARGUMENTS: call.arguments,
            names.TOOL_CALL_RESULT: answer.text,
        }
        return HarnessSpan(
            self.trace_id,
            call.span_id,
            self.span_id,
            f"{names.EXECUTE_TOOL} {call.tool[:MAX_NAME_CHARS]}",
            {
                names.OPERATION_NAME: names.EXECUTE_TOOL,
                names.TOOL_NAME: call.tool,
                **{key: text for key, text in texts.items() if text is not None},
            },
            call.start_ns,
            time.time_ns(),
            Status(StatusCode.UNSET) if answer.ok else Status(StatusCode.ERROR, answer.text),
        )

    def _root(self, exit_code: int | None) -> HarnessSpan:
        fact = "ended by a limit" if exit_code is None else f"ended with exit code {exit_code}"
        return HarnessSpan(
            self.trace_id,
            self.span_id,
            None,
            self._name,
            {**self._attributes, **self._user_input},
            self._start_ns,
            time.time_ns(),
            Status(StatusCode.UNSET) if exit_code == 0 else Status(StatusCode.ERROR, fact),
        )


def _tool_message(call: ObservedCall, answer: ObservedAnswer) -> dict[str, Any]:
    """Return a call as a message to the gate; equal calls give equal messages."""
    given = call.arguments
    return {
        "span_id": call.span_id,
        "name": call.tool[:MAX_NAME_CHARS],
        "ok": answer.ok,
        "arguments": None if given is None else bounded(canonical_json(given) or given),
        "effect": None,
    }
