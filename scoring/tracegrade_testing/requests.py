"""Captured spans and log records → OTLP requests → rows of the raw tables, without secrets.

The same way as spans of an import: encoded, read as columns, redacted.
"""

import secrets
import time
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, NamedTuple

import pyarrow as pa
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from tracegrade import names
from tracegrade.redacting_exporter import clean_span
from tracegrade.whole_texts import whole_span
from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.importing.importer import COLLECTOR_ID
from tracegrade_collector.redact.pseudonyms import SECRET_BYTES, Pseudonyms
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.rows import Record, log_rows, span_rows
from tracegrade_testing.recording import Captured

HASH: Final = "content_hash"


class DeclaredRun(NamedTuple):
    """What a test says of a run whose spans do not."""

    task: str | None = None
    trial: int | None = None


class CaptureRequests(NamedTuple):
    """One capture as OTLP requests in protobuf."""

    spans: bytes
    logs: bytes
    trace_ids: frozenset[str]
    """Of its spans, in hex."""


def requests_of(captured: Captured, declared: DeclaredRun) -> CaptureRequests:
    """Return a capture as requests; spans that name no task or trial get those of the test."""
    cleaned = (clean_span(span) for span in captured.spans)
    request = encode_spans([whole_span(span) for span in cleaned if span is not None])
    _declare(request, declared)
    logs = encode_logs(captured.logs).SerializeToString() if captured.logs else b""
    contexts = (span.context for span in captured.spans)
    traces = frozenset(format(each.trace_id, "032x") for each in contexts if each is not None)
    return CaptureRequests(request.SerializeToString(), logs, traces)


def _declare(request: ExportTraceServiceRequest, declared: DeclaredRun) -> None:
    values = {}
    if declared.task is not None:
        values[names.TASK_ID] = AnyValue(string_value=declared.task)
    if declared.trial is not None:
        values[names.TRIAL] = AnyValue(int_value=declared.trial)
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                known = {attribute.key for attribute in span.attributes}
                for key in values.keys() - known:
                    span.attributes.add(key=key, value=values[key])


def raw_rows(captures: Iterable[CaptureRequests]) -> tuple[pa.Table, pa.Table]:
    """Return the rows of `raw_spans` and `raw_logs`, redacted as those of a lake are."""
    requests = list(captures)
    now = time.time_ns()
    spans = _records(Signal.TRACES, [each.spans for each in requests], now)
    logs = _records(Signal.LOGS, [each.logs for each in requests if each.logs], now)
    shorten = _redactor().shortened
    span_table = _redactor().redact_rows(_once(span_rows(spans, COLLECTOR_ID, shorten)))
    return span_table, _redactor().redact_rows(log_rows(logs, COLLECTOR_ID, shorten))


def _records(signal: Signal, bodies: Sequence[bytes], now: int) -> list[Record]:
    return [
        Record(number, now, signal, Encoding.PROTOBUF, "", body)
        for number, body in enumerate(bodies, start=1)
    ]


def _once(rows: pa.Table) -> pa.Table:
    """Return each span once, as an import adds it."""
    hashes = rows[HASH].combine_chunks()
    numbered = pa.table({HASH: hashes, "position": pa.arange(0, len(rows))})
    firsts = numbered.group_by(HASH).aggregate([("position", "min")])["position_min"]
    return rows if len(firsts) == len(rows) else rows.take(firsts.combine_chunks().sort())


@cache
def _redactor() -> Redactor:
    """Return a redactor with the collector's rules and a secret of this process."""
    config = CollectorConfig()
    return Redactor(
        Pseudonyms(secrets.token_bytes(SECRET_BYTES)),
        max_value_bytes=config.max_value_bytes,
        max_blob_bytes=config.max_blob_bytes,
    )
