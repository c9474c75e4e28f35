"""OTLP's demands on a server, one assertion each, over HTTP with protobuf, with JSON, and gRPC.

The docstrings quote https://opentelemetry.io/docs/specs/otlp (as of August 2026). Bad requests are
in `test_bad_requests.py`, hostile connections in `test_connections.py`.
"""

import gzip
import itertools
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.rpc.code_pb2 import Code
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
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
    SERVICES,
    TOO_LARGE,
    UNAVAILABLE,
    UNKNOWN_SIGNAL,
    Grpc,
    Transport,
    connect,
    head,
    transports,
)
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_collector.receive.http_connection import KEEP_ALIVE_SECS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LIMIT = 1 << 20
LANDS_SOON = {"land_every_secs": 0.3, "max_segment_age_secs": 0.1}


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector whose requests may have one megabyte."""
    lake = tmp_path_factory.mktemp("lake")
    with collecting(lake, max_request_bytes=LIMIT, **LANDS_SOON) as running:
        yield running


NEW_IDS = itertools.count(1000)


@pytest.fixture
def span_id() -> int:
    """An id that no other test has."""
    return next(NEW_IDS)


def wait_for_spans(collector: Collector, *span_ids: int) -> None:
    """Return when these spans have landed."""
    wait_until(lambda: set(span_ids) <= set(landed_ids(collector.lake)))


class TestRequests:
    """What is taken in."""

    def test_traces_and_logs_are_accepted(self, transport: Transport) -> None:
        """The default URL path is /v1/traces, /v1/logs; for gRPC Export of each service."""
        logs = ExportLogsServiceRequest.FromString(log_body("hello"))

        assert transport.send(transport.encode(trace_request(1))).verdict == ACCEPTED
        assert transport.send(transport.encode(logs), "logs").verdict == ACCEPTED

    def test_profiles_are_refused_for_good(self, transport: Transport) -> None:
        """UNIMPLEMENTED and 404 are not retryable; the specification names no other answer."""
        outcome = transport.send(b"", "profiles")

        assert (outcome.verdict, outcome.waits) == (UNKNOWN_SIGNAL, ())

    def test_both_encodings_come_to_the_same_port(self, collector: Collector) -> None:
        """Server SHOULD multiplex the requests based on the Content-Type header."""
        bodies = {"application/x-protobuf": b"", "application/json": b"{}"}
        found = [
            collector.post("/v1/traces", body, {"Content-Type": content_type})
            for content_type, body in bodies.items()
        ]

        assert [answer.status for answer in found] == [200, 200]

    def test_gzip_is_understood(
        self, transport: Transport, collector: Collector, span_id: int
    ) -> None:
        """All server components MUST support no compression and gzip."""
        outcome = transport.send(transport.encode(trace_request(span_id)), compressed=True)
        wait_for_spans(collector, span_id)

        assert outcome.verdict == ACCEPTED

    @pytest.mark.parametrize(
        ("coding", "compressed"),
        [("deflate", zlib.compress), ("zstd", zstd.compress), ("gzip", gzip.compress)],
    )
    def test_members_are_put_together(
        self, collector: Collector, coding: str, compressed: Callable[[bytes], bytes], span_id: int
    ) -> None:
        """The Python exporter offers deflate, others zstd; a body may have several members."""
        second = next(NEW_IDS)
        body = compressed(trace_body(span_id)) + compressed(trace_body(second))
        answer = collector.post("/v1/traces", body, PROTOBUF | {"Content-Encoding": coding})
        wait_for_spans(collector, span_id, second)

        assert answer.status == 200

    @pytest.mark.parametrize("coding", ["identity", "none", ""])
    def test_no_compression_may_be_said(self, collector: Collector, coding: str) -> None:
        """No compression is denoted by `none`; HTTP itself says identity."""
        headers = PROTOBUF | {"Content-Encoding": coding}

        assert collector.post("/v1/traces", trace_body(1), headers).status == 200

    def test_concurrent_calls_do_not_wait_for_each_other(self, collector: Collector) -> None:
        """Implementations that need high throughput SHOULD support concurrent Unary calls."""
        with grpc.insecure_channel(collector.grpc) as channel:
            silent = threading.Event()
            stalled = channel.stream_unary(f"/{SERVICES['traces']}/Export")
            waiting = stalled.future(iter(lambda: silent.wait() and None, None))
            call = channel.unary_unary(f"/{SERVICES['traces']}/Export")
            with ThreadPoolExecutor(20) as pool:
                done = list(
                    pool.map(lambda n: call(trace_body(n + 1), timeout=PATIENCE_SECS), range(60))
                )
            silent.set()
            waiting.cancel()

        assert done == [b""] * 60

    def test_connection_is_kept(self, collector: Collector) -> None:
        """The client SHOULD keep the connection alive between requests, also after an error."""
        connection = connect(collector)
        statuses = []
        for body in (b"", b"\xff", trace_body(1), b""):
            connection.request("POST", "/v1/traces", body, PROTOBUF)
            statuses.append(read_answer(connection).status)
        connection.close()

        assert statuses == [200, 400, 200, 200]
        assert KEEP_ALIVE_SECS >= 60

    def test_requests_may_be_sent_ahead(self, collector: Collector) -> None:
        """HTTP/1.1: pipelined requests are answered in their order."""
        body = trace_body(1)
        good = head(f"Content-Length: {len(body)}") + body
        bad = head("Content-Length: 1") + b"\xff"
        connection = connect(collector)
        connection.connect()
        connection.sock.sendall(good + bad + good)
        received = b""
        while received.count(b"HTTP/1.1") < 3 or b"200" not in received[-200:]:
            received += connection.sock.recv(1 << 16)
        connection.close()

        assert [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]] == [200, 400, 200]


class TestSuccess:
    """Responses to accepted requests."""

    def test_partial_success_is_unset(self, transport: Transport) -> None:
        """The server MUST leave the partial_success field unset in case of success."""
        outcome = transport.send(transport.encode(trace_request(2)))

        assert outcome.body in (b"", b"{}")
        assert not outcome.response.HasField("partial_success")

    def test_empty_request_succeeds(self, transport: Transport) -> None:
        """If the server receives an empty request the server SHOULD respond with success."""
        empty = transport.encode(ExportTraceServiceRequest())
        envelope = transport.encode(trace_request())

        assert transport.send(empty).verdict == ACCEPTED
        assert transport.send(envelope).verdict == ACCEPTED

    def test_rejected_spans_are_counted(
        self, transport: Transport, collector: Collector, span_id: int
    ) -> None:
        """The server MUST set rejected_spans, SHOULD set error_message; the rest is stored."""
        refused = [next(NEW_IDS), next(NEW_IDS)]
        request = trace_request(*refused, span_id)
        spans = request.resource_spans[0].scope_spans[0].spans
        spans[0].trace_id, spans[1].span_id = b"", bytes(8)
        outcome = transport.send(transport.encode(request))
        wait_for_spans(collector, span_id)

        assert outcome.verdict == ACCEPTED
        assert outcome.response.partial_success.rejected_spans == 2
        assert "trace_id must be 16 bytes" in outcome.response.partial_success.error_message
        assert not set(refused) & set(landed_ids(collector.lake))

    def test_rejected_log_records_are_counted(self, transport: Transport) -> None:
        """The server MUST set rejected_log_records likewise."""
        request = ExportLogsServiceRequest.FromString(log_body("a", "b"))
        request.resource_logs[0].scope_logs[0].log_records[0].span_id = b"short"
        outcome = transport.send(transport.encode(request), "logs")

        assert outcome.response.partial_success.rejected_log_records == 1

    def test_answer_is_limited(self, transport: Transport) -> None:
        """The server MUST limit the size of the response; it is RECOMMENDED to use 4 MiB."""
        request = trace_request(*range(1, 4000))
        for span in request.resource_spans[0].scope_spans[0].spans:
            span.trace_id = b""
        outcome = transport.send(transport.encode(request))

        assert outcome.response.partial_success.rejected_spans == 3999
        assert len(outcome.body) < 2000

    def test_answer_is_compressed_if_asked_for(self, collector: Collector) -> None:
        """If "Accept-Encoding: gzip" is present the server MAY gzip-encode the response."""
        plain = collector.request("GET", "/metrics")
        packed = collector.request("GET", "/metrics", b"", {"Accept-Encoding": "br, gzip"})
        declined = collector.request("GET", "/metrics", b"", {"Accept-Encoding": "gzip;q=0"})
        small = collector.post("/v1/traces", b"", PROTOBUF | {"Accept-Encoding": "gzip"})

        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body)[:20] == plain.body[:20]
        assert "content-encoding" not in plain.headers | small.headers | declined.headers


class TestRefusals:
    """Responses to refused requests."""

    def test_bad_data_is_the_clients_fault(self, transport: Transport) -> None:
        """Data that cannot be decoded MUST be 400, with BadRequest details; not retryable."""
        outcome = transport.send(b"\xff\xff\xff")

        assert (outcome.verdict, outcome.waits) == (BAD_DATA, ())
        assert outcome.error
        assert outcome.error.code == Code.INVALID_ARGUMENT
        assert outcome.describes_bad_data

    @pytest.mark.parametrize("compressed", [False, True])
    def test_size_is_limited(self, transport: Transport, compressed: bool) -> None:
        """The limit holds after decompression too: MUST 413, RESOURCE_EXHAUSTED, not retryable."""
        outcome = transport.send(b" " * (LIMIT + 1), compressed=compressed)

        assert (outcome.verdict, outcome.waits) == (TOO_LARGE, ())

    @pytest.mark.parametrize("encoding", [PROTOBUF, JSON], ids=["protobuf", "json"])
    @pytest.mark.parametrize(
        "case",
        [
            (400, "POST", "/v1/traces", b"\xff", {}),
            (404, "POST", "/v1/profiles", b"", {}),
            (405, "GET", "/v1/traces", b"", {}),
            (413, "POST", "/v1/traces", bytes(LIMIT + 1), {}),
            (415, "POST", "/v1/traces", b"", {"Content-Encoding": "br"}),
            (431, "POST", "/v1/traces", b"x", {"X": "y" * 70_000}),
            (405, "PUT", "/healthz", b"", {}),
        ],
        ids=lambda case: str(case[0]),
    )
    def test_each_error_has_a_status_in_the_requests_encoding(
        self, collector: Collector, encoding: dict[str, str], case: tuple[Any, ...]
    ) -> None:
        """The body of all 4xx and 5xx MUST be a Status, in the content type of the request."""
        expected, method, path, body, extra = case
        answer = collector.request(method, path, body, encoding | extra)

        assert answer.status == expected
        assert answer.headers["content-type"] == encoding["Content-Type"]
        assert answer.error.message

    def test_overload_is_to_be_sent_again(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        """To signal backpressure the server MUST return UNAVAILABLE (503) and MAY name a wait."""
        lake = tmp_path_factory.mktemp("full")
        limits = {"max_in_flight_bytes": 2000, "max_request_bytes": 1000}
        with (
            collecting(lake, **limits) as full,
            full.busy_with(700),
            full.busy_with(700),
        ):
            body = b" " * 700
            wait_until(lambda: full.post("/v1/traces", body).status == 503)
            outcomes = {way: each.send(body) for way, each in transports(full).items()}

        assert {each.verdict for each in outcomes.values()} == {UNAVAILABLE}
        assert {each.waits for each in outcomes.values()} == {(1, 1)}  # header or trailer; details

    def test_call_without_a_message_is_refused(self, all_transports: dict[str, Transport]) -> None:
        """A call that brings nothing is bad data, and no failure of ours."""
        transport = all_transports["grpc"]
        assert isinstance(transport, Grpc)
        call = transport.channel.stream_unary(f"/{SERVICES['traces']}/Export")

        with pytest.raises(grpc.RpcError) as refused:
            call(iter(()), timeout=PATIENCE_SECS)
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


class TestData:
    """The rules of the data model that are not about ids."""

    def test_any_value_is_stored(
        self, transport: Transport, collector: Collector, span_id: int
    ) -> None:
        """Since OTLP 1.9 receivers are expected to accept any AnyValue."""
        request = trace_request(span_id)
        attributes = request.resource_spans[0].scope_spans[0].spans[0].attributes
        attributes.add(key="bytes").value.bytes_value = b"\0\xff"
        attributes.add(key="unset").value.SetInParent()
        mixed = attributes.add(key="mixed").value.array_value.values
        mixed.add(string_value="a")
        mixed.add(int_value=1)
        attributes.add(key="map").value.kvlist_value.values.add(key="k").value.bool_value = True
        transport.send(transport.encode(request))
        wait_for_spans(collector, span_id)

        row = row_of(collector, span_id)
        assert dict(row["attributes"]) == {
            "bytes": "AP8=",
            "unset": None,
            "mixed": '["a",1]',
            "map": '{"k":true}',
        }

    def test_strange_values_are_stored_as_given(
        self, transport: Transport, collector: Collector, span_id: int
    ) -> None:
        """Reserved flags, unknown enum numbers, an end before the start, no name do not crash."""
        request = trace_request(span_id)
        span = request.resource_spans[0].scope_spans[0].spans[0]
        span.flags, span.name = 0xFFFFFFFF, ""
        span.kind = 99  # type: ignore[assignment]  # no such kind
        span.start_time_unix_nano, span.end_time_unix_nano = 2**63 - 1, 0
        transport.send(transport.encode(request))
        wait_for_spans(collector, span_id)

        row = row_of(collector, span_id)
        assert (row["flags"], row["kind"], row["name"]) == (0xFFFFFFFF, 99, "")
        assert (row["start_ns"], row["end_ns"]) == (2**63 - 1, 0)

    def test_index_into_a_dictionary_is_not_fatal(
        self, transport: Transport, collector: Collector, span_id: int
    ) -> None:
        """string_value_strindex and key_strindex say something in profiles only: as if absent."""
        request = trace_request(span_id)
        attribute = request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="a")
        attribute.key_strindex = 3
        attribute.value.string_value_strindex = 7
        outcome = transport.send(transport.encode(request))
        wait_for_spans(collector, span_id)

        assert outcome.verdict == ACCEPTED
        assert dict(row_of(collector, span_id)["attributes"]) == {"a": None}


def row_of(collector: Collector, span_id: int) -> dict[str, Any]:
    """Return the one row of a span."""
    rows = landed(collector.lake).to_pylist()
    (found,) = [row for row in rows if int(row["span_id"], 16) == span_id]
    return dict(found)
