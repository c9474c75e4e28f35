"""An operator's view: health, readiness, counters; and files that only the owner can read."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.collector.running import Collector, collecting, trace_body, trace_request
from tests.collector.transports import transports

from tracegrade_collector.edge.counters import Counters


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    """A collector for one test alone."""
    with collecting(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector for tests that do not count what it got."""
    with collecting(tmp_path_factory.mktemp("shared")) as running:
        yield running


def counters(collector: Collector) -> str:
    """Return all counters."""
    return collector.request("GET", "/metrics").body.decode()


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_pages_are_only_read(shared: Collector, path: str) -> None:
    """GET and HEAD are answered; the response to another method names these."""
    found = [shared.request(method, path) for method in ("GET", "HEAD", "POST", "DELETE")]

    assert [answer.status for answer in found] == [200, 200, 405, 405]
    assert found[2].headers["allow"] == "GET, HEAD"


def test_counters_name_reasons(collector: Collector) -> None:
    """What came, what was refused and why can be watched."""
    request = trace_request(1, 2, 3)
    request.resource_spans[0].scope_spans[0].spans[0].trace_id = b""
    collector.post("/v1/traces", request.SerializeToString())
    collector.post("/v1/logs", b"\xff")
    found = counters(collector)

    assert 'tracegrade_collector_received_items_total{signal="traces"} 3' in found
    assert f'received_bytes_total{{signal="traces"}} {request.ByteSize()}' in found
    assert 'rejected_items_total{reason="trace_id' in found
    assert 'quarantined_requests_total{kept="true",signal="logs"} 1' in found
    assert 'refused_requests_total{reason="MalformedRequest"} 1' in found


def test_durations_and_what_is_held_can_be_watched(collector: Collector) -> None:
    """Each protocol has its histogram; what is under way now is a number that goes down again."""
    for transport in transports(collector).values():
        transport.send(transport.encode(trace_request(1)))
    with collector.busy_with(500):
        held = counters(collector)
    found = counters(collector)

    for protocol, count in (("http", 2), ("grpc", 1)):
        bucket = f'request_duration_seconds_bucket{{protocol="{protocol}",le="+Inf"}} {count}'
        assert bucket in found
    assert re.search(r"http_connections [1-9]", held)
    assert re.search(r"in_flight_bytes \d", held)
    assert "tracegrade_collector_wal_bytes " in found


def test_counters_are_in_prometheus_text_format(shared: Collector) -> None:
    """Each line is a name, perhaps labels, and a number, under the type of its name."""
    for transport in transports(shared).values():
        transport.send(transport.encode(trace_request(1)))
    answer = shared.request("GET", "/metrics")
    families = re.split(r"^# TYPE (?=\S)", answer.body.decode(), flags=re.MULTILINE)
    heads = [family.splitlines()[0].split() for family in families[1:]]
    parts = {"histogram": "(_bucket|_sum|_count)", "counter": "", "gauge": ""}
    sample = r'(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+'

    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert families[0] == ""
    assert len({name for name, _ in heads}) == len(heads)
    for (name, kind), family in zip(heads, families[1:], strict=True):
        assert kind == "counter" if name.endswith("_total") else kind != "counter"
        for line in family.splitlines()[1:]:
            assert re.fullmatch(name + parts[kind] + sample, line)
    assert {kind for _, kind in heads} == parts.keys()


def test_gauges_are_exact() -> None:
    """Ten gigabytes of log are not rounded to six digits."""
    counters = Counters()
    counters.gauge("wal_bytes", lambda: 10_737_418_241)

    assert counters.prometheus_text().endswith("wal_bytes 10737418241\n")


def test_files_are_private(collector: Collector) -> None:
    """Only the owner can read the agents' content."""
    collector.post("/v1/traces", trace_body(1, 0))
    collector.post("/v1/traces", b"\xff")
    collector.stop()

    files = [collector.lake / "wal", *collector.lake.rglob("*")]
    assert [path for path in files if path.stat().st_mode & 0o077] == []
