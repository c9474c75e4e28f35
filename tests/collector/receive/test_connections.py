"""Connections that are slow, too many, or lie: they end in time, and others notice nothing."""

import http.client
import resource
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import grpc
import pytest
from google.rpc.code_pb2 import Code
from tests.collector.running import (
    PROTOBUF,
    Collector,
    collecting,
    landed_ids,
    processor_secs,
    read_answer,
    trace_body,
)
from tests.collector.transports import SERVICES, answers, connect, head, raw
from tests.waiting import PATIENCE_SECS, wait_until

SHORT_SECS = 1.0  # time for a head, for a body; looked at every half second
ORIGIN = "https://app.example"
EXPORT = f"/{SERVICES['traces']}/Export"


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector that is open to the pages of one origin."""
    lake = tmp_path_factory.mktemp("lake")
    with collecting(lake, max_request_bytes=1 << 20, cors_origins=ORIGIN) as running:
        yield running


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector with short deadlines."""
    lake = tmp_path_factory.mktemp("hasty")
    with collecting(lake, max_head_secs=SHORT_SECS, max_body_secs=SHORT_SECS) as running:
        yield running


def counter(collector: Collector, name: str) -> float:
    """Return a number of /metrics, 0 if it is not there yet."""
    found = [value for key, value in collector.numbers().items() if name in key]
    return found[0] if found else 0.0


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(head()[:-10], [], id="half a head"),
        pytest.param(head("Content-Length: 9") + b"123", [503], id="half a body"),
        pytest.param(
            head("Transfer-Encoding: chunked") + b"3\r\nab",
            [503],
            id="half a chunk",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            head("Content-Length: 9", path="/v1/x") + b"123",
            [404],
            id="half of an unwanted body",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_slow_request_is_ended(hasty: Collector, sent: bytes, statuses: list[int]) -> None:
    """The connection is closed; if there was a head, with an error that lets it be sent again."""
    assert answers(raw(hasty.port, sent)) == statuses


def test_byte_after_byte_is_too_slow(hasty: Collector) -> None:
    """Each byte in time does not make the whole in time; what it held is free again."""
    with closing(connect(hasty)) as connection:
        connection.connect()
        connection.sock.sendall(head("Content-Length: 1000000"))
        with pytest.raises(ConnectionError):
            wait_until(lambda: connection.sock.sendall(b"x"))

    wait_until(lambda: counter(hasty, "in_flight_bytes") == 0)


def test_slow_call_is_ended_in_time(hasty: Collector) -> None:
    """A call whose message does not come is ended, and may be sent again."""
    silent = threading.Event()
    with grpc.insecure_channel(hasty.grpc) as channel:
        stalled = channel.stream_unary(EXPORT).future(iter(lambda: silent.wait() and None, None))
        with pytest.raises(grpc.RpcError) as refused:
            stalled.result(timeout=PATIENCE_SECS)
        silent.set()

    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


def test_silent_grpc_connection_is_closed(hasty: Collector) -> None:
    """One that never begins to speak HTTP/2 loses its place."""
    host, _, port = hasty.grpc.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_SECS) as connection:
        while connection.recv(1 << 16):
            pass


def test_idle_connection_outlives_the_deadlines(hasty: Collector) -> None:
    """A pause between two requests is not a slow head."""
    with closing(connect(hasty)) as connection:
        connection.request("POST", "/v1/traces", b"", PROTOBUF)
        first = read_answer(connection)
        time.sleep(SHORT_SECS + 0.6)
        connection.sock.sendall(head("Content-Length: 0"))
        second = connection.sock.recv(1000)

    assert first.status == 200
    assert answers(second) == [200]


@pytest.mark.parametrize(
    "sent",
    [
        head("Content-Length: 4", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
        head("Transfer-Encoding: chunked", "Content-Length: 4") + b"0\r\n\r\n",
        head("Content-Length: 4", "Content-Length: 5") + b"abcde",
        head("Content-Length: -1"),
        head("Content-Length: 1 1") + b"a",
        head("Transfer-Encoding: gzip") + b"0\r\n\r\n",
        head("Transfer-Encoding: chunked, gzip") + b"0\r\n\r\n",
        head("Transfer-Encoding: xchunked") + b"0\r\n\r\n",
        head("Transfer-Encoding: chunked") + b"-1\r\n\r\n",
        head("Transfer-Encoding: chunked") + b"fffffffffffffffff\r\n",
        head("X : y"),
        head("X: y\nContent-Length: 3"),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        head("X: " + "y" * 70_000),
        head("X: " + "y" * 700_000),
        head("Transfer-Encoding: chunked") + b"1\r\n\n\r\n" * 70_000,
    ],
    ids=lambda sent: sent[60:100],
)
def test_malformed_request_ends_the_connection(collector: Collector, sent: bytes) -> None:
    """It has one answer, a 4xx with a Status, and nothing behind it is taken for a request."""
    smuggled = head("Content-Length: 0")
    received = raw(collector.port, sent + smuggled)
    found = answers(received)

    assert found in ([400], [431]) or (found == [] and is_large(sent))
    assert b"google.rpc.BadRequest" in received or found == []


def is_large(sent: bytes) -> bool:
    """Return whether an answer may get lost, since the connection is closed meanwhile."""
    return len(sent) > 1 << 16


def test_body_is_what_its_length_says(collector: Collector) -> None:
    """What follows a shorter length is the next request, and here it is none."""
    received = raw(collector.port, head("Content-Length: 0") + b"\x0a\x00 left over\r\n\r\n")

    assert answers(received) in ([200], [200, 400])


@pytest.mark.parametrize("version", [b"HTTP/1.0", b"HTTP/1.1"])
def test_body_whose_length_is_not_told_is_refused(collector: Collector, version: bytes) -> None:
    """HTTP takes it for an empty one, which would be acknowledged, and the spans lost."""
    sent = head().replace(b"HTTP/1.1", version) + trace_body(1)
    received = raw(collector.port, sent)

    assert answers(received)[0] == 411
    assert b"has no Content-Length" in received


def test_requests_sent_ahead_are_limited(collector: Collector) -> None:
    """Those before the limit are answered, then the connection is closed."""
    found = answers(raw(collector.port, head("Content-Length: 0") * 20_000))

    assert set(found) == {200}
    assert len(found) < 20_000


@pytest.mark.parametrize(
    ("lines", "path", "expected"),
    [
        (["Content-Length: 99999999999"], "/v1/traces", 413),
        (["Content-Length: 10"], "/v1/profiles", 404),
        (["Content-Length: 10", "Content-Encoding: br"], "/v1/traces", 415),
    ],
)
def test_refusal_comes_instead_of_continue(
    hasty: Collector, lines: list[str], path: str, expected: int
) -> None:
    """A client that asks before it sends is not asked to send in vain."""
    received = raw(hasty.port, head("Expect: 100-continue", *lines, path=path))

    assert answers(received) == [expected]


def test_continue_comes_before_the_answer(collector: Collector) -> None:
    """A client that asks whether to send may."""
    sent = head("Expect: 100-continue", "Content-Length: 0", "Connection: close")

    assert answers(raw(collector.port, sent))[-1] == 200


def test_body_of_a_request_that_offers_http2_is_stored(tmp_path: Path) -> None:
    """Java's client offers it at first; the offer is declined, and the spans are kept."""
    offer = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"]
    with collecting(tmp_path) as collector, closing(connect(collector)) as connection:
        connection.connect()
        for span_id, lines in enumerate([offer, offer, []], 1):
            body = trace_body(span_id)
            length = f"Content-Length: {len(body)}"
            connection.sock.sendall(head(*lines, length) + body[:10])
            time.sleep(0.05)
            connection.sock.sendall(body[10:])
            assert answers(connection.sock.recv(1000)) == [200]
        collector.stop()

    assert landed_ids(tmp_path) == [1, 2, 3]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", ORIGIN + ".evil.example"])
def test_foreign_page_may_not_send(collector: Collector, origin: str) -> None:
    """No header lets it, on the preflight or on any answer."""
    preflight = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    found = [
        collector.request("OPTIONS", "/v1/traces", b"", preflight),
        collector.post("/v1/traces", b"", PROTOBUF | {"Origin": origin}),
    ]

    assert [answer.status for answer in found] == [405, 200]
    assert not any("access-control-allow-origin" in answer.headers for answer in found)


def test_allowed_page_may_send(collector: Collector) -> None:
    """The preflight is answered 204, and both answers name the origin, never all of them."""
    preflight = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    asked = collector.request("OPTIONS", "/v1/traces", b"", preflight)
    sent = collector.post("/v1/traces", b"", PROTOBUF | {"Origin": ORIGIN})

    assert (asked.status, sent.status) == (204, 200)
    assert asked.headers["access-control-allow-origin"] == ORIGIN
    assert sent.headers["access-control-allow-origin"] == ORIGIN
    assert "authorization" in asked.headers["access-control-allow-headers"]


def test_idle_connections_make_room(tmp_path: Path) -> None:
    """One too many closes the one that has rested longest, never one with a request."""
    limits = {"max_connections": 20, "max_body_secs": 600, "max_request_bytes": 1000}
    with collecting(tmp_path, **limits) as collector, ExitStack() as opened:
        busy = [opened.enter_context(closing(connect(collector))) for _ in range(5)]
        for connection in busy:
            connection.putrequest("POST", "/v1/traces")
            connection.putheader("Content-Type", "application/x-protobuf")
            connection.putheader("Content-Length", "2")
            connection.endheaders(b"\xff")
        wait_until(lambda: counter(collector, "in_flight_bytes") == len(busy))
        for _ in range(100):
            idle = opened.enter_context(closing(connect(collector)))
            idle.connect()
        live = [collector.post("/v1/traces").status for _ in range(20)]
        for connection in busy:
            connection.send(b"\xff")
        finished = [read_answer(connection).status for connection in busy]
        wait_until(lambda: counter(collector, "http_connections") <= 20)

    assert live == [200] * 20
    assert finished == [400] * 5


@pytest.mark.slow
def test_ten_thousand_idle_connections_hurt_nobody(tmp_path: Path) -> None:
    """As many as this machine lets us open; others are answered as before, and memory is small."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(10_000, hard - 500)
    with collecting(tmp_path, max_head_secs=3600) as collector, ExitStack() as opened:
        before = memory_bytes(collector)
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", collector.port))
            opened.enter_context(closing(connection))
        started = processor_secs(collector.process.pid)
        statuses = [collector.post("/v1/traces", trace_body(1)).status for _ in range(50)]
        secs = processor_secs(collector.process.pid) - started
        grown = memory_bytes(collector) - before
        opened.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert statuses == [200] * 50
    assert secs < 10
    assert grown / count < 20_000


def memory_bytes(collector: Collector) -> int:
    """Return how much memory the receiver holds."""
    status = Path(f"/proc/{collector.process.pid}/status")
    if not status.exists():
        pytest.skip("reads memory from /proc")
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) << 10


def test_too_many_requests_are_to_be_sent_again(tmp_path: Path) -> None:
    """Beyond the limit there is an answer with a wait, and the connection is not just closed."""
    with collecting(tmp_path, max_concurrent_requests=3) as collector, ExitStack() as busy:
        for _ in range(3):
            busy.enter_context(collector.busy_with(1))
        wait_until(lambda: collector.post("/v1/traces").status == 503)
        refused = collector.post("/v1/traces")
        healthy = collector.request("GET", "/healthz")
        busy.close()
        wait_until(lambda: collector.post("/v1/traces").status == 200)

    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    assert refused.error.code == Code.UNAVAILABLE
    assert healthy.status == 200


def test_thousand_calls_at_once_are_all_answered(collector: Collector) -> None:
    """At worst, calls beyond a connection's limit must be sent again; then all have arrived."""
    with grpc.insecure_channel(collector.grpc) as channel:
        call = channel.unary_unary(EXPORT)
        waiting = list(range(1, 1001))
        while waiting:
            futures = {
                number: call.future(trace_body(number), timeout=PATIENCE_SECS)
                for number in waiting
            }
            codes = {number: future.code() for number, future in futures.items()}
            assert set(codes.values()) <= {grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE}
            waiting = [number for number in waiting if codes[number] is not grpc.StatusCode.OK]


def test_cancelled_calls_leave_nothing(collector: Collector) -> None:
    """A client that starts calls and resets them at once (rapid reset) is outlived."""
    silent = threading.Event()
    with grpc.insecure_channel(collector.grpc) as channel:
        start = channel.stream_unary(EXPORT)
        for _ in range(1000):
            start.future(iter(lambda: silent.wait() and None, None)).cancel()
        silent.set()
    with grpc.insecure_channel(collector.grpc) as channel:
        call = channel.unary_unary(EXPORT)
        wait_until(
            lambda: call.future(trace_body(1), timeout=PATIENCE_SECS).code() is grpc.StatusCode.OK
        )

    wait_until(lambda: counter(collector, "in_flight_bytes") == 0)


def test_flood_of_pings_is_sent_away(collector: Collector) -> None:
    """A client that only pings gets `too_many_pings`, and its connection is closed."""
    port = int(collector.grpc.rpartition(":")[2])
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, b"")

    assert b"too_many_pings" in raw(port, preface + frame(PING, bytes(8)) * 1000)


SETTINGS, PING = 4, 6


def frame(kind: int, content: bytes) -> bytes:
    """Return a frame of HTTP/2 about the whole connection."""
    return len(content).to_bytes(3) + bytes([kind, 0]) + bytes(4) + content


def test_call_with_a_large_head_is_refused(collector: Collector) -> None:
    """Metadata has a limit, and who goes beyond it is not asked to come again."""
    with grpc.insecure_channel(collector.grpc) as channel:
        call = channel.unary_unary(EXPORT)
        with pytest.raises(grpc.RpcError) as refused:
            call(b"", timeout=PATIENCE_SECS, metadata=[("x", "y" * 100_000)])

        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert call(b"", timeout=PATIENCE_SECS, metadata=[("x", "y" * 1000)]) == b""


def test_files_run_out_and_come_back(tmp_path: Path) -> None:
    """With hardly a file left requests are refused to be sent again, and then taken in."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with collecting(tmp_path) as collector:
        collector.lander_pid()
        collector.post("/v1/traces", trace_body(1))
        wait_until(lambda: landed_ids(tmp_path))
        few = len(list(Path(f"/proc/{collector.process.pid}/fd").iterdir())) + 8
        resource.prlimit(collector.process.pid, resource.RLIMIT_NOFILE, (few, hard))
        with ExitStack() as opened:
            for _ in range(40):
                connection = socket.create_connection(
                    ("127.0.0.1", collector.port), timeout=PATIENCE_SECS
                )
                opened.enter_context(closing(connection))
            time.sleep(0.3)
            alive = collector.is_running
        resource.prlimit(collector.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
        wait_until(lambda: is_taken_in(collector))
        exit_code = collector.stop()

    assert alive
    assert exit_code == 0
    assert landed_ids(tmp_path, with_resent=False) == [1]


def is_taken_in(collector: Collector) -> bool:
    """Return whether a request is acknowledged."""
    try:
        return collector.post("/v1/traces", trace_body(1)).status == 200
    except (http.client.HTTPException, OSError):
        return False


def test_connections_are_served_side_by_side(collector: Collector) -> None:
    """Forty clients at once are all answered."""
    with ThreadPoolExecutor(40) as pool:
        found = list(
            pool.map(lambda n: collector.post("/v1/traces", trace_body(n + 1)), range(200))
        )

    assert {answer.status for answer in found} == {200}
