"""Requests that are small where they are sent and large where they are read.

Each is within the limits of a request's bytes, and looks for a way to take far more memory in the
receiver or in the lander: values that are written longer than they were sent, what every row
repeats, many tiny parts, depth, and what is refused after it was read.
"""

import gzip
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.collector.encoding.wire_bytes import field, varint

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
TRACES: Final = "/v1/traces"
LOGS: Final = "/v1/logs"

SIZE: Final = 60_000_000
VALUES: Final = 1_900_000
ITEMS: Final = 240_000
IDS: Final = field(1, b"t" * 16) + field(2, b"s" * 8)
JSON_SPAN: Final = b'{"traceId":"%s","spanId":"%s"' % (b"74" * 16, b"73" * 8)


@dataclass(frozen=True)
class HostileBody:
    """One request."""

    name: str
    body: Callable[[], bytes]
    """Makes it, as it is once decompressed."""

    path: str = TRACES
    content_type: str = PROTOBUF
    is_grpc: bool = False
    """Sent over gRPC, whose compression is gzip, too."""

    def compressed(self) -> bytes:
        """Return it as it is sent, in gzip."""
        return gzip.compress(self.body(), 6)


def text(value: bytes) -> bytes:
    """Return an `AnyValue` of a string."""
    return field(1, value)


def array(*values: bytes) -> bytes:
    """Return an `AnyValue` of a list."""
    return field(5, b"".join(field(1, value) for value in values))


def repeated(value: bytes, count: int) -> bytes:
    """Return an `AnyValue` of a list of equal values."""
    return field(5, field(1, value) * count)


def entry(key: bytes, value: bytes) -> bytes:
    """Return a `KeyValue`."""
    return field(1, key) + field(2, value)


def kvlist(*entries: bytes) -> bytes:
    """Return an `AnyValue` of an object."""
    return field(6, b"".join(field(1, each) for each in entries))


def spans(*items: bytes, resource: bytes = b"", scope: bytes = b"", url: bytes = b"") -> bytes:
    """Return a request of spans that share a resource and a scope."""
    of_scope = (field(1, scope) if scope else b"") + b"".join(field(2, each) for each in items)
    shared = field(1, resource) if resource else b""
    return field(1, shared + field(2, of_scope + (field(3, url) if url else b"")))


def one(value: bytes) -> bytes:
    """Return a request of one span with one attribute."""
    return spans(IDS + field(9, entry(b"k", value)))


def record(value: bytes) -> bytes:
    """Return a request of one log record with this body."""
    return spans(field(5, value))


def many(resource: bytes = b"", scope: bytes = b"", url: bytes = b"", count: int = ITEMS) -> bytes:
    """Return a request of many short spans."""
    return spans(*([IDS] * count), resource=resource, scope=scope, url=url)


def distinct_attributes() -> bytes:
    """Return a request of one span with attributes of many names."""
    keys = (b"%d" % number for number in range(VALUES // 2))
    return spans(IDS + b"".join(field(9, field(1, key) + field(2, b"")) for key in keys))


def equal_attributes() -> bytes:
    """Return a request of one span with one attribute again and again."""
    return spans(IDS + field(9, entry(b"k", text(b"v"))) * (VALUES // 2))


def nested(wrap: Callable[[bytes], bytes], depth: int, width: int) -> bytes:
    """Return a list of values that stand so deep in one another."""
    value = text(b"")
    for _ in range(depth):
        value = wrap(value)
    return repeated(value, width)


def doubles() -> bytes:
    """Return a request of a list of numbers that take 24 letters each."""
    numbers = (struct.pack("<d", -1.2345678901234567e-300 * (1 + n / 1e7)) for n in range(VALUES))
    return one(field(5, b"".join(field(1, b"\x21" + number) for number in numbers)))


def integers() -> bytes:
    """Return a request of many attributes that are long integers."""
    value = b"\x18" + varint(2**63)
    return spans(IDS + field(9, entry(b"k", value)) * (VALUES // 2))


def json_span(members: bytes) -> bytes:
    """Return a request of one span with more members, as JSON."""
    return b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + JSON_SPAN + members + b"}]}]}]}"


def json_text(value: bytes) -> bytes:
    """Return a request of one span with one text, as JSON."""
    return json_span(b',"attributes":[{"key":"k","value":{"stringValue":"%s"}}]' % value)


def json_list(value: bytes, count: int) -> bytes:
    """Return a request of one span with one list, as JSON."""
    values = b",".join([value] * count)
    return json_span(
        b',"attributes":[{"key":"k","value":{"arrayValue":{"values":[%s]}}}]' % values
    )


def json_unknown(value: bytes, count: int) -> bytes:
    """Return a request with a list under a key that OTLP does not know."""
    return b'{"x":[' + b",".join([value] * count) + b"]}"


def json_keys() -> bytes:
    """Return a request with many different unknown keys."""
    return json.dumps(dict.fromkeys(map(str, range(VALUES // 2)), 0)).encode()


def refused_json() -> bytes:
    """Return spans without ids, as JSON, with a large value."""
    value = b"\\u0001" * (SIZE // 6)
    span = b'{"attributes":[{"key":"k","value":{"stringValue":"%s"}}]}' % value
    return b'{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}' % span


def deep(depth: int = 40) -> bytes:
    """Return a list of lists that stand so deep in one another."""
    return nested(lambda value: field(5, field(1, value)), depth, VALUES // (2 * depth + 10))


def deep_beside() -> bytes:
    """Return a request of a span whose event and link have deep lists."""
    attribute = entry(b"k", deep(36))
    return spans(IDS + field(11, field(3, attribute)) + field(13, IDS + field(4, attribute)))


def resources() -> bytes:
    """Return a request of many resources, each with an attribute of its own and one span."""
    return b"".join(
        spans(IDS, resource=field(1, entry(b"k%d" % number, text(b"v"))))
        for number in range(ITEMS // 3)
    )


def below_what_is_cut() -> bytes:
    """Return a request of log records that are each just too short to be cut before."""
    body = array(text(b"\1" * 7_900_000))
    return spans(*([field(5, body)] * 7))


def lists_in_one_span(size: int) -> bytes:
    """Return a request of a span with many lists that are each too short to be cut."""
    attribute = field(9, entry(b"k", array(text(b"\1" * size))))
    return spans(IDS + attribute * (SIZE // (size + 20)))


def keys_of_their_own() -> bytes:
    """Return a request of spans, each of which has attributes of names that no other has."""
    keys = (b"attribute.%d" % number for number in range(VALUES // 4))
    triples = zip(keys, keys, keys, strict=False)
    return spans(
        *(IDS + b"".join(field(9, entry(key, text(b"v"))) for key in each) for each in triples)
    )


def json_value(inner: bytes, depth: int) -> bytes:
    """Return a value that stands so deep in lists, as JSON."""
    return b'{"arrayValue":{"values":[' * depth + inner + b"]}}" * depth


def json_deep_beside() -> bytes:
    """Return a request of a span whose event and link have deep lists, as JSON."""
    value = json_value(b",".join([json_value(b"{}", 30)] * (VALUES // 400)), 1)
    attributes = b'"attributes":[{"key":"k","value":%s}]' % value
    return json_span(b',"events":[{%s}],"links":[%s,%s}]' % (attributes, JSON_SPAN, attributes))


def json_resources() -> bytes:
    """Return a request of many resources, each with an attribute of its own, as JSON."""
    each = (
        b'{"resource":{"attributes":[{"key":"k%d","value":{"stringValue":"v"}}]},'
        b'"scopeSpans":[{"spans":[%s}]}]}' % (number, JSON_SPAN)
        for number in range(ITEMS // 3)
    )
    return b'{"resourceSpans":[%s]}' % b",".join(each)


def json_records(value: bytes, count: int) -> bytes:
    """Return a request of log records with a list of one text as their body, as JSON."""
    record = b'{"body":{"arrayValue":{"values":[{"stringValue":"%s"}]}}}' % value
    records = b",".join([record] * count)
    return b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[%s]}]}]}' % records


def json_keys_of_their_own() -> bytes:
    """Return a request of spans with attributes of names that no other span has, as JSON."""
    attributes = (
        b'{"key":"attribute.%d","value":{"stringValue":"v"}}' % number
        for number in range(VALUES // 12)
    )
    each = (b'%s,"attributes":[%s]}' % (JSON_SPAN, attribute) for attribute in attributes)
    return b'{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}' % b",".join(each)


EMOJI: Final = "\N{GRINNING FACE}".encode()
FULL: Final = b"\1" * SIZE
SECRET: Final = b"password=hunter2hunter2 "
HALF: Final = VALUES // 2

BODIES: Final = [
    HostileBody("control characters in a list", lambda: one(array(text(FULL)))),
    HostileBody("control characters in an object", lambda: one(kvlist(entry(b"k", text(FULL))))),
    HostileBody("control characters as a key", lambda: one(kvlist(entry(FULL, text(b""))))),
    HostileBody("control characters in a text", lambda: one(text(FULL))),
    HostileBody("control characters in a record's body", lambda: record(array(text(FULL))), LOGS),
    HostileBody(
        "list in a resource", lambda: many(field(1, entry(b"k", array(text(FULL)))), count=1)
    ),
    HostileBody("a long text", lambda: one(text(b"a " * (SIZE // 2)))),
    HostileBody("a long text with one emoji", lambda: one(text(EMOJI + b"a " * (SIZE // 2)))),
    HostileBody(
        "fifteen long texts",
        lambda: spans(
            IDS
            + b"".join(
                field(9, entry(b"%d" % n, text(EMOJI + b"a " * 1_990_000))) for n in range(15)
            )
        ),
    ),
    HostileBody("base64 in a text", lambda: one(text(b"aZ09" * (SIZE // 4)))),
    HostileBody("bytes", lambda: one(field(7, FULL))),
    HostileBody("bytes in a list", lambda: one(array(field(7, FULL)))),
    HostileBody("a long name", lambda: spans(IDS + field(5, FULL))),
    HostileBody("a long status", lambda: spans(IDS + field(15, field(2, FULL)))),
    HostileBody("secrets in a text", lambda: one(text(SECRET * (SIZE // len(SECRET))))),
    HostileBody(
        "secrets in many attributes",
        lambda: spans(*([IDS + field(9, entry(b"password", text(b"hunter2")))] * ITEMS)),
    ),
    HostileBody("secrets in a list", lambda: one(repeated(text(SECRET), HALF))),
    HostileBody("empty attributes", lambda: spans(IDS + field(9, b"") * VALUES)),
    HostileBody("attributes of many names", distinct_attributes),
    HostileBody("one attribute again and again", equal_attributes),
    HostileBody("long integers again and again", integers),
    HostileBody("a long list of doubles", doubles),
    HostileBody("a long list of empty values", lambda: one(repeated(b"", VALUES))),
    HostileBody("a long list of empty lists", lambda: one(repeated(field(5, b""), VALUES))),
    HostileBody(
        "a long list of objects", lambda: one(repeated(field(6, field(1, b"")), VALUES // 2))
    ),
    HostileBody(
        "deep lists",
        lambda: one(nested(lambda value: field(5, field(1, value)), 40, VALUES // 90)),
    ),
    HostileBody(
        "deep objects",
        lambda: one(nested(lambda value: kvlist(entry(b"k", value)), 20, VALUES // 70)),
    ),
    HostileBody("events", lambda: spans(IDS + field(11, b"") * VALUES)),
    HostileBody(
        "events with attributes", lambda: spans(IDS + field(11, field(3, field(1, b"k"))) * HALF)
    ),
    HostileBody("links", lambda: spans(IDS + field(13, b"") * VALUES)),
    HostileBody("short spans", many),
    HostileBody("resources of a span", lambda: spans(IDS) * (ITEMS // 3)),
    HostileBody(
        "a resource that each row repeats", lambda: many(field(1, entry(b"k", text(b"r" * 2200))))
    ),
    HostileBody(
        "a list that each row repeats",
        lambda: many(field(1, entry(b"k", array(text(b"\1" * 2200))))),
    ),
    HostileBody("a schema's address that each row repeats", lambda: many(url=b"u" * 200_000)),
    HostileBody(
        "equal keys that each row repeats", lambda: many(field(1, entry(b"k", text(b"v"))) * 230)
    ),
    HostileBody("a scope's name that each row repeats", lambda: many(scope=field(1, b"n" * 2200))),
    HostileBody(
        "short log records",
        lambda: spans(*([field(5, kvlist(entry(b"k", text(b"v"))))] * ITEMS)),
        LOGS,
    ),
    HostileBody(
        "wide objects in log records",
        lambda: record(kvlist(*(entry(b"%d" % n, text(b"")) for n in range(HALF // 2)))),
        LOGS,
    ),
    HostileBody(
        "refused spans",
        lambda: spans(
            *([field(5, b"x")] * ITEMS), resource=field(1, entry(b"k", text(b"r" * 2000)))
        ),
    ),
    HostileBody("a large refused span", lambda: spans(field(9, entry(b"k", array(text(FULL)))))),
    HostileBody("unknown fields", lambda: spans(IDS + field(99, FULL))),
    HostileBody("no protobuf", lambda: b"\xff" * SIZE),
    HostileBody(
        "JSON: an escaped text", lambda: json_text(b"\\u0001" * (SIZE // 6)), TRACES, JSON
    ),
    HostileBody(
        "JSON: a text with one emoji", lambda: json_text(EMOJI + b"a " * (SIZE // 2)), TRACES, JSON
    ),
    HostileBody(
        "JSON: an escaped text in a list",
        lambda: json_list(b'{"stringValue":"%s"}' % (b"\\u0001" * (SIZE // 6)), 1),
        TRACES,
        JSON,
    ),
    HostileBody("JSON: empty objects", lambda: json_list(b"{}", VALUES), TRACES, JSON),
    HostileBody(
        "JSON: empty attributes",
        lambda: json_span(b',"attributes":[' + b",".join([b"{}"] * HALF) + b"]"),
        TRACES,
        JSON,
    ),
    HostileBody(
        "JSON: values of a list", lambda: json_list(b'{"stringValue":""}', HALF // 2), TRACES, JSON
    ),
    HostileBody(
        "JSON: numbers under an unknown key", lambda: json_unknown(b"1e30", VALUES), TRACES, JSON
    ),
    HostileBody(
        "JSON: texts under an unknown key",
        lambda: json_unknown(b'"' + EMOJI + b'abcdefgh"', VALUES),
        TRACES,
        JSON,
    ),
    HostileBody(
        "JSON: lists under an unknown key",
        lambda: json_unknown(b"[[]]", VALUES // 3),
        TRACES,
        JSON,
    ),
    HostileBody("JSON: many unknown keys", json_keys, TRACES, JSON),
    HostileBody("JSON: a million brackets", lambda: b'{"x":' + b"[" * 1_000_000, TRACES, JSON),
    HostileBody("JSON: blanks", lambda: b'{"resourceSpans":[' + b" " * SIZE + b"]}", TRACES, JSON),
    HostileBody("JSON: a large refused span", refused_json, TRACES, JSON),
    HostileBody("JSON: no JSON", lambda: b'{"x":"' + EMOJI * (SIZE // 4), TRACES, JSON),
    HostileBody("deep lists in an event and a link", deep_beside),
    HostileBody("resources of their own", resources),
    HostileBody("records just too short to be cut", below_what_is_cut, LOGS),
    HostileBody("lists in one span, too short to be cut", lambda: lists_in_one_span(1_300_000)),
    HostileBody("short lists in one span", lambda: lists_in_one_span(1_000)),
    HostileBody("spans with keys of their own", keys_of_their_own),
    HostileBody("a text that is no UTF-8", lambda: one(text(b"\xff" * SIZE))),
    HostileBody("a list of what is no UTF-8", lambda: one(repeated(text(b"\xff" * 30), HALF))),
    HostileBody("JSON: deep lists in an event and a link", json_deep_beside, TRACES, JSON),
    HostileBody("JSON: resources of their own", json_resources, TRACES, JSON),
    HostileBody(
        "JSON: records just too short to be cut",
        lambda: json_records(b"\\u0001" * 1_300_000, 7),
        LOGS,
        JSON,
    ),
    HostileBody("JSON: spans with keys of their own", json_keys_of_their_own, TRACES, JSON),
    HostileBody(
        "JSON: halves of pairs", lambda: json_text(b"\\ud83d" * (SIZE // 6)), TRACES, JSON
    ),
    HostileBody(
        "JSON: escaped pairs in records",
        lambda: json_records(b"\\ud83d\\ude00" * 650_000, 7),
        LOGS,
        JSON,
    ),
    *(
        HostileBody(f"gRPC: {name}", body, path, is_grpc=True)
        for name, body, path in (
            ("control characters in a list", lambda: one(array(text(FULL))), TRACES),
            ("deep lists in an event and a link", deep_beside, TRACES),
            ("resources of their own", resources, TRACES),
            ("records just too short to be cut", below_what_is_cut, LOGS),
            ("spans with keys of their own", keys_of_their_own, TRACES),
            ("a text that is no UTF-8", lambda: one(text(b"\xff" * SIZE)), TRACES),
        )
    ),
]
"""All of them."""
