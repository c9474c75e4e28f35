"""Clients that send spans all the time, and record the response to each."""

import hashlib
import http.client
import itertools
import random
import socket
import threading
import time
from contextlib import suppress

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.waiting import PATIENCE_SECS

from .running import PROTOBUF, trace_request

PAUSE_SECS = 0.002  # between requests, so that the lander gets its share of two cores
FIRST_ID_OF_PATIENT = 1 << 32
REFUSED_SHARE = 0.1
GARBAGE_SHARE = 0.05
NEVER_GIVEN = range(20_000, 32_768)  # Linux gives those from 32,768, macOS those from 49,152
GARBAGE = b"\xff\xff no request"


def expected_name(span_id: int) -> str:
    """Return the name of a client's span: different for each, and never short."""
    return f"span {span_id} {hashlib.sha256(str(span_id).encode()).hexdigest()}"


class Client(threading.Thread):
    """Sends spans with rising ids, one request at a time, and notes what was acknowledged."""

    def __init__(self, port: int, first_id: int, seed: int, *, sends_again: bool) -> None:
        super().__init__(daemon=True)
        self.port = port
        self._ids = itertools.count(first_id)
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._sends_again = sends_again
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECS)
        self.stopping = threading.Event()
        self.sent: list[int] = []
        self.acknowledged: list[int] = []
        self.refused = 0
        """Spans refused in requests that were acknowledged."""

        self.garbage = 0
        """Requests answered 400."""

    def run(self) -> None:
        """Send until stopped; finish a request that must be sent again first."""
        while not self.stopping.is_set():
            if self._random.random() < GARBAGE_SHARE:
                self.garbage += self._send(GARBAGE) == 400
            self._send_spans()
            time.sleep(PAUSE_SECS)
        self._connection.close()

    def _send_spans(self) -> None:
        span_ids = list(itertools.islice(self._ids, self._random.randint(1, 5)))
        refused = self._random.random() < REFUSED_SHARE
        self.sent += span_ids
        body = _request(span_ids, refused=refused).SerializeToString()
        status = self._send(body)
        while self._sends_again and status != 200:
            status = self._send(body)
        if status == 200:
            self.acknowledged += span_ids
            self.refused += refused

    def _send(self, body: bytes) -> int:
        """Return the status of the answer, 0 if there was none."""
        try:
            self._connection.request("POST", "/v1/traces", body, PROTOBUF)
            response = self._connection.getresponse()
            response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            time.sleep(0.005)
            return 0
        return response.status


def _request(span_ids: list[int], *, refused: bool) -> ExportTraceServiceRequest:
    """Return a request with these spans, and one without an id if it is to be refused."""
    request = trace_request(*span_ids)
    spans = request.resource_spans[0].scope_spans[0].spans
    for span, span_id in zip(spans, span_ids, strict=True):
        span.name = expected_name(span_id)
    if refused:
        spans.add(trace_id=bytes(15) + b"\1", name="without an id")
    return request


def own_port() -> int:
    """Return a free port outside the range that the system assigns.

    If the system had assigned it, a collector that restarts often might find it in use.
    """
    for port in random.SystemRandom().sample(NEVER_GIVEN, len(NEVER_GIVEN)):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    msg = "all ports are taken"
    raise OSError(msg)
