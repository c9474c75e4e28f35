"""Limits on the content of a request, checked without decoding, so that hostile ones cost little.

Two bytes of protobuf are an empty span, which takes 170 bytes and a microsecond once decoded: 2 MB
become a million of them. So the messages in a request are counted first, by stepping over its
fields, and not a step further than the limits. Most requests need no count: a field takes at least
two bytes, so a body of at most twice the limit cannot hold more.

Malformed bytes end the count without an error: the decoder stops at the same position.
"""

import re
import time
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, TypeAlias

from google.protobuf.descriptor import Descriptor

from tracegrade_collector.encoding.otlp import (
    Encoding,
    ExportRequest,
    Signal,
    empty_request,
    groups,
    holds_at_most,
)
from tracegrade_collector.encoding.wire_texts import (
    FIXED_BYTES,
    LENGTH_DELIMITED,
    MAX_DEPTH,
    VARINT,
    read_varint,
)
from tracegrade_collector.errors import TooLarge

LEAST_FIELD_BYTES = 2  # its tag, and its length or value
STEPS_PER_MESSAGE = 4  # how many fields are passed at most for each message that is allowed
STEPS_AT_ONCE = 2000  # half a millisecond
PIECE_BYTES = 4 << 20  # looked through in one go, during which no other thread runs: 8 ms
MAX_ITEM_VALUES = 1_000_000  # an item is made a row at once, and each value takes 300 bytes then
MAX_JSON_BYTES = 448 << 20  # in memory while JSON is read
MAX_REPEATED_BYTES = 512 << 20  # columns of text end at 2 GiB; 1,000 items of 500 kB each
WIDEST = re.compile(rb"[\xf0-\xf4]")
ESCAPED_PAIR = re.compile(rb"\\u[dD][89abAB]")
JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{,]', re.DOTALL)

Messages: TypeAlias = dict[int, "Messages"]
"""The tags of a message's fields that are messages, each with the tags of its own fields."""

ITEMS: Messages = {0x0A: {0x12: {0x12: {}}}}
"""Resources, their scopes, and the spans, log records or metrics of those: the same tags."""


ITEMS_IN_WORDS = "resources, scopes and spans, log records or metrics"


class RequestLimits(NamedTuple):
    """The most that one request may hold."""

    items: int
    """Resources, scopes and spans, log records or metrics, together."""

    values: int
    """Items, and the attributes, events, links and nested values in them, together."""


def check_items_limit(request: ExportRequest, encoding: Encoding, at_most: RequestLimits) -> None:
    """Check the limit on items in a decoded request, if they could not be counted before.

    Raises:
        TooLarge: It holds more; `check_limits` raises it for protobuf.
    """
    if encoding is Encoding.JSON and not holds_at_most(request, at_most.items):
        raise _too_many(at_most.items, ITEMS_IN_WORDS)


def check_item_values(request: ExportRequest) -> None:
    """Check that each item of a decoded request has few enough values for one row.

    Raises:
        TooLarge: An item does.
    """
    for group in groups(request):
        for item in group.items:
            if item.ByteSize() <= LEAST_FIELD_BYTES * MAX_ITEM_VALUES:
                continue
            content, messages = item.SerializeToString(), messages_of(item.DESCRIPTOR)
            if _count_tag_bytes(content, messages) > MAX_ITEM_VALUES:
                _check(
                    content, messages, MAX_ITEM_VALUES, "attributes and other values in an item"
                )


def _check_json_width(body: bytes) -> None:
    """Check that JSON can be read in little memory: one wide character makes all of them wide.

    Raises:
        TooLarge: It cannot be read so.
    """
    if 10 * len(body) <= MAX_JSON_BYTES:
        return
    times = 10 if WIDEST.search(body) else 7 if ESCAPED_PAIR.search(body) else 6
    if times * len(body) > MAX_JSON_BYTES:
        msg = f"JSON of {len(body)} bytes would take {times} times that; send smaller batches"
        raise TooLarge(msg)


def check_repeated(request: ExportRequest) -> None:
    """Check that the rows of a decoded request repeat little of its resources and scopes.

    Raises:
        TooLarge: They would. Otherwise it would be acknowledged, but never become rows.
    """
    repeated = sum(
        (
            group.resource.resource.ByteSize()
            + group.scope.scope.ByteSize()
            + len(group.resource.schema_url)
            + len(group.scope.schema_url)
        )
        * len(group.items)
        for group in groups(request)
        if group.items
    )
    if repeated > MAX_REPEATED_BYTES:
        msg = (
            f"each item repeats its resource and scope, here {repeated} bytes in all, at most "
            f"{MAX_REPEATED_BYTES}; send smaller batches, or a shorter resource"
        )
        raise TooLarge(msg)


def check_limits(body: bytes, signal: Signal, encoding: Encoding, at_most: RequestLimits) -> None:
    """Check that a request is within its limits; a malformed one passes.

    Only the values of JSON are counted here: its items are known only after decoding.

    Raises:
        TooLarge: It holds more items or values.
    """
    check_message_limits(body, empty_request(signal).DESCRIPTOR, encoding, at_most)


def check_message_limits(
    body: bytes, descriptor: Descriptor, encoding: Encoding, at_most: RequestLimits
) -> None:
    """Check the limits of a request of any signal, given its kind of message.

    Raises:
        TooLarge: As `check_limits` says.
    """
    if encoding is Encoding.JSON:
        _check_json(body, at_most.values)
        _check_json_width(body)
        return
    if len(body) > LEAST_FIELD_BYTES * at_most.items:
        _check(body, ITEMS, at_most.items, ITEMS_IN_WORDS)
    if len(body) > LEAST_FIELD_BYTES * at_most.values:
        messages = messages_of(descriptor)
        if _count_tag_bytes(body, messages) > at_most.values:
            _check(body, messages, at_most.values, "attributes and other values")


def _check(body: bytes, messages: Messages, limit: int, what: str) -> None:
    """Count the messages.

    Raises:
        TooLarge: There are more than the limit, or many times more fields.
    """
    count = 0
    for steps, is_message in enumerate(_steps(body, messages)):
        count += is_message
        if count > limit or steps > STEPS_PER_MESSAGE * limit:
            raise _too_many(limit, what)
        if steps % STEPS_AT_ONCE == 0:
            time.sleep(0)  # lets the event loop run, for which Python else waits 5 ms each time


def count_messages(body: bytes, messages: Messages) -> int:
    """Return how many there are up to the first malformed field, without any limit."""
    return sum(_steps(body, messages))


def _too_many(limit: int, what: str) -> TooLarge:
    return TooLarge(f"the request holds more than {limit} {what}; send smaller batches")


def _steps(body: bytes, messages: Messages) -> Iterator[bool]:
    """Yield, for each field of each level, whether it is one of the messages.

    It ends at the first malformed field. Fields of groups, which OTLP does not use, count like
    others.
    """
    outer: list[tuple[int, Messages]] = []
    at, end = 0, len(body)
    try:
        while len(outer) < MAX_DEPTH:
            while at >= end:
                if at > end or not outer:
                    return
                end, messages = outer.pop()
            tag, at = read_varint(body, at)
            kind = tag & 7
            if kind != LENGTH_DELIMITED:
                yield False
                at = read_varint(body, at)[1] if kind == VARINT else at + FIXED_BYTES[kind]
                continue
            size, at = read_varint(body, at)
            inner = messages.get(tag)
            yield inner is not None
            if inner and size:
                outer.append((end, messages))
                end, messages = at + size, inner
            else:
                at += size
    except (IndexError, KeyError):  # a field that ends behind the body, a kind that is none
        return


@cache
def messages_of(descriptor: Descriptor) -> Messages:
    """Return the fields of a message that are messages; recursive ones refer to themselves."""
    known: dict[str, Messages] = {}

    def messages(descriptor: Descriptor) -> Messages:
        if descriptor.full_name in known:
            return known[descriptor.full_name]
        found = known[descriptor.full_name] = {}
        for field in descriptor.fields:
            if field.message_type:
                tag = field.number << 3 | LENGTH_DELIMITED
                found[tag] = messages(field.message_type)
        return found

    return messages(descriptor)


def _count_tag_bytes(body: bytes, messages: Messages) -> int:
    """Return how many bytes could be the tag of a message, including such bytes in texts."""
    tags = bytes(_tags(messages, {}))
    tags += bytes(tag | 0x80 for tag in tags)  # the same, written longer than it needs to be
    pieces = (body[start : start + PIECE_BYTES] for start in range(0, len(body), PIECE_BYTES))
    return sum(len(piece) - len(piece.translate(None, tags)) for piece in pieces)


def _tags(messages: Messages, seen: dict[int, Messages]) -> set[int]:
    """Return the tags of all messages at any level."""
    if id(messages) in seen:
        return set()
    seen[id(messages)] = messages
    return messages.keys() | {tag for inner in messages.values() for tag in _tags(inner, seen)}


def _check_json(body: bytes, limit: int) -> None:
    """Count brackets and commas; whether they are in strings only if it matters.

    Raises:
        TooLarge: There are more than the limit.
    """
    if sum(body.count(mark) for mark in (b"[", b"{", b",")) <= limit:
        return
    count = 0
    for steps, token in enumerate(JSON_TOKEN.finditer(body)):
        count += body[token.start()] != ord('"')
        if count > limit or steps > STEPS_PER_MESSAGE * limit:
            raise _too_many(limit, "values")
