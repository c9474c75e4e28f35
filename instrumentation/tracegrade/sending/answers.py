"""Reads a collector's answer over HTTP or gRPC: which spans it took, and whether to retry.

OTLP calls 200 a success, with a response that may report rejected spans. Any other answer, such as
a login page or a redirect, has taken nothing. 429, 502, 503 and 504 ask for another attempt.
"""

import json
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from tracegrade.sending.delivery import Fate, Reply

_TRY_AGAIN: Final = frozenset((429, 502, 503, 504))
_TOO_LARGE: Final = 413
_BAD: Final = 400


REJECTED: Final = "rejected by the collector"
NOT_OTLP: Final = "not answered by a collector"


def http_answer(status: int, body: bytes, content_type: str = "", where: str = "") -> Reply:
    """Return the meaning of an answer over HTTP.

    Args:
        status: The status code.
        body: The answer's body.
        content_type: The answer's content type.
        where: The target of a redirect.
    """
    if 200 <= status < 300:
        return _taken(body, content_type)
    reason = f"HTTP {status}"
    if 300 <= status < 400:
        return Reply(Fate.LOST, reason, f"it leads to {where[:200]}" if where else "a redirect")
    fates = {_TOO_LARGE: Fate.TOO_LARGE, _BAD: Fate.BAD}
    fate = Fate.LATER if status in _TRY_AGAIN else fates.get(status, Fate.LOST)
    return Reply(fate, reason)


def _taken(body: bytes, content_type: str) -> Reply:
    """Read a response of OTLP; one without a body reports success."""
    text = body.strip()
    if not text:
        return Reply(Fate.TAKEN)
    page = Reply(Fate.LOST, NOT_OTLP, f"but by {text[:60].decode(errors='replace')!r}")
    if text.startswith(b"<") or "html" in content_type:
        return page
    if text.startswith(b"{"):
        return _taken_json(text, page)
    try:
        return partly(ExportTraceServiceResponse.FromString(body).partial_success)
    except DecodeError:
        return page


def _taken_json(text: bytes, page: Reply) -> Reply:
    try:
        partial: Any = json.loads(text).get("partialSuccess") or {}
        rejected = int(partial.get("rejectedSpans") or 0)
        reason = str(partial.get("errorMessage") or "")
    except (ValueError, TypeError, AttributeError):
        return page
    return partly(ExportTracePartialSuccess(rejected_spans=rejected, error_message=reason))


def partly(partial: ExportTracePartialSuccess) -> Reply:
    """Return the partial success of a response; without one, all spans were accepted."""
    rejected = max(partial.rejected_spans, 0)
    return Reply(Fate.TAKEN, REJECTED if rejected else "", partial.error_message[:200], rejected)
