"""Connections that are carried out of a sandbox end with it, in every state."""

import gc
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.servers.forwarding import Forwarding

HOST = "127.0.0.1"
MUCH = bytes(20_000_000)


@pytest.fixture
def service() -> Iterator[socket.socket]:
    """A service that accepts nothing by itself, and lets one connection wait."""
    with socket.create_server((HOST, 0), backlog=0) as listening:
        yield listening


@contextmanager
def carried(service: socket.socket) -> Iterator[Callable[[], socket.socket]]:
    """Carry connections to a service for as long as this lasts, and yield what makes one."""
    listener = socket.create_server((HOST, 0))
    port = listener.getsockname()[1]
    with (
        ExitStack() as made,
        closing(Forwarding([listener], [ServiceAddress(*service.getsockname())])),
    ):
        yield lambda: made.enter_context(socket.create_connection((HOST, port)))


@contextmanager
def nothing_left() -> Iterator[None]:
    """Fail where a socket or a task is left to the garbage collector."""
    gc.collect()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        yield
        gc.collect()
    assert [str(each.message) for each in told] == []


def test_connections_that_were_just_made(service: socket.socket) -> None:
    """They may not have been accepted, or nothing may have been done about them."""
    with nothing_left():
        for _ in range(20):
            with carried(service) as connect:
                connect()


def test_connections_that_the_service_does_not_accept(service: socket.socket) -> None:
    """Its queue is full after the first, so the others are still to be connected."""
    with nothing_left(), carried(service) as connect:
        asking = [connect() for _ in range(4)]
        for each in asking:
            each.sendall(b"hello")
        asking[0].settimeout(0.2)
        with pytest.raises(TimeoutError):
            asking[0].recv(1)


def test_connections_whose_client_reads_nothing(service: socket.socket) -> None:
    """What its service sent before it ended waits to be read, and never is."""
    with nothing_left(), carried(service) as connect:
        asking = connect()
        asking.shutdown(socket.SHUT_WR)
        served, _ = service.accept()
        with served:
            served.settimeout(0.5)
            with pytest.raises(TimeoutError):
                served.sendall(MUCH)
        assert asking.recv(1) == b"\0"


def test_all_that_a_service_sent_before_it_ended_arrives(service: socket.socket) -> None:
    """However late its client reads it."""
    sent = MUCH[:300_000]
    with nothing_left(), carried(service) as connect:
        asking = connect()
        asking.shutdown(socket.SHUT_WR)
        served, _ = service.accept()
        with served:
            served.sendall(sent)
        with asking.makefile("rb") as answer:
            assert answer.read() == sent
