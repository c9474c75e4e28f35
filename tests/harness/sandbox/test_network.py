"""What a program in bubblewrap reaches over the network: services that it is given."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.sandbox.programs import DAEMON, HOLD, Alive, program
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.servers.forwarding import MOST_CONNECTIONS
from tracegrade_harness.sandbox.bwrap import Bubblewrap

ASK = """
import socket

def ask(host, port):
    try:
        with socket.create_connection((host, port), timeout=10) as asked:
            asked.sendall(b"hello")
            asked.shutdown(socket.SHUT_WR)
            return asked.makefile().read() or "nothing"
    except OSError as error:
        return type(error).__name__ if error.errno is None else error.strerror
"""


@contextmanager
def echo() -> Iterator[ServiceAddress]:
    """Serve what returns all that it is sent, once it was sent."""

    def answer(asked: socket.socket) -> None:
        with asked:
            text = b""
            while more := asked.recv(65_536):
                text += more
            asked.sendall(text)

    def serve() -> None:
        while True:
            try:
                asked, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=[asked], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0), backlog=512) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield ServiceAddress(*server.getsockname())
        server.shutdown(socket.SHUT_RDWR)


def printed(
    bwrap: Bubblewrap, folder: Path, code: str, reachable: list[ServiceAddress] | None
) -> list[str]:
    """Return the lines that a program prints in a folder of its own."""
    folder.mkdir()
    told = program(folder, ASK + code, reachable=reachable)
    with bwrap.start(told) as running:
        running.wait(PATIENCE_SECS)
    assert told.stderr.read_text() == ""
    return told.stdout.read_text().splitlines()


def test_given_services_are_reached_and_no_others(bwrap: Bubblewrap, tmp_path: Path) -> None:
    """At their own ports, so that addresses in variables hold; with the network open, all are."""
    with echo() as given, echo() as other:
        both = f"for port in {given.port}, {other.port}:\n    print(ask('127.0.0.1', port))\n"
        outside = "print(ask('192.0.2.1', 80))\n"
        some = printed(bwrap, tmp_path / "some", both + outside, [given])
        none = printed(bwrap, tmp_path / "none", both + outside, [])
        opened = printed(bwrap, tmp_path / "open", both, None)

    assert some == ["hello", "Connection refused", "Network is unreachable"]
    assert none == ["Connection refused", "Connection refused", "Network is unreachable"]
    assert opened == ["hello", "hello"]


MUCH = """
import threading
def send(n):
    text = bytes([n]) * 3_000_000
    with socket.create_connection(("127.0.0.1", {port})) as asked:
        reading = threading.Thread(
            target=lambda: results.append(asked.makefile("rb").read() == text)
        )
        reading.start()
        asked.sendall(text)
        asked.shutdown(socket.SHUT_WR)
        reading.join()
results = []
threads = [threading.Thread(target=send, args=[n]) for n in range(8)]
for each in threads: each.start()
for each in threads: each.join()
print(results.count(True))
"""


def test_much_goes_both_ways(bwrap: Bubblewrap, tmp_path: Path) -> None:
    """Also over several connections at a time, each whole."""
    with echo() as given:
        told = MUCH.format(port=given.port)
        assert printed(bwrap, tmp_path / "root", told, [given]) == ["8"]


def test_a_service_that_is_gone_is_gone_inside(bwrap: Bubblewrap, tmp_path: Path) -> None:
    """A connection ends at once, without an answer."""
    with echo() as gone:
        pass
    code = f"print(ask('127.0.0.1', {gone.port}) in ('hello', 'TimeoutError'))"

    assert printed(bwrap, tmp_path / "root", code, [gone]) == ["False"]


MANY = """
import select, time
held = [socket.create_connection(("127.0.0.1", {port})) for _ in range({most} + 20)]
ended = set()
while len(ended) < 20:
    ended |= set(select.select(held, [], [])[0])
print(len(ended))
for each in held: each.close()
while ask("127.0.0.1", {port}) != "hello":
    time.sleep(0.05)
print("room")
"""


def test_connections_are_limited(bwrap: Bubblewrap, tmp_path: Path) -> None:
    """Those above the limit are ended; when others have ended, there is room again."""
    with echo() as given:
        told = MANY.format(port=given.port, most=MOST_CONNECTIONS)
        assert printed(bwrap, tmp_path / "root", told, [given]) == ["20", "room"]


def test_a_port_that_lives_on_inside_is_named(bwrap: Bubblewrap, tmp_path: Path) -> None:
    """A daemon listens in the sandbox's own network; ports that lead out are none of its."""
    serve = "server = socket.create_server(('127.0.0.1', 0))\nprint(server.getsockname()[1])\n"
    code = HOLD + DAEMON + serve + "sys.stdout.flush()\ndaemon()\n"
    with echo() as given, Alive(tmp_path) as alive:
        told = program(tmp_path, code, reachable=[given])
        with bwrap.start(told) as running:
            running.wait(PATIENCE_SECS)
            wait_until(alive.ready)
            ports = [name for name in running.leftovers() if name.startswith("port:")]

    assert ports == [f"port:tcp/{told.stdout.read_text().strip()}"]
