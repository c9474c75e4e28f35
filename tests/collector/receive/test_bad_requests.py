"""Requests that the collector is known to meet, by their number in docs/reliability.md, section 3.

A test named `test_input_07_…` is about input 7; `test_bad_spans.py` has those of spans and values.
"""

import gzip
import hashlib
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from tests.collector.encoding.wire_bytes import field
from tests.collector.running import (
    JSON,
    PROTOBUF,
    Collector,
    collecting,
    landed,
    log_body,
    read_answer,
    trace_body,
    trace_request,
)
from tests.collector.transports import (
    ACCEPTED,
    BAD_DATA,
    TOO_LARGE,
    Outcome,
    Transport,
    connect,
    transports,
)
from tests.slow import slow_after
from tests.waiting import wait_until

from .bad_inputs import (
    LIMIT,
    MILLION,
    json_span,
    json_spans,
    only_span,
    quarantined,
    rows_of,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
}
coded = pytest.mark.parametrize("coding", COMPRESSIONS)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector with the default limits."""
    with collecting(tmp_path_factory.mktemp("large")) as running:
        yield running


def test_input_01_no_bytes_are_an_empty_request(wire: Transport) -> None:
    """The answer is empty too."""
    outcome = wire.send(b"")

    assert (outcome.verdict, outcome.body) == (ACCEPTED, b"")


def test_input_02_empty_json_object_is_an_empty_request(collector: Collector) -> None:
    """The answer to JSON is JSON."""
    answer = collector.post("/v1/traces", b"{}", JSON)

    assert (answer.status, answer.body) == (200, b"{}")
    assert answer.headers["content-type"] == "application/json"


def test_input_03_truncated_message_is_refused_and_kept(
    wire: Transport, collector: Collector, span_id: int
) -> None:
    """Nothing of it is stored, and nothing of it is thrown away."""
    body = trace_body(span_id)[:-3]
    outcome = wire.send(body)

    assert outcome.verdict == BAD_DATA
    assert outcome.describes_bad_data
    assert body in quarantined(collector)


def test_input_04_random_bytes_are_bad_data(transport: Transport) -> None:
    """And no failure of the collector."""
    bodies = [hashlib.sha512(bytes([n])).digest() for n in range(20)]
    verdicts = [transport.send(body).verdict for body in bodies]

    assert set(verdicts) <= {BAD_DATA, ACCEPTED}  # a few could be unknown fields
    assert verdicts.count(BAD_DATA) >= 18


def test_input_05_logs_never_become_spans(
    wire: Transport, collector: Collector, span_id: int
) -> None:
    """A logs request at the place for traces is refused, or its items are."""
    outcome = wire.send(log_body("in the wrong place"))
    wire.send(wire.encode(trace_request(span_id)))
    rows_of(collector, span_id)  # what was sent before it would have landed before it

    rejected = outcome.response.partial_success.rejected_spans if outcome.response else 0
    assert outcome.verdict == BAD_DATA or rejected == 1
    assert "in the wrong place" not in str(landed(collector.lake).to_pylist())


@pytest.mark.parametrize("headers", [{}, {"Content-Type": ""}], ids=["none", "empty"])
def test_input_06_no_content_type_is_refused(
    collector: Collector, headers: dict[str, str]
) -> None:
    """415 names those that are understood."""
    answer = collector.post("/v1/traces", trace_body(1), headers)

    assert answer.status == 415
    assert "application/json" in answer.error.message


@pytest.mark.parametrize(
    "content_type",
    ["application/x-protobuf; charset=x", "Application/X-Protobuf", "application/x-protobuf ;a=b"],
)
def test_input_07_parameters_of_the_content_type_are_ignored(
    collector: Collector, content_type: str
) -> None:
    """Only the media type counts, in any case."""
    answer = collector.post("/v1/traces", b"", {"Content-Type": content_type})

    assert (answer.status, answer.headers["content-type"]) == (200, "application/x-protobuf")


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/protobuf+x", "application/grpc", "json"]
)
def test_input_08_other_content_types_are_refused(collector: Collector, content_type: str) -> None:
    """What is neither protobuf nor JSON is 415."""
    answer = collector.post("/v1/traces", trace_body(1), {"Content-Type": content_type})

    assert answer.status == 415


@pytest.mark.parametrize("method", ["GET", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH"])
def test_input_09_only_post_is_allowed(collector: Collector, method: str) -> None:
    """The response to any other method names the right one."""
    answer = collector.request(method, "/v1/traces")

    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "path",
    [
        *("/", "//", "/v1", "/v1/traces/", "//v1/traces", "/v1//traces", "/./v1/traces"),
        *("/%2Fv1/traces", "/v1%2Ftraces", "/v1/traces%00", "/v1/traces;a", "/V1/Traces"),
        *("/v1/../v1/traces", "/v1/trace", "/v1/metric", "/v1/profiles", "/metrics/"),
    ],
)
def test_input_10_other_paths_are_not_redirected(collector: Collector, path: str) -> None:
    """Exporters take a redirect for success, so that the data would be lost."""
    answer = collector.post(path, trace_body(1))

    assert answer.status == 404
    assert "/v1/traces" in answer.error.message


@coded
def test_input_11_body_that_is_not_compressed_is_refused(
    collector: Collector, coding: str
) -> None:
    """What Content-Encoding says has to be true; nothing is guessed."""
    headers = PROTOBUF | {"Content-Encoding": coding}
    found = [collector.post("/v1/traces", body, headers) for body in (trace_body(1), b"")]

    assert [answer.status for answer in found] == [400, 400]
    assert coding in found[0].error.message


@coded
@pytest.mark.parametrize("damage", ["cut", "garbage behind", "flipped"])
def test_input_12_damaged_compression_is_refused(
    collector: Collector, coding: str, damage: str
) -> None:
    """Nothing is read from a body that is not whole."""
    body = COMPRESSIONS[coding](trace_body(*range(1, 100)))
    if coding == "zstd":  # with a checksum, as the others have
        options: dict[int, int] = {zstd.CompressionParameter.checksum_flag: 1}
        body = zstd.compress(trace_body(*range(1, 100)), options=options)
    damaged = {
        "cut": body[:-1],
        "garbage behind": body + b"garbage",
        "flipped": body[:-2] + bytes([body[-2] ^ 1]) + body[-1:],
    }[damage]
    answer = collector.post("/v1/traces", damaged, PROTOBUF | {"Content-Encoding": coding})

    assert answer.status == 400


@coded
def test_input_13_limit_is_that_of_all_members_together(collector: Collector, coding: str) -> None:
    """Three thirds are accepted or refused as one body would be."""
    headers = PROTOBUF | {"Content-Encoding": coding}
    third = COMPRESSIONS[coding](bytes(LIMIT // 3 + 1))
    many = COMPRESSIONS[coding](b"") * 11_000

    assert collector.post("/v1/traces", third * 3, headers).status == 413
    assert collector.post("/v1/traces", many, headers).status == 400


@coded
def test_input_14_body_is_decompressed_once(collector: Collector, coding: str) -> None:
    """Bytes that were compressed twice are not a request."""
    body = COMPRESSIONS[coding](COMPRESSIONS[coding](trace_body(1)))
    twice = PROTOBUF | {"Content-Encoding": f"{coding}, {coding}"}

    answer = collector.post("/v1/traces", body, PROTOBUF | {"Content-Encoding": coding})
    assert answer.status == 400
    assert collector.post("/v1/traces", body, twice).status == 415


@coded
def test_input_15_bomb_costs_no_memory(large: Collector, coding: str) -> None:
    """Of a gigabyte of zeros no more than the limit is ever in memory."""
    before = peak_memory_bytes(large)
    answer = large.post("/v1/traces", bomb(coding), PROTOBUF | {"Content-Encoding": coding})

    assert answer.status == 413
    assert peak_memory_bytes(large) - before < 100 << 20  # what came out, and what holds it


def bomb(coding: str) -> bytes:
    """Return a gigabyte of zeros, compressed; its end is wrong, if anybody gets there."""
    if coding == "zstd":
        return zstd.compress(bytes(1 << 30))
    packer = zlib.compressobj(9, wbits=31 if coding == "gzip" else 15)
    first = packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + again * 63


def peak_memory_bytes(collector: Collector) -> int:
    """Return the most memory that the receiver ever held."""
    status = Path(f"/proc/{collector.process.pid}/status")
    if not status.exists():
        pytest.skip("reads memory from /proc")
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) << 10


@pytest.mark.parametrize("coding", ["br", "snappy", "gzip, deflate", "x" * 500])
def test_input_16_unknown_compression_is_refused(collector: Collector, coding: str) -> None:
    """The answer names those that are known."""
    answer = collector.post("/v1/traces", trace_body(1), PROTOBUF | {"Content-Encoding": coding})

    assert answer.status == 415
    assert "gzip" in answer.error.message
    assert len(answer.body) < 500


def test_input_17_declared_size_is_refused_before_the_body(large: Collector) -> None:
    """The answer comes although not a byte of the body was sent."""
    with closing(connect(large)) as connection:
        connection.putrequest("POST", "/v1/traces")
        for name, value in (PROTOBUF | {"Content-Length": str((64 << 20) + 1)}).items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = read_answer(connection)

    assert (answer.status, answer.headers["connection"]) == (413, "close")


def test_input_18_chunked_body_is_cut_at_the_limit(collector: Collector) -> None:
    """A body without a declared size is refused once it passes the limit, and the line closed."""
    chunks = iter([bytes(LIMIT // 4)] * 8)
    answer = collector.request("POST", "/v1/traces", chunks, PROTOBUF)

    assert (answer.status, answer.headers["connection"]) == (413, "close")


@pytest.mark.parametrize("compressed", [False, True])
def test_input_21_oversized_call_is_refused_for_good(
    all_transports: dict[str, Transport], compressed: bool
) -> None:
    """Without RetryInfo: sending the same again would not help."""
    outcome = all_transports["grpc"].send(bytes(LIMIT + 1), compressed=compressed)

    assert (outcome.verdict, outcome.waits) == (TOO_LARGE, ())


@pytest.mark.parametrize(
    ("depth", "verdict"), [(47, ACCEPTED), (48, BAD_DATA), (10_000, BAD_DATA)]
)
def test_input_22_nesting_has_a_limit(
    wire: Transport, collector: Collector, span_id: int, depth: int, verdict: str
) -> None:
    """47 arrays inside one another are stored; more are refused and kept."""
    body = nested(span_id, depth)
    outcome = wire.send(body)

    assert outcome.verdict == verdict
    assert (body in quarantined(collector)) == (verdict == BAD_DATA)
    assert verdict == BAD_DATA or rows_of(collector, span_id)


def nested(span_id: int, depth: int) -> bytes:
    """Return a request with an attribute of so many arrays; protobuf itself writes only 100."""
    value = AnyValue(string_value="deep").SerializeToString()
    for _ in range(depth):
        value = field(5, field(1, value))  # AnyValue.array_value.values
    attribute = field(9, field(1, b"key") + field(2, value))  # Span.attributes
    span = only_span(trace_request(span_id)).SerializeToString()
    return field(1, field(2, field(2, span + attribute)))


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000], ids=["lists", "objects"])
def test_input_23_deeply_nested_json_is_refused(collector: Collector, body: bytes) -> None:
    """It neither crashes nor stops the collector."""
    answer = collector.post("/v1/traces", body, JSON)

    assert answer.status == 400
    assert collector.request("GET", "/healthz").status == 200


def test_input_33_very_long_value_is_accepted(large: Collector) -> None:
    """Sixty megabytes are within the limit of a request; what is kept of them is redaction's."""
    request = trace_request(1)
    only_span(request).attributes.add(key="k").value.string_value = "v" * 60 * MILLION
    answer = large.post("/v1/traces", request.SerializeToString())

    assert (answer.status, answer.body) == (200, b"")


MANY: dict[str, tuple[bytes, dict[str, str]]] = {
    "spans": (field(1, field(2, b"\x12\0" * MILLION)), PROTOBUF),
    "resources": (b"\x0a\0" * 5 * MILLION, PROTOBUF),
    "attributes": (field(1, field(2, field(2, b"\x4a\0" * 5 * MILLION))), PROTOBUF),
    "json": (b'{"resourceSpans":[' + b"{}," * MILLION + b"{}]}", JSON),
}


@pytest.mark.parametrize("what", slow_after(2, ["spans", "json", "resources", "attributes"]))
def test_input_34_many_empty_messages_stall_nobody(large: Collector, what: str) -> None:
    """They are refused by number, and other requests wait for a small part of that time.

    A busy machine delays every request, so one fast request out of many is proof enough.
    """
    body, headers = MANY[what]
    with closing(connect(large)) as other:
        wait_until(lambda: stalls_nobody(large, body, headers, other))


def stalls_nobody(
    collector: Collector, body: bytes, headers: dict[str, str], other: HTTPConnection
) -> bool:
    """Return whether health checks are answered at once while a request is being refused."""
    waits: list[float] = []
    with ThreadPoolExecutor() as pool:
        started = time.perf_counter()
        refused = pool.submit(collector.post, "/v1/traces", body, headers)
        while not refused.done():
            asked = time.perf_counter()
            other.request("GET", "/healthz")
            other.getresponse().read()
            waits.append(time.perf_counter() - asked)
        secs = time.perf_counter() - started
    assert refused.result().status == 413
    assert "more than" in refused.result().error.message
    return max(waits) < max(0.1, secs / 4)


def test_input_34_calls_with_too_many_are_refused_for_good(large: Collector) -> None:
    """Over gRPC likewise."""
    outcome: Outcome = transports(large)["grpc"].send(MANY["spans"][0])

    assert (outcome.verdict, outcome.waits) == (TOO_LARGE, ())


def test_input_39_faulty_json_is_refused_with_its_path_and_kept(collector: Collector) -> None:
    """One of many; all the others are in `test_otlp_json.py`."""
    body = json_spans(json_span(1)).replace(b'"traceId"', b'"name":NaN,"traceId"')
    answer = collector.post("/v1/traces", body, JSON)

    assert answer.status == 400
    assert "resourceSpans[0].scopeSpans[0].spans[0].name: NaN" in answer.error.message
    assert body in quarantined(collector)


def test_what_is_refused_is_counted(collector: Collector) -> None:
    """Each refusal under its reason, and the collector lives."""
    collector.post("/v1/traces", b"\xff")
    collector.post("/v1/traces", bytes(LIMIT + 1))
    collector.post("/v1/profiles")
    collector.post("/v1/traces", b"", {})
    text = collector.request("GET", "/metrics").body.decode()
    reasons = set(re.findall(r'refused_requests_total\{reason="(\w+)"', text))

    assert {"MalformedRequest", "TooLarge", "not_found", "unsupported_media_type"} <= reasons
    assert collector.is_running
