"""Inputs that the collector is known to meet, by their number in docs/reliability.md, section 3.

A test named `test_input_07_…` is about input 7; the document names the tests of the others.
"""

import gzip
import hashlib
import json
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tests.collector.encoding.wire_bytes import field
from tests.collector.running import (
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
from tests.waiting import wait_until

from tracegrade_collector.rows.messages import span_request

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LIMIT = 1 << 20
MILLION = 1_000_000
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
}
coded = pytest.mark.parametrize("coding", COMPRESSIONS)
ids_from_here = iter(range(1000, MILLION))


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector whose requests may have one megabyte."""
    with collecting(
        tmp_path_factory.mktemp("lake"),
        max_request_bytes=LIMIT,
        land_every_secs=0.3,
        max_segment_age_secs=0.1,
    ) as running:
        yield running


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector with the limits that it has if nobody says otherwise."""
    with collecting(tmp_path_factory.mktemp("large")) as running:
        yield running


@pytest.fixture(params=["http-protobuf", "grpc"])
def wire(request: pytest.FixtureRequest, all_transports: dict[str, Transport]) -> Transport:
    """Those that carry protobuf."""
    return all_transports[request.param]


@pytest.fixture
def span_id() -> int:
    """An id that no other test has."""
    return next(ids_from_here)


def quarantined(collector: Collector) -> list[bytes]:
    """Return the contents of the quarantine."""
    return [file.read_bytes() for file in (collector.lake / "quarantine").glob("[!.]*")]


def rows_of(collector: Collector, *span_ids: int) -> list[dict[str, Any]]:
    """Return the rows of these spans once all have landed."""
    wanted = {f"{span_id:016x}" for span_id in span_ids}
    wait_until(lambda: wanted <= set(landed(collector.lake)["span_id"].to_pylist()))
    rows = landed(collector.lake)
    found: list[dict[str, Any]] = rows.filter(
        pc.is_in(rows["span_id"], pa.array(sorted(wanted)))
    ).to_pylist()
    return found


def sorted_rows(collector: Collector, *span_ids: int) -> list[dict[str, Any]]:
    """Return the rows of these spans by their id."""
    return sorted(rows_of(collector, *span_ids), key=lambda row: str(row["span_id"]))


def spans_of(request: ExportTraceServiceRequest) -> Any:
    """Return the spans of a request with one scope."""
    return request.resource_spans[0].scope_spans[0].spans


def only_span(request: ExportTraceServiceRequest) -> Span:
    """Return the span of a request with one."""
    (span,) = spans_of(request)
    assert isinstance(span, Span)
    return span


def json_spans(*spans: dict[str, object]) -> bytes:
    """Return a JSON request."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def json_span(span_id: int, **members: object) -> dict[str, object]:
    """Return a valid span in JSON."""
    return {"traceId": "0" * 31 + "1", "spanId": f"{span_id:016x}", **members}


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

    assert set(verdicts) <= {BAD_DATA, ACCEPTED}  # a few could be fields that nobody knows
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
    """Any other method is told which one to use."""
    answer = collector.request(method, "/v1/traces")

    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "path",
    [
        *("/", "//", "/v1", "/v1/traces/", "//v1/traces", "/v1//traces", "/./v1/traces"),
        *("/%2Fv1/traces", "/v1%2Ftraces", "/v1/traces%00", "/v1/traces;a", "/V1/Traces"),
        *("/v1/../v1/traces", "/v1/trace", "/v1/metrics", "/v1/profiles", "/metrics/"),
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
    """What is compressed twice is no request."""
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


def test_input_24_json_ids_are_hex_in_any_case(collector: Collector) -> None:
    """Upper and lower case are equal; other ids cost only their own span."""
    ids = ["00000000000000AB", "00000000000000ac", "abc", "AAAAAAAAAKw="]
    spans = [json_span(1, spanId=span_id) for span_id in ids]
    answer = collector.post("/v1/traces", json_spans(*spans), JSON)

    assert json.loads(answer.body)["partialSuccess"]["rejectedSpans"] == "2"
    assert len(rows_of(collector, 0xAB, 0xAC)) == 2
    assert {"abc", "AAAAAAAAAKw="} <= {item.get("spanId") for item in dead_letters(collector)}


def dead_letters(collector: Collector) -> list[dict[str, Any]]:
    """Return the refused items."""
    files = (collector.lake / "dead_letters").glob("[!.]*")  # unfinished ones start with a dot
    lines = [line for file in files for line in file.read_text().splitlines()]
    return [json.loads(line)["item"] for line in lines]


BAD_IDS: list[tuple[str, bytes]] = [
    *[("trace_id", bad) for bad in (b"", b"x" * 15, b"x" * 17, bytes(16))],
    *[("span_id", bad) for bad in (b"", b"x" * 7, b"x" * 9, bytes(8))],
    ("parent_span_id", b"x" * 7),
]


def test_input_25_bad_ids_cost_only_their_span(transport: Transport, collector: Collector) -> None:
    """The others are stored; the refused ones are counted, and kept with the reason."""
    good = next(ids_from_here)
    bad = [next(ids_from_here) for _ in BAD_IDS]
    request = trace_request(*bad, good)
    for span, (name, value) in zip(spans_of(request), BAD_IDS, strict=False):
        setattr(span, name, value)
    outcome = transport.send(transport.encode(request))
    rows_of(collector, good)

    wait_until(
        lambda: {f"span {n}" for n in bad} <= {x.get("name") for x in dead_letters(collector)}
    )
    assert outcome.response.partial_success.rejected_spans == len(BAD_IDS)
    assert not set(bad) & set(landed_ids(collector.lake))


def test_input_26_any_tree_is_stored(transport: Transport, collector: Collector) -> None:
    """Its own parent, a cycle, a missing parent and two roots are data; trees are made later."""
    ids = [next(ids_from_here) for _ in range(6)]
    request = trace_request(*ids)
    parents = [ids[0], ids[2], ids[1], 1 << 60]  # itself, each other, missing; two have none
    for span, parent in zip(spans_of(request), parents, strict=False):
        span.parent_span_id = parent.to_bytes(8)
    transport.send(transport.encode(request))

    found = {int(row["span_id"], 16): row["parent_span_id"] for row in rows_of(collector, *ids)}
    assert [found[each] for each in ids[:4]] == [f"{parent:016x}" for parent in parents]


def test_input_27_equal_span_ids_are_both_kept(
    transport: Transport, collector: Collector, span_id: int
) -> None:
    """An identical one is marked as sent again; one with other content is not."""
    first, other = trace_request(span_id), trace_request(span_id)
    only_span(other).name = "another"
    for request in (first, first, other):
        transport.send(transport.encode(request))
    wait_until(lambda: len(rows_of(collector, span_id)) == 3)

    rows = rows_of(collector, span_id)
    assert sorted((row["name"], row["resent"]) for row in rows) == [
        ("another", False),
        (f"span {span_id}", False),
        (f"span {span_id}", True),
    ]


def test_input_28_times_are_stored_as_given(transport: Transport, collector: Collector) -> None:
    """All 64 bits, in nanoseconds, and in any order."""
    times = [(5, 1), (0, 0), (2**64 - 1, 2**64 - 1), (1, 2**63)]
    ids = [next(ids_from_here) for _ in times]
    request = trace_request(*ids)
    for span, (start, end) in zip(spans_of(request), times, strict=True):
        span.start_time_unix_nano, span.end_time_unix_nano = start, end
    transport.send(transport.encode(request))

    found = spans_of(span_request(sorted_rows(collector, *ids)))
    assert [(each.start_time_unix_nano, each.end_time_unix_nano) for each in found] == times


def test_input_29_text_that_is_no_utf8_is_refused_and_kept(
    wire: Transport, collector: Collector, span_id: int
) -> None:
    """Whether in a name or an attribute, the raw request is kept whole."""
    for body in (
        trace_body(span_id).replace(b"span ", b"\xff\xfe\xff\xfe "),
        trace_body(span_id).replace(b"span ", b"\xed\xa0\x80.."),  # half of a surrogate pair
    ):
        assert wire.send(body).verdict == BAD_DATA
        assert body in quarantined(collector)


def test_input_30_strange_text_is_stored_exactly(
    transport: Transport, collector: Collector
) -> None:
    """NUL, direction overrides, escapes of terminals: they are data here."""
    texts = ["a\0b", "\u202eevil", "\x1b[31mred", "\ufffe", "e\u0301", "😀"]
    ids = [next(ids_from_here) for _ in texts]
    request = trace_request(*ids)
    for span, text in zip(spans_of(request), texts, strict=True):
        span.name = text
        span.attributes.add(key=text).value.string_value = text
    transport.send(transport.encode(request))

    rows = sorted_rows(collector, *ids)
    assert [row["name"] for row in rows] == texts
    assert [dict(row["attributes"]) for row in rows] == [{text: text} for text in texts]


def test_input_30_half_a_surrogate_pair_in_json_is_refused(collector: Collector) -> None:
    """It has no UTF-8, so it could not be stored; the path is named."""
    body = json_spans(json_span(1, name="X")).replace(b'"X"', b'"\\ud800"')
    answer = collector.post("/v1/traces", body, JSON)

    assert answer.status == 400
    assert "spans[0].name" in answer.error.message


def test_input_31_first_of_equal_keys_counts(
    transport: Transport, collector: Collector, span_id: int
) -> None:
    """The others are kept beside it."""
    request = trace_request(span_id)
    for text in ("first", "second"):
        only_span(request).attributes.add(key="k").value.string_value = text
    transport.send(transport.encode(request))

    (row,) = rows_of(collector, span_id)
    assert dict(row["attributes"]) == {"k": "first"}
    assert [each["value"] for each in row["duplicate_attributes"]] == ["second"]


def test_input_32_any_key_is_data(
    transport: Transport, collector: Collector, span_id: int
) -> None:
    """Also those that mean something in other languages, an empty and a very long one."""
    keys = [
        "__proto__",
        "constructor",
        "a",
        "a.b",
        "a.b.c",
        "",
        "k" * 300_000,
        "$ref",
        "__class__",
    ]
    request = trace_request(span_id)
    for key in keys:
        only_span(request).attributes.add(key=key).value.string_value = "v"
    transport.send(transport.encode(request))

    (row,) = rows_of(collector, span_id)
    assert dict(row["attributes"]) == dict.fromkeys(keys, "v")


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


@pytest.mark.parametrize("what", MANY)
def test_input_34_many_empty_messages_stall_nobody(large: Collector, what: str) -> None:
    """They are refused by number, and whoever else asks waits for a small part of that time.

    A busy machine lets anybody wait; so one such request out of many tries is proof enough.
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


def test_input_37_unknown_enum_numbers_are_stored(
    transport: Transport, collector: Collector
) -> None:
    """A later version may give them a meaning."""
    numbers = [(99, 7), (-1, -5), (2**31 - 1, -(2**31))]
    ids = [next(ids_from_here) for _ in numbers]
    request = trace_request(*ids)
    for span, (kind, code) in zip(spans_of(request), numbers, strict=True):
        span.kind, span.status.code = kind, code
    transport.send(transport.encode(request))

    rows = sorted_rows(collector, *ids)
    assert [(row["kind"], row["status_code"]) for row in rows] == numbers


def test_input_38_snake_case_is_ignored_and_names_are_refused(
    collector: Collector, span_id: int
) -> None:
    """A key in snake_case is unknown like any other; the name of an enum is a wrong type."""
    ignored = json_span(span_id, start_time_unix_nano="5", name="x", parent_span_id="ab")
    named = json_span(span_id, kind="SPAN_KIND_SERVER")

    assert collector.post("/v1/traces", json_spans(ignored), JSON).status == 200
    assert collector.post("/v1/traces", json_spans(named), JSON).status == 400
    (row,) = rows_of(collector, span_id)
    assert (row["name"], row["start_ns"], row["parent_span_id"]) == ("x", 0, None)


def test_input_39_faulty_json_is_refused_with_its_path_and_kept(collector: Collector) -> None:
    """One of many; all the others are in `test_otlp_json.py`."""
    body = json_spans(json_span(1)).replace(b'"traceId"', b'"name":NaN,"traceId"')
    answer = collector.post("/v1/traces", body, JSON)

    assert answer.status == 400
    assert "resourceSpans[0].scopeSpans[0].spans[0].name: NaN" in answer.error.message
    assert body in quarantined(collector)


def test_input_40_fields_of_the_future_are_ignored(
    wire: Transport, collector: Collector, span_id: int
) -> None:
    """At every level; the log of requests has them until the request has landed."""
    span = only_span(trace_request(span_id)).SerializeToString()
    new = field(1000, b"new")
    body = field(1, field(2, field(2, span + new) + new) + new) + new

    assert wire.send(body).verdict == ACCEPTED
    assert rows_of(collector, span_id)


def test_input_44_new_names_cost_no_counters(collector: Collector) -> None:
    """Thousands of services and keys change neither the counters nor the columns."""
    send_services(collector, 100, "a")
    rows_of(collector, *range(2 * MILLION, 2 * MILLION + 100))
    counters = counter_names(collector)
    columns = landed(collector.lake).schema
    send_services(collector, 500, "b")
    rows_of(collector, 2 * MILLION + 499)

    assert counter_names(collector) == counters
    assert landed(collector.lake).schema == columns


def send_services(collector: Collector, count: int, prefix: str) -> None:
    """Send spans of so many services, each with a key of its own."""
    request = ExportTraceServiceRequest()
    for number in range(count):
        group = trace_request(2 * MILLION + number).resource_spans[0]
        group.resource.attributes.add(key="service.name").value.string_value = f"{prefix}{number}"
        group.scope_spans[0].spans[0].attributes.add(key=f"{prefix}{number}").value.int_value = 1
        request.resource_spans.append(group)
    assert collector.post("/v1/traces", request.SerializeToString()).status == 200


def counter_names(collector: Collector) -> set[str]:
    """Return what is counted."""
    text = collector.request("GET", "/metrics").body.decode()
    return {line.rpartition(" ")[0] for line in text.splitlines()}


def test_input_45_request_sent_a_hundred_times_is_one(
    transport: Transport, collector: Collector, span_id: int
) -> None:
    """All copies are kept, and one is not marked as sent again."""
    body = transport.encode(trace_request(span_id))
    for _ in range(100):
        transport.send(body)
    wait_until(lambda: landed_ids(collector.lake).count(span_id) == 100)

    assert landed_ids(collector.lake, with_resent=False).count(span_id) == 1


def test_what_is_refused_is_counted(collector: Collector) -> None:
    """Each refusal under its reason, and the collector lives."""
    collector.post("/v1/traces", b"\xff")
    collector.post("/v1/traces", bytes(LIMIT + 1))
    collector.post("/v1/metrics")
    collector.post("/v1/traces", b"", {})
    text = collector.request("GET", "/metrics").body.decode()
    reasons = set(re.findall(r'refused_requests_total\{reason="(\w+)"', text))

    assert {"MalformedRequest", "TooLarge", "not_found", "unsupported_media_type"} <= reasons
    assert collector.is_running
