"""Processes at the gate that are not the harness's agents: each harms only itself."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.harness.control.agents import soon
from tests.waiting import PATIENCE_SECS

from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.control.gate import (
    MAX_BEFORE_FLUSHED,
    MAX_MESSAGE_BYTES,
    MAX_PEERS,
    Event,
    Gate,
)
from tracegrade_harness.control.gate_messages import Hello, ProcessLeft, ToolReturned
from tracegrade_harness.errors import SandboxFailed

HELLO = b'{"type":"hello","protocol":1,"pid":7,"python":"3.11"}'
CALL = {"type": "tool", "ask": 1, "n": 1, "span_id": "0" * 16, "name": "t", "ok": True}
TOOL = json.dumps({**CALL, "arguments": None, "effect": None, "in_flight": 0}).encode()


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """A gate without any process."""
    with Gate(tmp_path) as opened:
        yield opened


def come(gate: Gate, *messages: bytes) -> socket.socket:
    """Return a connection over which something was sent."""
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    peer.connect(gate.address)
    for message in messages:
        peer.send(message)
    return peer


def take(gate: Gate, count: int) -> list[Event]:
    """Return so many events."""
    events = gate.events(soon())
    return [next(events) for _ in range(count)]


@pytest.mark.parametrize(
    "message",
    [
        b"\x00\xff garbage",
        b"[" * 100_000,
        b'{"type":' * 10_000,
        b'{"type":"answer","ask":1,"in_flight":0}',
        b'{"type":"hello","protocol":2,"pid":7,"python":"3.11"}',
        b'{"type":"hello","protocol":1,"pid":"seven","python":"3.11"}',
        b" " * (MAX_MESSAGE_BYTES + 1),
        b"",
    ],
)
def test_a_peer_that_breaks_the_protocol_is_turned_away(gate: Gate, message: bytes) -> None:
    """It sees the end of the connection; the next peer is served."""
    with come(gate, message) as rude, come(gate, HELLO) as polite:
        events = take(gate, 2)

        assert {type(event.message) for event in events} == {ProcessLeft, Hello}
        assert rude.recv(100) == b""
        polite.send(TOOL)
        (call,) = take(gate, 1)
        gate.go(call)
        assert json.loads(polite.recv(100)) == {"type": "go", "ask": 1}


@pytest.mark.parametrize("messages", [(HELLO, HELLO), (TOOL,)])
def test_one_hello_comes_first(gate: Gate, messages: tuple[bytes, ...]) -> None:
    """And never again."""
    with come(gate, *messages):
        *_, last = take(gate, len(messages))

    assert isinstance(last.message, ProcessLeft)
    assert "hello" in str(last.message.reason)


def test_silent_peers_hold_up_nobody(gate: Gate) -> None:
    """Neither those that wait at the gate, nor those that come later."""
    with come(gate), come(gate, HELLO) as polite:
        assert isinstance(take(gate, 1)[0].message, Hello)
        polite.send(TOOL)
        (call,) = take(gate, 1)

        assert isinstance(call.message, ToolReturned)
        assert gate.flush(call, 0.01) is None


def test_a_crowd_is_turned_away(gate: Gate) -> None:
    """Beyond the limit, each new peer finds the gate closed; those inside stay."""
    inside = [come(gate, HELLO)]
    take(gate, 1)
    for _ in range(MAX_PEERS - 1):
        inside.append(come(gate, HELLO))
        take(gate, 1)
    with come(gate) as late:
        (event,) = take(gate, 1)

        assert event.message == ProcessLeft(f"more than {MAX_PEERS} processes")
        assert late.recv(100) == b""
    inside[0].send(TOOL)
    (call,) = take(gate, 1)
    assert call.peer == 1
    for peer in inside:
        peer.close()


def test_a_peer_that_never_reads_is_cut_off(gate: Gate) -> None:
    """Answers are not waited for."""
    with come(gate, HELLO, TOOL) as deaf:
        _, call = take(gate, 2)
        for _ in range(10_000):
            gate.go(call)
        events = gate.events(soon())

        assert isinstance(next(events).message, ProcessLeft)
        deaf.setblocking(False)
        while deaf.recv(100):
            pass


def test_a_peer_that_talks_instead_of_flushing_is_cut_off(gate: Gate) -> None:
    """Its messages are not stored without limit; a wrong `flushed` is not an answer."""
    flushed = b'{"type":"flushed","ask":7,"complete":true,"lost":0}'
    used = b'{"type":"usage","model":null,"input_tokens":1,"output_tokens":1}'
    with come(gate, HELLO, TOOL) as chatty:
        _, call = take(gate, 2)
        chatty.send(flushed)
        for _ in range(MAX_BEFORE_FLUSHED - 1):
            chatty.send(used)

        assert gate.flush(call, PATIENCE_SECS) is None
        *_, left = take(gate, MAX_BEFORE_FLUSHED)
        assert left.message == ProcessLeft("talks instead of flushing")


def test_answering_one_who_has_left_is_no_error(gate: Gate) -> None:
    """That it left is an event."""
    come(gate, HELLO, TOOL).close()
    _, call, left = take(gate, 3)
    gate.go(call)

    assert left.message == ProcessLeft(None)
    assert gate.flush(call, 1) is None


def test_a_message_that_asks_nothing_cannot_be_answered(gate: Gate) -> None:
    """A fault of the caller's."""
    with come(gate, HELLO):
        (hello,) = take(gate, 1)
        with pytest.raises(TypeError, match="waits for no answer"):
            gate.go(hello)


def test_events_end_at_the_deadline(gate: Gate) -> None:
    """Also if no process connects."""
    assert list(gate.events(Deadline(0.01))) == []


def test_a_folder_with_a_long_path_is_said(tmp_path: Path) -> None:
    """A socket's path has a hundred bytes."""
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    with pytest.raises(SandboxFailed, match="give a folder with a short path"):
        Gate(folder)
