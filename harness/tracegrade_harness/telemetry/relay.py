"""OTLP between agents and the collector: each trial has an address of its own.

    with OtlpRelay(collector) as relay, relay.admitted(trial) as receiver:
        ...  # an agent sends to `receiver.address`; `claimed` counts what it had no right to say

The relay filters a request (`filter.py`) and sends it to the collector; an acceptable request
passes byte by byte. The relay refuses a request that it cannot read, because another reader could
find unfiltered claims in it. It returns the collector's own answer, so a sender knows that its
spans were taken only after the collector has them. OTLP over HTTP alone, protobuf and JSON.

The address has a secret in its path, because agents with an open network share the loopback. One
thread serves all trials; other threads call the collector.
"""

import asyncio
import json
import secrets
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, NamedTuple, Self

import urllib3
import uvicorn
from google.rpc.code_pb2 import Code
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from tracegrade import names
from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal, decode
from tracegrade_collector.encoding.otlp_json import write_json
from tracegrade_collector.errors import MalformedRequest, TooLarge
from tracegrade_collector.receive import status
from tracegrade_collector.receive.inflate import CODINGS, inflate
from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.telemetry.filter import (
    BEYOND,
    Sayings,
    filter_request,
    move_traces,
    traces_of,
)
from tracegrade_harness.telemetry.trace_owners import MAX_TRACES, TraceOwners

MAX_BYTES: Final = CollectorConfig().max_request_bytes
MAX_AT_ONCE: Final = 4
"""Most requests of one trial in progress; others wait unread, so that no agent fills memory."""
ANSWER_SECS: Final = 60.0
START_SECS: Final = 60.0
STOP_SECS: Final = 10
PASSED_ON: Final = ("content-type", "content-encoding", "accept-encoding", "user-agent")
PASSED_BACK: Final = ("content-type", "content-encoding", "retry-after")


class Endpoint(NamedTuple):
    """A collector's address, and the headers that give access."""

    address: str
    """OTLP over HTTP, such as `http://127.0.0.1:4318`."""
    headers: Mapping[str, str]


@dataclass
class TrialReceiver:
    """The address to which one trial's agent sends its telemetry."""

    address: str
    """OTLP over HTTP."""
    sayings: Sayings
    """The attributes that its agent's spans must have or may have."""
    owners: TraceOwners
    """Assigns traces to trials."""
    claimed: Counter[str] = field(default_factory=Counter)
    """Renamed attributes of its agent, by name."""
    took_spans: bool = False
    """The collector has taken spans of its agent."""
    seen: Callable[[], None] = lambda: None
    """Called for each request of its agent."""
    under_way: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_AT_ONCE))

    @property
    def traces(self) -> list[str]:
        """Traces of its agent, in the order in which they came; 32 lower-case hex digits each."""
        return self.owners.of(self.address)

    def own_trace(self, trace: str) -> str | None:
        """Return the trace that replaces one of its agent's traces; None beyond `MAX_TRACES`.

        Raises:
            EnvironmentFailed: The owner of the trace cannot be determined.
        """
        return self.owners.own(self.address, [trace]).get(trace)

    def notes(self) -> list[str]:
        """Return the notes about the telemetry for readers of the trial."""
        expected = {
            BEYOND,
            names.SERVICE_NAME,
        }  # most agents name their service without bad intent
        claims = {key: n for key, n in sorted(self.claimed.items()) if key not in expected}
        notes = [f"otlp: {n} x {key} was not the agent's to say" for key, n in claims.items()]
        if self.claimed[BEYOND]:
            beyond = f"otlp: {self.claimed[BEYOND]} x span or log dropped"
            notes.append(f"{beyond}, of more than {MAX_TRACES} traces")
        return notes


class OtlpRelay:
    """A `with` block in which trials can get addresses."""

    def __init__(self, collector: Endpoint, owners: TraceOwners | None = None) -> None:
        """Prepare.

        Args:
            collector: The collector that receives the requests.
            owners: Assigns traces to trials; without it, traces that already exist are not known.
        """
        self._collector = collector
        self._owners = owners or TraceOwners()
        self._receivers: dict[str, TrialReceiver] = {}
        self._pool = urllib3.PoolManager(retries=False, timeout=ANSWER_SECS, maxsize=32)
        routes = [Route(f"/{{secret}}/v1/{each}", self._take, methods=["POST"]) for each in Signal]
        options = uvicorn.Config(
            Starlette(routes=routes),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=STOP_SECS,
        )
        self._server = uvicorn.Server(options)

    def __enter__(self) -> Self:
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.listens = ServiceAddress(*listener.getsockname())
        self._base = f"http://{self.listens.host}:{self.listens.port}"
        self._thread = threading.Thread(
            target=self._server.run, args=([listener],), name="otlp-relay", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(STOP_SECS + ANSWER_SECS)
        self._pool.clear()
        if self._thread.is_alive():
            msg = f"the relay at {self._base} does not stop; spans that agents sent may be lost"
            raise EnvironmentFailed(msg)

    @contextmanager
    def admitted(
        self, sayings: Sayings, seen: Callable[[], None] = lambda: None
    ) -> Iterator[TrialReceiver]:
        """Give an address to a trial, for as long as the block lasts.

        Args:
            sayings: The attributes that its spans must or may have.
            seen: Called for each request.
        """
        secret = secrets.token_urlsafe(16)
        self._receivers[secret] = TrialReceiver(
            f"{self._base}/{secret}", sayings, self._owners, seen=seen
        )
        try:
            yield self._receivers[secret]
        finally:
            del self._receivers[secret]

    async def _take(self, request: Request) -> Response:
        """Answer one request."""
        receiver = self._receivers.get(request.path_params["secret"])
        if receiver is None:
            return _refusal(request, HTTPStatus.NOT_FOUND, "no trial has this address")
        receiver.seen()
        async with receiver.under_way:
            try:
                body = await _body(request)
                return await asyncio.to_thread(self._send_on, request, body, receiver)
            except TooLarge as error:
                return _refusal(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error))
            except ClientDisconnect:
                return Response(status_code=HTTPStatus.BAD_REQUEST)  # the sender has left

    def _send_on(self, request: Request, body: bytes, receiver: TrialReceiver) -> Response:
        """Return the collector's answer to a filtered request."""
        headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        signal = Signal(request.url.path.rpartition("/")[2])
        try:
            filtered = _filtered(body, headers, signal, receiver)
        except MalformedRequest as error:
            return _refusal(request, HTTPStatus.BAD_REQUEST, str(error))
        except EnvironmentFailed as error:
            return _refusal(request, HTTPStatus.SERVICE_UNAVAILABLE, str(error))
        if filtered.body is not None:
            body = filtered.body
            headers.pop("content-encoding", None)
        try:
            answer = self._pool.request(
                "POST",
                f"{self._collector.address}/v1/{signal}",
                body=body,
                headers={**headers, **self._collector.headers},
                redirect=False,
                decode_content=False,
            )
        except urllib3.exceptions.HTTPError as error:
            text = f"the collector cannot be reached: {error}"
            return _refusal(request, HTTPStatus.SERVICE_UNAVAILABLE, text)
        if answer.status == HTTPStatus.OK:  # otherwise it is sent again, and counted then
            receiver.claimed.update(filtered.claimed)
            receiver.took_spans = receiver.took_spans or signal is Signal.TRACES
        given = {name: answer.headers[name] for name in PASSED_BACK if name in answer.headers}
        return Response(answer.data, answer.status, given)


async def _body(request: Request) -> bytes:
    """Return the body as it arrived.

    Raises:
        TooLarge: It is larger than the collector's limit; the rest was not read.
        ClientDisconnect: Its sender has left.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            msg = f"the request is larger than {MAX_BYTES} bytes; send smaller batches"
            raise TooLarge(msg)
    return bytes(body)


class _Filtered(NamedTuple):
    """A request after filtering."""

    body: bytes | None
    """Replaces the original body; None if that is unchanged."""
    claimed: Mapping[str, int]


def _filtered(
    body: bytes, headers: Mapping[str, str], signal: Signal, receiver: TrialReceiver
) -> _Filtered:
    """Return a request after filtering.

    Raises:
        EnvironmentFailed: The owners of its traces cannot be determined.
        MalformedRequest: It cannot be decoded.
        TooLarge: It is larger than the collector's limit.
    """
    encoding = status.encoding_of(headers.get("content-type", ""))
    coding = headers.get("content-encoding", "").strip().lower()
    if encoding is None:
        known = ", ".join(status.MEDIA_TYPES)
        msg = f"content type '{headers.get('content-type', '')}' is none of {known}"
        raise MalformedRequest(msg)
    plain = inflate(body, coding, MAX_BYTES) if coding in CODINGS else body
    request = decode(plain, signal, encoding)
    claimed, is_changed = filter_request(request, receiver.sayings)
    moved = move_traces(request, receiver.owners.own(receiver.address, traces_of(request)))
    if not (is_changed or moved.is_changed):
        return _Filtered(None, {})
    filtered = _Filtered(None, claimed + moved.claimed)
    if encoding is Encoding.PROTOBUF:
        return filtered._replace(body=request.SerializeToString())
    return filtered._replace(body=json.dumps(write_json(request)).encode())


def _refusal(request: Request, code: HTTPStatus, text: str) -> Response:
    """Return an error in OTLP, in the encoding of the request."""
    encoding = status.error_encoding(request.headers.get("content-type", ""))
    grpc_code = (
        Code.UNAVAILABLE if code >= HTTPStatus.INTERNAL_SERVER_ERROR else Code.INVALID_ARGUMENT
    )
    message = status.error_status(grpc_code, text)
    return Response(
        status.encode(message, encoding), code, media_type=status.CONTENT_TYPES[encoding]
    )
