"""Spans that the collector is known to meet, by their number in docs/reliability.md, section 3.

A test named `test_input_27_…` is about input 27; `test_bad_requests.py` has those of requests.
"""

import json
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.collector.encoding.wire_bytes import field
from tests.collector.running import (
    JSON,
    Collector,
    landed,
    landed_ids,
    trace_body,
    trace_request,
)
from tests.collector.transports import ACCEPTED, Transport
from tests.slow import slow_after
from tests.waiting import wait_until

from tracegrade_collector.rows.otlp_messages import span_request

from .bad_inputs import (
    MILLION,
    ids_from_here,
    json_span,
    json_spans,
    only_span,
    rows_of,
    sorted_rows,
    spans_of,
)


def test_input_24_json_ids_are_hex_in_any_case(collector: Collector) -> None:
    """Upper and lower case are equal; other ids cost only their own span."""
    ids = ["00000000000000AB", "00000000000000ac", "abc", "AAAAAAAAAKw"]
    spans = [json_span(1, spanId=span_id) for span_id in ids]
    answer = collector.post("/v1/traces", json_spans(*spans), JSON)

    assert json.loads(answer.body)["partialSuccess"]["rejectedSpans"] == "2"
    assert len(rows_of(collector, 0xAB, 0xAC)) == 2
    assert {"abc", "AAAAAAAAAKw"} <= {item.get("spanId") for item in dead_letters(collector)}


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


@pytest.mark.parametrize("bad", [b"\xff\xfe\xff\xfe ", b"\xed\xa0\x80.."])
def test_input_29_text_that_is_no_utf8_costs_itself(
    wire: Transport, collector: Collector, span_id: int, bad: bytes
) -> None:
    """A name with bytes that are none, or with half of a pair; the row says what was replaced."""
    body = trace_body(span_id).replace(b"span ", bad)
    assert wire.send(body).verdict == ACCEPTED

    (row,) = rows_of(collector, span_id)
    assert "\ufffd" in row["name"]
    assert {"path": "name", "rule": "invalid_unicode"} in row["redacted"]


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


def test_input_30_half_a_surrogate_pair_in_json_costs_itself(
    collector: Collector, span_id: int
) -> None:
    """It has no UTF-8, so U+FFFD stands for it, and the row says so."""
    body = json_spans(json_span(span_id, name="X")).replace(b'"X"', b'"a\\ud800"')
    assert collector.post("/v1/traces", body, JSON).status == 200

    (row,) = rows_of(collector, span_id)
    assert (row["name"], row["redacted"]) == (
        "a\ufffd",
        [{"path": "name", "rule": "invalid_unicode"}],
    )


def test_a_request_of_which_nothing_is_understood_is_told(collector: Collector) -> None:
    """It is not an error in OTLP, and its sender gets a warning; an empty request gets none."""
    told = collector.post("/v1/traces", b'{"foo": []}', JSON)

    assert told.status == 200
    assert "unknown: 'foo'" in json.loads(told.body)["partialSuccess"]["errorMessage"]
    assert collector.post("/v1/traces", b"{}", JSON).body == b"{}"
    assert collector.numbers()['not_understood_requests_total{signal="traces"}'] >= 1


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


def test_input_38_snake_case_and_names_of_enums_are_read(
    collector: Collector, span_id: int
) -> None:
    """As protobuf has the names of fields, and its own mapping to JSON writes enums."""
    sent = json_span(span_id, start_time_unix_nano="5", name="x", kind="SPAN_KIND_SERVER")
    body = json_spans(sent).replace(b"resourceSpans", b"resource_spans")

    assert collector.post("/v1/traces", body, JSON).status == 200
    (row,) = rows_of(collector, span_id)
    assert (row["name"], row["start_ns"], row["kind"]) == ("x", 5, 2)


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


@pytest.mark.parametrize(
    "transport", slow_after(1, ["http-protobuf", "http-json", "grpc"]), indirect=True
)
def test_input_45_request_sent_a_hundred_times_is_one(
    transport: Transport, collector: Collector, span_id: int
) -> None:
    """All copies are kept, and one is not marked as sent again."""
    body = transport.encode(trace_request(span_id))
    for _ in range(100):
        transport.send(body)
    wait_until(lambda: landed_ids(collector.lake).count(span_id) == 100)

    assert landed_ids(collector.lake, with_resent=False).count(span_id) == 1
