"""OTLP/HTTP: every answer that the protocol demands, from a real collector.

Specification: https://opentelemetry.io/docs/specs/otlp, "OTLP/HTTP".
"""

import gzip
import hashlib
import http.client
import json
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from google.rpc.code_pb2 import Code
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from .running import (
    JSON,
    PROTOBUF,
    Collector,
    collecting,
    landed,
    landed_ids,
    log_body,
    read_answer,
    trace_body,
    trace_request,
    wait_until,
)

LIMIT = 1 << 20
GZIP = PROTOBUF | {"Content-Encoding": "gzip"}


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector whose requests may have one megabyte."""
    with collecting(tmp_path_factory.mktemp("lake"), max_request_bytes=LIMIT) as running:
        yield running


@pytest.fixture
def own_collector(tmp_path: Path) -> Iterator[Collector]:
    """A collector for one test alone, which may stop it."""
    with collecting(tmp_path, max_request_bytes=LIMIT) as running:
        yield running


def quarantined(collector: Collector) -> list[bytes]:
    """Return the contents of the quarantine."""
    return [file.read_bytes() for file in (collector.lake / "quarantine").iterdir()]


def test_empty_protobuf_request_is_accepted(collector: Collector) -> None:
    """No bytes at all are an empty request, and its answer is empty too."""
    answer = collector.post("/v1/traces")

    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "application/x-protobuf"


def test_empty_json_request_is_accepted(collector: Collector) -> None:
    """The answer to JSON is JSON."""
    answer = collector.post("/v1/logs", b"{}", JSON)

    assert (answer.status, answer.body) == (200, b"{}")
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("body", [trace_body(1)[:-3], hashlib.sha512(b"noise").digest()])
def test_bytes_that_are_no_request_are_refused_and_kept(collector: Collector, body: bytes) -> None:
    """A truncated message and random bytes are the client's fault, and not thrown away."""
    answer = collector.post("/v1/traces", body)

    violations = BadRequest()
    assert answer.status == 400
    assert answer.error.code == Code.INVALID_ARGUMENT
    assert answer.error.details[0].Unpack(violations)
    assert body in quarantined(collector)


def test_malformed_json_is_refused_in_json(collector: Collector) -> None:
    """The error comes in the request's encoding and says where the fault is."""
    answer = collector.post("/v1/traces", b'{"resourceSpans": 7}', JSON)

    assert answer.status == 400
    assert "resourceSpans" in answer.error.message


def test_deeply_nested_json_is_refused(collector: Collector) -> None:
    """A hundred thousand brackets neither crash nor stop the collector."""
    answer = collector.post("/v1/traces", b"[" * 100_000, JSON)

    assert answer.status == 400
    assert collector.request("GET", "/healthz").status == 200


def test_logs_never_become_spans(own_collector: Collector) -> None:
    """A logs request at the traces path is refused, or its items are."""
    answer = own_collector.post("/v1/traces", log_body("hello"))
    own_collector.stop()

    response = ExportTraceServiceResponse.FromString(answer.body) if answer.status == 200 else None
    assert answer.status == 400 or (response and response.partial_success.rejected_spans == 1)
    assert landed_ids(own_collector.lake) == []


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}])
def test_other_content_types_are_refused(collector: Collector, headers: dict[str, str]) -> None:
    """What is neither protobuf nor JSON is 415, with a body that people can read."""
    answer = collector.post("/v1/traces", trace_body(1), headers)

    assert answer.status == 415
    assert "application/json" in answer.error.message


@pytest.mark.parametrize(
    "content_type", ["application/x-protobuf; charset=x", "Application/X-Protobuf"]
)
def test_content_type_may_have_parameters(collector: Collector, content_type: str) -> None:
    """Only the media type counts, in any case."""
    assert collector.post("/v1/traces", b"", {"Content-Type": content_type}).status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "HEAD", "DELETE", "OPTIONS"])
def test_only_post_is_allowed(collector: Collector, method: str) -> None:
    """Any other method is told which one to use."""
    answer = collector.request(method, "/v1/traces")

    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "path", ["/", "/v1/traces/", "//v1/traces", "/%2Fv1/traces", "/v1/trace", "/v1/metrics"]
)
def test_other_paths_are_not_redirected(collector: Collector, path: str) -> None:
    """Exporters take a redirect for success, so that the data would be lost."""
    answer = collector.post(path, trace_body(1))

    assert answer.status == 404
    assert answer.error.code == Code.NOT_FOUND


def test_gzip_and_deflate_are_understood(own_collector: Collector) -> None:
    """Both compressions that exporters offer arrive; gzip in several members too."""
    half = trace_body(1)
    members = gzip.compress(half) + gzip.compress(trace_body(2))
    first = own_collector.post("/v1/traces", members, GZIP)
    deflated = zlib.compress(trace_body(3))
    second = own_collector.post("/v1/traces", deflated, PROTOBUF | {"Content-Encoding": "deflate"})
    own_collector.stop()

    assert (first.status, second.status) == (200, 200)
    assert landed_ids(own_collector.lake) == [1, 2, 3]


def _with_wrong_checksum(body: bytes) -> bytes:
    return body[:-8] + bytes(4) + body[-4:]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(trace_body(1), id="plain"),
        pytest.param(b"", id="nothing"),
        pytest.param(gzip.compress(trace_body(1))[:-9], id="truncated"),
        pytest.param(_with_wrong_checksum(gzip.compress(trace_body(1))), id="wrong checksum"),
        pytest.param(gzip.compress(trace_body(1)) + b"garbage", id="trailing garbage"),
        pytest.param(gzip.compress(gzip.compress(trace_body(1))), id="compressed twice"),
    ],
)
def test_broken_gzip_is_refused(collector: Collector, body: bytes) -> None:
    """Nothing is read from a body that is not whole."""
    answer = collector.post("/v1/traces", body, GZIP)

    assert answer.status == 400
    assert answer.error.code == Code.INVALID_ARGUMENT


def test_unknown_compression_is_refused(collector: Collector) -> None:
    """The answer names those that are known."""
    headers = PROTOBUF | {"Content-Encoding": "br"}
    answer = collector.post("/v1/traces", trace_body(1), headers)

    assert answer.status == 415
    assert "gzip" in answer.error.message


@pytest.mark.parametrize("members", [1, 3])
def test_inflated_size_is_limited(collector: Collector, members: int) -> None:
    """A small body that becomes large is refused, whether it has one member or several."""
    body = gzip.compress(bytes(LIMIT // members + 1)) * members
    answer = collector.post("/v1/traces", body, GZIP)

    assert answer.status == 413


def test_gzip_bomb_costs_no_memory(collector: Collector) -> None:
    """A gigabyte of zeros is refused in a second without ever being in memory."""
    compressor = zlib.compressobj(9, wbits=31)
    chunk = bytes(1 << 24)
    bomb = b"".join(compressor.compress(chunk) for _ in range(60)) + compressor.flush()
    before = _peak_memory_bytes(collector)
    answer = collector.post("/v1/traces", bomb, GZIP)

    assert answer.status == 413
    assert _peak_memory_bytes(collector) - before < 8 * LIMIT


def _peak_memory_bytes(collector: Collector) -> int:
    """Return the most memory that the receiver ever held."""
    status = Path(f"/proc/{collector.process.pid}/status")
    if not status.exists():
        pytest.skip("reads memory from /proc")
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) << 10


def test_declared_size_is_refused_before_the_body(collector: Collector) -> None:
    """The answer comes although not a byte of the body was sent."""
    connection = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=5)
    connection.putrequest("POST", "/v1/traces")
    for name, value in (PROTOBUF | {"Content-Length": str(LIMIT + 1)}).items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = read_answer(connection)
    connection.close()

    assert answer.status == 413
    assert answer.error.code == Code.INVALID_ARGUMENT


def test_oversized_body_is_read_so_that_the_answer_arrives(collector: Collector) -> None:
    """A client that sends everything first still learns why it was refused."""
    answer = collector.post("/v1/traces", bytes(2 * LIMIT))

    assert (answer.status, answer.headers["connection"]) == (413, "close")


def test_chunked_body_is_cut_at_the_limit(collector: Collector) -> None:
    """A body without a declared size is refused once it passes the limit, and the line closed."""
    chunks = iter([bytes(LIMIT // 4)] * 8)
    answer = collector.request("POST", "/v1/traces", chunks, PROTOBUF)

    assert (answer.status, answer.headers["connection"]) == (413, "close")


def test_nesting_has_a_limit(own_collector: Collector) -> None:
    """47 arrays inside one another are stored; more are refused, kept, and do no harm."""
    accepted = own_collector.post("/v1/traces", _nested(47))
    refused = [own_collector.post("/v1/traces", _nested(depth)) for depth in (48, 10_000)]
    own_collector.stop()

    assert accepted.status == 200
    assert [answer.status for answer in refused] == [400, 400]
    assert len(quarantined(own_collector)) == 2
    assert landed(own_collector.lake).num_rows == 1


def _nested(depth: int) -> bytes:
    """Return a request with an attribute of so many arrays; protobuf itself writes only 100."""
    value = AnyValue(string_value="deep").SerializeToString()
    for _ in range(depth):
        value = _field(5, _field(1, value))  # AnyValue.array_value.values
    request = trace_body(1)
    attribute = _field(9, _field(1, b"key") + _field(2, value))  # Span.attributes
    span = trace_request(1).resource_spans[0].scope_spans[0].spans[0].SerializeToString()
    assert span in request
    return _field(1, _field(2, _field(2, span + attribute)))


def _field(number: int, content: bytes) -> bytes:
    """Return a length-delimited protobuf field."""
    size, length = len(content), bytearray()
    while size >= 0x80:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([number << 3 | 2]) + bytes([*length, size]) + content


def test_json_ids_are_hex_in_any_case(own_collector: Collector) -> None:
    """Upper and lower case are equal; other ids cost only their own span."""
    ids = ["00000000000000AB", "00000000000000ac", "abc", "AAAAAAAAAKw="]
    spans = [{"traceId": "0" * 31 + "1", "spanId": span_id, "name": "x"} for span_id in ids]
    body = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    answer = own_collector.post("/v1/traces", json.dumps(body).encode(), JSON)
    own_collector.stop()

    assert answer.status == 200
    (letters,) = (own_collector.lake / "dead_letters").iterdir()
    kept = [json.loads(line)["item"]["spanId"] for line in letters.read_text().splitlines()]
    assert json.loads(answer.body)["partialSuccess"]["rejectedSpans"] == "2"
    assert landed_ids(own_collector.lake) == [0xAB, 0xAC]
    assert kept == ["abc", "AAAAAAAAAKw="]


def test_bad_ids_cost_only_their_span(own_collector: Collector) -> None:
    """The others are stored; the refused ones are counted, and kept with the reason."""
    request = trace_request(1, 2, 3, 4, 5, 6, 7)
    spans = request.resource_spans[0].scope_spans[0].spans
    for span, trace_id in zip(spans[:4], (b"", bytes(16), b"x" * 15, b"x" * 17), strict=True):
        span.trace_id = trace_id
    spans[4].span_id, spans[5].span_id = bytes(8), b"short"
    answer = own_collector.post("/v1/traces", request.SerializeToString())
    own_collector.stop()

    response = ExportTraceServiceResponse.FromString(answer.body)
    (letters,) = (own_collector.lake / "dead_letters").iterdir()
    names = [json.loads(line)["item"]["name"] for line in letters.read_text().splitlines()]
    assert (answer.status, response.partial_success.rejected_spans) == (200, 6)
    assert "trace_id" in response.partial_success.error_message
    assert landed_ids(own_collector.lake) == [7]
    assert names == [f"span {number}" for number in range(1, 7)]


def test_counters_name_reasons(own_collector: Collector) -> None:
    """What came, what was refused and why can be watched."""
    request = trace_request(1, 2, 3)
    request.resource_spans[0].scope_spans[0].spans[0].trace_id = b""
    own_collector.post("/v1/traces", request.SerializeToString())
    own_collector.post("/v1/logs", b"\xff")
    counters = own_collector.request("GET", "/metrics").body.decode()

    assert 'tracegrade_collector_received_items_total{signal="traces"} 3' in counters
    assert 'rejected_items_total{reason="trace_id' in counters
    assert 'quarantined_requests_total{kept="true",signal="logs"} 1' in counters


def test_every_kind_of_value_is_stored(own_collector: Collector) -> None:
    """Bytes, lists, mixed and nested ones, and a value that is not set, come as they were sent."""
    request = trace_request(1)
    attributes = request.resource_spans[0].scope_spans[0].spans[0].attributes
    attributes.add(key="bytes").value.bytes_value = b"\0\xff"
    attributes.add(key="unset").value.SetInParent()
    mixed = attributes.add(key="mixed").value.array_value.values
    mixed.add(string_value="a")
    mixed.add(int_value=1)
    own_collector.post("/v1/traces", request.SerializeToString())
    own_collector.stop()

    (row,) = landed(own_collector.lake).to_pylist()
    assert row["attribute_types"] == "yna"
    assert dict(row["attributes"]) == {"bytes": "AP8=", "unset": None, "mixed": '["a",1]'}


def test_overload_is_answered_with_a_short_wait(tmp_path: Path) -> None:
    """What does not fit into memory is refused, in both forms that clients know."""
    limits = {"max_in_flight_bytes": 2000, "max_request_bytes": 1000}
    with collecting(tmp_path, **limits) as collector, ExitStack() as others:
        for _ in range(3):
            others.enter_context(collector.busy_with(600))
        wait_until(lambda: collector.post("/v1/traces", bytes(600)).status == 503)
        answer = collector.post("/v1/traces", bytes(600))

    delay = RetryInfo()
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert answer.error.code == Code.UNAVAILABLE
    assert answer.error.details[0].Unpack(delay)
    assert delay.retry_delay.seconds == 1


def test_connection_serves_many_requests(collector: Collector) -> None:
    """A connection stays open after an answer, also after an error."""
    connection = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=5)
    statuses = []
    for body in (b"", b"\xff", b""):
        connection.request("POST", "/v1/traces", body, PROTOBUF)
        statuses.append(read_answer(connection).status)
    connection.close()

    assert statuses == [200, 400, 200]


def test_files_are_private(own_collector: Collector) -> None:
    """Nobody but the owner reads what agents said."""
    own_collector.post("/v1/traces", trace_body(1, 0))
    own_collector.post("/v1/traces", b"\xff")
    own_collector.stop()

    files = [own_collector.lake / "wal", *own_collector.lake.rglob("*")]
    assert [path for path in files if path.stat().st_mode & 0o077] == []
