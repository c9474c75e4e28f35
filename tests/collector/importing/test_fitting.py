"""What a file holds becomes rows in bounded memory, however often these repeat a resource."""

from collections.abc import Callable

import pytest
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tracegrade_collector.encoding.otlp import ExportRequest, Signal, groups
from tracegrade_collector.importing.fitting import fitting
from tracegrade_collector.rows.pieces import PIECE_REPEATED_BYTES
from tracegrade_collector.rows.wire import repeated_bytes

LONG = 1 << 20
"""Bytes of a resource, which a few hundred items repeat too often."""


def traces(items: int, resource_bytes: int) -> ExportTraceServiceRequest:
    """Return spans of one long resource, and one of another."""
    request = ExportTraceServiceRequest()
    for count, text in ((items, "x" * resource_bytes), (1, "short")):
        spans = request.resource_spans.add(schema_url="https://resource.example")
        spans.resource.attributes.add(key="process.command_line").value.string_value = text
        scope = spans.scope_spans.add(schema_url="https://scope.example")
        scope.scope.name = "agent"
        for number in range(count):
            scope.spans.add(name=f"{text[:1]}{number}", trace_id=bytes(15) + b"1")
    return request


def logs(items: int, resource_bytes: int) -> ExportLogsServiceRequest:
    """Return log records of one long resource."""
    request = ExportLogsServiceRequest()
    records = request.resource_logs.add()
    records.resource.attributes.add(key="note").value.string_value = "x" * resource_bytes
    scope = records.scope_logs.add()
    for number in range(items):
        scope.log_records.add(time_unix_nano=number + 1)
    return request


def told(requests: list[ExportRequest]) -> list[tuple[Message, ...]]:
    """Return each item with all that it shares with others, in order."""
    shared = ("resource", "scope")
    return [
        (item, *(getattr(getattr(group, name), name) for name in shared))
        for request in requests
        for group in groups(request)
        for item in group.items
    ]


@pytest.mark.parametrize(("signal", "make"), [(Signal.TRACES, traces), (Signal.LOGS, logs)])
def test_request_that_repeats_too_much_is_divided_and_loses_nothing(
    signal: Signal, make: Callable[[int, int], ExportRequest]
) -> None:
    """Items stay in their order, each with its own resource and scope."""
    whole = make(200, LONG)

    parts = list(fitting(whole, signal))

    assert len(parts) >= 200 * LONG // PIECE_REPEATED_BYTES
    sizes = [repeated_bytes(part.SerializeToString()) for part in parts]
    assert max(sizes) <= PIECE_REPEATED_BYTES
    assert told(parts) == told([whole])


def test_request_that_repeats_little_is_taken_as_it_is() -> None:
    """It is the same object, with all that it holds beside its items."""
    whole = traces(200, 100)

    assert list(fitting(whole, Signal.TRACES)) == [whole]


def test_item_whose_resource_alone_is_too_large_is_taken_alone() -> None:
    """There is no smaller part of it."""
    whole = logs(3, PIECE_REPEATED_BYTES + 1)

    parts = list(fitting(whole, Signal.LOGS))

    assert [len(told([part])) for part in parts] == [1, 1, 1]


def test_schemas_stay_with_their_items() -> None:
    """Those of the resource and of the scope."""
    (first, *_) = fitting(traces(200, LONG), Signal.TRACES)
    (group,) = groups(first)

    urls = (group.resource.schema_url, group.scope.schema_url)
    assert urls == ("https://resource.example", "https://scope.example")
