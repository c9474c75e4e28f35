"""OTLP/JSON is read by OTLP's rules, and what breaks them is refused with its path."""

import json
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade_collector.encoding import otlp
from tracegrade_collector.encoding.otlp import Encoding, Rejection, Signal, decode, reject_invalid
from tracegrade_collector.errors import MalformedRequest

TRACE_ID, SPAN_ID = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"


def body(span: dict[str, Any] | str) -> bytes:
    """Return a request of one span, given as an object or as its JSON."""
    text = span if isinstance(span, str) else json.dumps(span)
    return f'{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{text}]}}]}}]}}'.encode()


def span(**members: object) -> dict[str, Any]:
    """Return a valid span with these members."""
    return {"traceId": TRACE_ID, "spanId": SPAN_ID, **members}


def attribute(value: str) -> str:
    """Return a span's JSON with one attribute of this JSON value."""
    return json.dumps(span())[:-1] + f', "attributes": [{{"key": "a", "value": {value}}}]}}'


def read(span: dict[str, Any] | str) -> Span:
    """Return the only span of a request."""
    request = decode(body(span), Signal.TRACES, Encoding.JSON)
    assert isinstance(request, ExportTraceServiceRequest)
    return request.resource_spans[0].scope_spans[0].spans[0]


def test_ids_are_hex_in_either_case() -> None:
    """Hex, not base64 as protobuf's mapping has it."""
    assert read(span(traceId=TRACE_ID.upper())).trace_id == bytes.fromhex(TRACE_ID)
    assert read(span(spanId=SPAN_ID)).span_id == bytes.fromhex(SPAN_ID)


@pytest.mark.parametrize(
    "member",
    [
        {"traceId": TRACE_ID[:-1]},
        {"traceId": TRACE_ID[:-2]},
        {"traceId": "0" * 32},
        {"traceId": ""},
        {"spanId": "zzzzzzzz"},
        {"parentSpanId": "zzzzzzzz"},
        {"parentSpanId": "zzzzzzzzzzzzzzzz"},
        {"links": [{"traceId": "xyz", "spanId": SPAN_ID}]},
        {"traceId": " ".join([TRACE_ID[:16], TRACE_ID[16:]])},
    ],
    ids=str,
)
def test_a_bad_id_costs_its_span_alone(member: dict[str, Any]) -> None:
    """The request stands; the span is taken out and counted."""
    request = decode(body(span(**member)), Signal.TRACES, Encoding.JSON)

    (rejection,) = reject_invalid(request)

    assert rejection.count == 1
    assert request.resource_spans[0].scope_spans[0].spans == []  # type: ignore[union-attr]  # traces


def test_counts_of_rejections_go_by_reason() -> None:
    """Good spans stay, in their order."""
    spans = [span(name="a"), span(traceId=""), span(name="b"), span(traceId="00"), span(spanId="")]
    text = ",".join(json.dumps(each) for each in spans)
    request = decode(body(text), Signal.TRACES, Encoding.JSON)

    assert reject_invalid(request) == [
        Rejection("trace_id must be 16 bytes, not all zero", 2),
        Rejection("span_id must be 8 bytes, not all zero", 1),
    ]
    assert isinstance(request, ExportTraceServiceRequest)
    assert [each.name for each in request.resource_spans[0].scope_spans[0].spans] == ["a", "b"]


@pytest.mark.parametrize("time", ["18446744073709551615", 18446744073709551615])
def test_times_are_numbers_or_text(time: object) -> None:
    """All 64 bits count."""
    assert read(span(startTimeUnixNano=time)).start_time_unix_nano == 2**64 - 1


@pytest.mark.parametrize(
    ("value", "field", "expected"),
    [
        ('{"intValue": "-9223372036854775808"}', "int_value", -(2**63)),
        ('{"intValue": 9223372036854775807}', "int_value", 2**63 - 1),
        ('{"doubleValue": "NaN"}', "double_value", pytest.approx(float("nan"), nan_ok=True)),
        ('{"doubleValue": "-Infinity"}', "double_value", -float("inf")),
        ('{"doubleValue": "1.5"}', "double_value", 1.5),
        ('{"doubleValue": 3}', "double_value", 3.0),
        ('{"bytesValue": "AP8="}', "bytes_value", b"\x00\xff"),
        ('{"stringValue": "a\\u0000\\ud83d\\ude00"}', "string_value", "a\0😀"),
        ('{"boolValue": false}', "bool_value", False),
    ],
)
def test_values_keep_their_type(value: str, field: str, expected: object) -> None:
    """Each member of an AnyValue is read as its type says."""
    found = read(attribute(value)).attributes[0].value

    assert found.WhichOneof("value") == field
    assert getattr(found, field) == expected


def test_a_negative_zero_keeps_its_sign() -> None:
    """It equals zero, so only its text tells."""
    assert str(read(attribute('{"doubleValue": -0.0}')).attributes[0].value.double_value) == "-0.0"


def test_what_is_unknown_is_ignored() -> None:
    """Unknown keys and nulls say nothing; unknown enum numbers stay."""
    found = read(span(kind=99, name=None, later={"a": [1, {"b": 2}]}))

    assert (found.kind, found.name) == (99, "")


@pytest.mark.parametrize(
    "member",
    [
        {"start_time_unix_nano": 5},
        {"StartTimeUnixNano": "5"},
        {"startTimeUnixNano": 5.0},
    ],
    ids=str,
)
def test_fields_are_found_however_their_names_are_spelled(member: dict[str, Any]) -> None:
    """In snake_case, in any case; a number is one as a text, too."""
    assert read(span(**member)).start_time_unix_nano == 5


def test_what_protobufs_own_mapping_writes_is_read() -> None:
    """Base64 ids, names of enum values, numbers where texts belong."""
    found = read(span(traceId="W47/95gDgQPSabYzgT/GDA==", kind="SPAN_KIND_SERVER", name=7))

    assert (found.trace_id.hex(), found.kind, found.name) == (TRACE_ID.lower(), 2, "7")


def test_two_spellings_of_one_field_are_refused() -> None:
    """Which of them counts is not said."""
    with pytest.raises(MalformedRequest, match="in two spellings"):
        read(span(start_time_unix_nano=5, startTimeUnixNano=6))


@pytest.mark.parametrize(
    ("value", "text", "why"),
    [
        ('{"stringValue": "abc\\ud83d"}', "abc\ufffd", "invalid_unicode"),
        ('{"intValue": "9223372036854775808"}', "9223372036854775808", "large_integer"),
        ('{"intValue": 1e21}', "1000000000000000000000", "large_integer"),
        ('{"stringValue": "a\xff"}', "a\ufffd", "invalid_unicode"),
    ],
)
def test_one_bad_value_costs_itself(value: str, text: str, why: str) -> None:
    """All the rest of the request stands, and the value is counted."""
    given = body(attribute(value).encode("latin-1").decode("latin-1")).replace(
        "\xff".encode(), b"\xff"
    )
    request, reading = otlp.read(given, Signal.TRACES, Encoding.JSON)

    assert isinstance(request, ExportTraceServiceRequest)
    span_ = request.resource_spans[0].scope_spans[0].spans[0]
    assert span_.attributes[0].value.string_value == text
    assert reading.replaced == {why: 1}


SPAN = "resourceSpans[0].scopeSpans[0].spans[0]"
VALUE = f"{SPAN}.attributes[0].value"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"", "not JSON"),
        (b"[]", "top level: expected object, found list"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"[" * 100_000, "nested too deep"),
        (body('{"name": NaN}'), f"{SPAN}.name: NaN is not a JSON number"),
        (body('{"name": "a", "name": "b"}'), f"{SPAN}: key 'name' stands 2 times"),
        (body('{"kind": "SPAN_KIND_OF_NONE"}'), f"{SPAN}.kind: expected integer"),
        (body('{"kind": true}'), f"{SPAN}.kind: expected integer, found true"),
        (body('{"flags": 4294967296}'), f"{SPAN}.flags: 4294967296 is not within 0..4294967295"),
        (body('{"flags": -1}'), f"{SPAN}.flags: -1 is not within"),
        (body('{"startTimeUnixNano": 1.5}'), f"{SPAN}.startTimeUnixNano: expected integer"),
        (body('{"startTimeUnixNano": "1e3"}'), f"{SPAN}.startTimeUnixNano: expected integer"),
        (body('{"startTimeUnixNano": "18446744073709551616"}'), "is not within"),
        (body('{"startTimeUnixNano": ' + "9" * 5000 + "}"), "number of 5000 digits"),
        (body('{"startTimeUnixNano": "' + "9" * 5000 + '"}'), "startTimeUnixNano: expected"),
        (body('{"events": {}}'), f"{SPAN}.events: expected list, found object"),
        (body('{"events": [7]}'), f"{SPAN}.events[0]: expected object, found 7"),
        (body(attribute('{"doubleValue": 1e999}')), f"{VALUE}.doubleValue: 1e999 is too large"),
        (body(attribute('{"doubleValue": "inf"}')), f"{VALUE}.doubleValue: expected number"),
        (body(attribute('{"doubleValue": ' + "9" * 350 + "}")), "too large for a double"),
        (body(attribute('{"bytesValue": "?"}')), f"{VALUE}.bytesValue: not base64"),
        (body(attribute('{"boolValue": 1}')), f"{VALUE}.boolValue: expected true or false"),
        (body(attribute('{"intValue": 1, "stringValue": "a"}')), "second value where one is"),
        (body('{"later": {"a": NaN}}'), "NaN is not a JSON number; put it in quotes (below a key"),
    ],
)
def test_what_breaks_the_rules_is_refused_with_its_path(given: bytes, said: str) -> None:
    """Nothing is half read."""
    with pytest.raises(MalformedRequest) as refused:
        decode(given, Signal.TRACES, Encoding.JSON)

    assert said in str(refused.value)


def nested(depth: int) -> ExportTraceServiceRequest:
    """Return a request with a value inside so many lists."""
    request = ExportTraceServiceRequest()
    value = request.resource_spans.add().scope_spans.add().spans.add().attributes.add().value
    for _ in range(depth):
        value = value.array_value.values.add()
    return request


@pytest.mark.parametrize(("depth", "is_read"), [(47, True), (48, False)])
def test_json_may_be_nested_as_deep_as_protobuf(depth: int, is_read: bool) -> None:
    """What one encoding carries, the other does too."""
    text = body(attribute('{"arrayValue":{"values":[' * depth + "{}" + "]}}" * depth))
    bodies = [(nested(depth).SerializeToString(), Encoding.PROTOBUF), (text, Encoding.JSON)]

    for each, encoding in bodies:
        if is_read:
            decode(each, Signal.TRACES, encoding)
        else:
            with pytest.raises(MalformedRequest):
                decode(each, Signal.TRACES, encoding)


def test_an_empty_request_is_one() -> None:
    """No bytes of protobuf, and an empty object, carry nothing."""
    assert decode(b"", Signal.TRACES, Encoding.PROTOBUF) == ExportTraceServiceRequest()
    assert decode(b"{}", Signal.TRACES, Encoding.JSON) == ExportTraceServiceRequest()
