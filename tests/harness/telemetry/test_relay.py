"""The relay between agents and a collector, over real HTTP."""

import gzip
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple

import pytest
import urllib3
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.harness.telemetry.test_filter import EVALUATION, OF_TRIAL, TRIAL, spans

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.telemetry.filter import CLAIMED
from tracegrade_harness.telemetry.relay import MAX_BYTES, Endpoint, OtlpRelay, TrialReceiver
from tracegrade_harness.telemetry.trace_owners import MAX_TRACES, TraceOwners

PROTOBUF = {"Content-Type": "application/x-protobuf"}


class Received(NamedTuple):
    """A request that came to the collector's place."""

    path: str
    headers: Message
    body: bytes


class Upstream(NamedTuple):
    """A server instead of the collector: it stores requests, and answers as the test sets."""

    endpoint: Endpoint
    received: list[Received]
    answer: dict[str, object]


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """Such a server."""
    received: list[Received] = []
    answer: dict[str, object] = {"status": 200, "headers": {}, "body": b""}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append(Received(self.path, self.headers, body))
            content = answer["body"]
            assert isinstance(content, bytes)
            headers = answer["headers"]
            assert isinstance(headers, dict)
            self.send_response(int(str(answer["status"])))
            for name, value in {**headers, "Content-Length": len(content)}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}"
        yield Upstream(Endpoint(address, {"Authorization": "Bearer key"}), received, answer)
        server.shutdown()
        thread.join()


@contextmanager
def receiver(upstream: Upstream) -> Iterator[TrialReceiver]:
    """Admit a trial."""
    with OtlpRelay(upstream.endpoint) as relay, relay.admitted(OF_TRIAL) as admitted:
        yield admitted


def send(
    address: str, body: bytes, headers: Mapping[str, str] = PROTOBUF, signal: str = "traces"
) -> urllib3.BaseHTTPResponse:
    """Send a request as an exporter does."""
    return urllib3.request("POST", f"{address}/v1/{signal}", body=body, headers=headers)


def graded(name: str = EVALUATION) -> ExportTraceServiceRequest:
    """Return a span that grades itself, in an event of this name."""
    request = spans()
    request.resource_spans[0].scope_spans[0].spans[0].events.add(name=name)
    return request


def of_trace(trace: bytes) -> bytes:
    """Return a request with one span of a trace."""
    request = spans()
    request.resource_spans[0].scope_spans[0].spans[0].trace_id = trace
    return request.SerializeToString()


def traces(upstream: Upstream) -> list[bytes]:
    """Return the traces of the requests that arrived; each request has one span."""
    each = [ExportTraceServiceRequest.FromString(request.body) for request in upstream.received]
    return [request.resource_spans[0].scope_spans[0].spans[0].trace_id for request in each]


def test_what_needs_no_change_passes_byte_by_byte(upstream: Upstream) -> None:
    """Compressed as it was, with the collector's token, which the agent never sees."""
    body = gzip.compress(spans().SerializeToString(), mtime=1)
    with receiver(upstream) as admitted:
        answer = send(admitted.address, body, {**PROTOBUF, "Content-Encoding": "gzip"})

    (request,) = upstream.received
    assert (answer.status, request.path, request.body) == (200, "/v1/traces", body)
    assert request.headers["Content-Encoding"] == "gzip"
    assert request.headers["Authorization"] == "Bearer key"
    assert "key" not in admitted.address


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_what_an_agent_may_not_say_is_renamed_and_counted(upstream: Upstream, coding: str) -> None:
    """The rest goes on, and the trial's notes say it."""
    body = graded().SerializeToString()
    compressed = gzip.compress(body) if coding == "gzip" else body
    with receiver(upstream) as admitted:
        send(admitted.address, compressed, {**PROTOBUF, "Content-Encoding": coding})

    (request,) = upstream.received
    assert ExportTraceServiceRequest.FromString(request.body) == graded(CLAIMED + EVALUATION)
    assert admitted.notes() == ["otlp: 1 x gen_ai.evaluation.result was not the agent's to say"]


def test_json_is_filtered_as_protobuf_is(upstream: Upstream) -> None:
    """And goes on as JSON."""
    said = {"attributes": [{"key": "tracegrade.task.id", "value": {"stringValue": "other"}}]}
    span = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "name": "s"}
    groups = [{"resource": said, "scopeSpans": [{"spans": [span]}]}]
    body = json.dumps({"resourceSpans": groups}).encode()
    with receiver(upstream) as admitted:
        send(admitted.address, body, {"Content-Type": "application/json"})

    (group,) = json.loads(upstream.received[0].body)["resourceSpans"]
    assert group["scopeSpans"] == [{"spans": [span]}]
    told = {each["key"]: each["value"]["stringValue"] for each in group["resource"]["attributes"]}
    assert told == {**TRIAL, CLAIMED + "tracegrade.task.id": "other"}
    assert admitted.claimed == {"tracegrade.task.id": 1}


@pytest.mark.parametrize("status", [400, 429, 503])
def test_the_collectors_answer_comes_back(upstream: Upstream, status: int) -> None:
    """With the time after which to send again; what was not taken was not said."""
    upstream.answer.update(status=status, headers={"Retry-After": 7}, body=b"busy")
    with receiver(upstream) as admitted:
        body = graded().SerializeToString()
        answer = urllib3.request(
            "POST", f"{admitted.address}/v1/traces", body=body, headers=PROTOBUF, retries=False
        )

    assert (answer.status, answer.headers["Retry-After"], answer.data) == (status, "7", b"busy")
    assert admitted.notes() == []


@pytest.mark.parametrize(
    ("content_type", "said"),
    [
        ("application/x-protobuf", ""),
        ("application/json", ""),
        ("text/plain", "'text/plain' is none"),
    ],
)
def test_what_cannot_be_read_is_refused(upstream: Upstream, content_type: str, said: str) -> None:
    """Nobody else gets to read what was not filtered."""
    with receiver(upstream) as admitted:
        answer = send(admitted.address, b"\xff\xff", {"Content-Type": content_type})

    assert (answer.status, upstream.received) == (400, [])
    assert said in answer.data.decode(errors="replace")


def test_an_agent_that_names_its_service_gets_no_note(upstream: Upstream) -> None:
    """Most do; one that names a release does, since its runs do not count under it."""
    request = spans()
    said = request.resource_spans[0].resource.attributes
    for key in ("service.name", "service.version"):
        said.add(key=key).value.string_value = "own"
    with receiver(upstream) as admitted:
        send(admitted.address, request.SerializeToString())

    assert admitted.claimed == {"service.name": 1, "service.version": 1}
    assert admitted.notes() == ["otlp: 1 x service.version was not the agent's to say"]


def test_a_trace_is_that_of_the_trial_that_sends_it_first(upstream: Upstream) -> None:
    """What another one sends of it goes into a trace of its own, always the same."""
    shared = bytes(range(16))
    with (
        OtlpRelay(upstream.endpoint) as relay,
        relay.admitted(OF_TRIAL) as first,
        relay.admitted(OF_TRIAL) as second,
    ):
        for each in (first, second, second, first):
            send(each.address, of_trace(shared))
        assert first.own_trace(shared.hex()) == shared.hex()
        assert second.own_trace(shared.hex()) == second.traces[0]

    one, two, three, four = traces(upstream)
    assert (one, four, two == three) == (shared, shared, True)
    assert two != shared
    assert (first.traces, second.traces) == ([shared.hex()], [two.hex()])
    assert (first.notes(), second.claimed) == ([], {"trace_id": 2})


def test_a_trace_that_the_lake_has_is_nobodys(upstream: Upstream) -> None:
    """No trial adds a span to it; where the lake cannot be read, its sender sends again."""
    known, unknown = bytes([1]) * 16, bytes([2]) * 16

    def read(asked: Collection[str]) -> list[str]:
        if unknown.hex() in asked:
            msg = "the lake cannot be read"
            raise EnvironmentFailed(msg)
        return [known.hex()]

    relay_of = OtlpRelay(upstream.endpoint, TraceOwners(read))
    with relay_of as relay, relay.admitted(OF_TRIAL) as admitted:
        send(admitted.address, of_trace(known))
        answer = urllib3.request(
            "POST", f"{admitted.address}/v1/traces", body=of_trace(unknown), headers=PROTOBUF,
            retries=False,
        )  # fmt: skip

    (trace,) = traces(upstream)
    assert trace != known
    assert (answer.status, len(upstream.received)) == (503, 1)


def test_a_trial_has_no_more_traces_than_it_may() -> None:
    """Those beyond have no place; those within keep theirs."""
    owners = TraceOwners()
    sent = [f"{n:032x}" for n in range(1, MAX_TRACES + 2)]

    assert owners.own("a", sent) == {trace: trace for trace in sent[:-1]}
    assert owners.own("a", sent[-2:]) == {sent[-2]: sent[-2]}
    assert owners.own("b", sent[-1:]) == {sent[-1]: sent[-1]}


def test_a_body_beyond_the_collectors_limit_is_refused(upstream: Upstream) -> None:
    """Also one that is small until it is decompressed."""
    bomb = gzip.compress(bytes(MAX_BYTES + 1), compresslevel=1)
    with receiver(upstream) as admitted:
        answer = send(admitted.address, bomb, {**PROTOBUF, "Content-Encoding": "gzip"})

    assert answer.status == 413
    assert "send smaller batches" in Status.FromString(answer.data).message
    assert upstream.received == []


def test_a_trial_that_is_over_or_unknown_is_refused(upstream: Upstream) -> None:
    """An address is one trial's, for as long as it lasts."""
    with OtlpRelay(upstream.endpoint) as relay:
        with relay.admitted(OF_TRIAL) as admitted:
            pass
        base = admitted.address.rpartition("/")[0]
        answers = [send(address, b"").status for address in (admitted.address, f"{base}/guess")]

    assert answers == [404, 404]
    assert upstream.received == []


def test_a_collector_that_is_gone_is_a_reason_to_send_again() -> None:
    """503 is what exporters repeat."""
    nobody = Endpoint("http://127.0.0.1:1", {})
    with OtlpRelay(nobody) as relay, relay.admitted(OF_TRIAL) as admitted:
        answer = urllib3.request(
            "POST", f"{admitted.address}/v1/traces", body=b"", headers=PROTOBUF, retries=False
        )

    assert answer.status == 503
    assert "cannot be reached" in Status.FromString(answer.data).message
