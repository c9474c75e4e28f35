"""Values that are far longer as JSON than they were sent are cut before they are rows."""

import json

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.rows.shortening import (
    LONG_BYTES,
    MOST_NESTED_BYTES,
    NotedShortening,
    shortened,
)

KEPT = 1_000


def cut(text: bytes, length: int | None = None) -> bytes:
    """Keep the beginning of a text, and how long it was."""
    return text[:KEPT] + b" of %d" % (length or len(text))


def attributes(*lists: str) -> tuple[list[AnyValue], bool]:
    """Return what is left of lists of one text, and whether any had to be cut."""
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    for text in lists:
        span.attributes.add(key="k").value.array_value.values.add().string_value = text
    shorten = NotedShortening(cut)
    body = request.SerializeToString()
    found = ExportTraceServiceRequest.FromString(shortened(body, Signal.TRACES, shorten))
    (span,) = found.resource_spans[0].scope_spans[0].spans
    return [each.value for each in span.attributes], shorten.was_needed


def test_what_counts_is_the_length_as_json() -> None:
    """A control character takes six, so a list that was sent short may be long."""
    few = LONG_BYTES // 5
    (plain, acting), was_needed = attributes("a" * few, "\x01" * few)

    assert plain.array_value.values[0].string_value == "a" * few
    assert acting.string_value == cut(json.dumps(["\x01" * few]).encode()).decode()
    assert was_needed


def test_many_that_are_not_long_are_long_together() -> None:
    """All that goes beyond what an item may have keeps its length alone, however short it is."""
    one = "\x01" * 100_000
    count = MOST_NESTED_BYTES // 600_000
    values, was_needed = attributes(*([one] * (count + 5)))

    whole = [each for each in values if each.HasField("array_value")]
    noted = [each.string_value for each in values if each.HasField("string_value")]
    assert (len(whole), len(noted), was_needed) == (count, 5, True)
    assert all(each.endswith(" of 600004") for each in noted)


def test_values_of_the_usual_length_stay_as_they_came() -> None:
    """And nothing is noted."""
    values, was_needed = attributes("a" * 1_000, "\x01" * 1_000)
    assert [each.array_value.values[0].string_value for each in values] == [
        "a" * 1_000,
        "\x01" * 1_000,
    ]
    assert not was_needed
