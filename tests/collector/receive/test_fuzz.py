"""For any bytes, the answer is an allowed one, and the collector is unchanged."""

import gzip
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.collector.otlp_samples import log_requests, span_requests
from tests.collector.running import JSON, PROTOBUF, Collector, collecting, trace_body
from tests.collector.transports import ACCEPTED, BAD_DATA, TOO_LARGE, Transport, answers, head, raw

LIMIT = 64 << 10
ALLOWED = {ACCEPTED, BAD_DATA, TOO_LARGE}
SIZES = {
    "max_request_bytes": LIMIT,
    "max_items_per_request": 200,
    "max_values_per_request": 2000,
}
MORE_MEMORY = 30 << 20  # what a process may grow by while it warms up
many = settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector whose requests may have 64 kB and a few hundred items."""
    with collecting(tmp_path_factory.mktemp("lake"), **SIZES) as running:
        yield running


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector that waits a second for the rest of a head or a body."""
    lake = tmp_path_factory.mktemp("hasty")
    with collecting(lake, **SIZES, max_head_secs=1, max_body_secs=1) as running:
        yield running


@st.composite
def damaged(draw: Callable[[Any], Any], whole: st.SearchStrategy[bytes]) -> bytes:
    """Return bytes with some of them changed, cut out or repeated."""
    body = bytearray(draw(whole))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(body)))
        size = draw(st.integers(0, 8))
        body[at : at + size] = draw(
            st.binary(max_size=8) | st.just(bytes(body[at : at + size]) * 3)
        )
    return bytes(body)


signals = st.sampled_from(["traces", "logs"])


@many
@given(body=st.binary(max_size=300), signal=signals, compressed=st.booleans())
def test_random_bytes_have_an_allowed_answer(
    transport: Transport, body: bytes, signal: str, compressed: bool
) -> None:
    """Over each transport, compressed or not."""
    assert transport.send(body, signal, compressed=compressed).verdict in ALLOWED


@many
@given(data=st.data(), signal=signals)
def test_damaged_requests_have_an_allowed_answer(
    transport: Transport, data: st.DataObject, signal: str
) -> None:
    """Bytes of real requests, some of them changed."""
    body = data.draw(damaged((span_requests | log_requests).map(transport.encode)))

    assert transport.send(body, signal).verdict in ALLOWED


@many
@given(body=damaged(st.just(gzip.compress(trace_body(*range(1, 50)), mtime=0))))
def test_damaged_compression_has_an_allowed_answer(collector: Collector, body: bytes) -> None:
    """Bytes of gzip, some of them changed."""
    answer = collector.post("/v1/traces", body, PROTOBUF | {"Content-Encoding": "gzip"})

    assert answer.status in (200, 400, 413)


requests = st.sampled_from(
    [
        head("Content-Length: 60", "Connection: close") + trace_body(1),
        head("Transfer-Encoding: chunked", "Connection: close") + b"2\r\n\x0a\0\r\n0\r\n\r\n",
    ]
)


@settings(many, max_examples=4)
@given(sent=st.lists(damaged(requests), min_size=40, max_size=40))
def test_damaged_http_has_answers_or_none(hasty: Collector, sent: list[bytes]) -> None:
    """Every answer is a whole one, and a connection that waits for more ends in time."""
    with ThreadPoolExecutor(40) as pool:
        received = list(pool.map(lambda each: received_for(hasty, each), sent))

    for each in received:
        assert set(answers(each)) <= {200, 400, 404, 405, 411, 413, 415, 431, 503}
        assert each == b"" or each.startswith(b"HTTP/1.1 ")


def received_for(collector: Collector, sent: bytes) -> bytes:
    """Return what comes back for these bytes, with a request behind them that ends it all."""
    return raw(collector.port, sent + head("Content-Length: 0", "Connection: close"))


def test_collector_is_as_it_was(collector: Collector) -> None:
    """It runs, holds nothing, has kept what it refused as bad data, and stops as asked."""
    before = collector.numbers()
    memory = resident_bytes(collector)
    for number in range(100):
        collector.post(
            "/v1/traces", bytes([255, number % 256]) * 50, JSON if number % 2 else PROTOBUF
        )
    after = collector.numbers()

    kept = len(list((collector.lake / "quarantine").glob("[!.]*")))
    assert quarantined(after) - quarantined(before) == 100
    assert kept == quarantined(after)
    assert after["in_flight_bytes"] == 0
    assert resident_bytes(collector) - memory < MORE_MEMORY
    assert collector.stop() == 0


def quarantined(counts: dict[str, float]) -> float:
    """Return how many requests were kept in quarantine."""
    return sum(
        count
        for name, count in counts.items()
        if name.startswith("quarantined_requests_total") and 'kept="true"' in name
    )


def resident_bytes(collector: Collector) -> int:
    """Return how much memory the receiver holds."""
    status = Path(f"/proc/{collector.process.pid}/status")
    if not status.exists():
        pytest.skip("reads memory from /proc")
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) << 10
