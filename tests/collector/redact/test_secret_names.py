"""What names say about values: the same in one pass as by one pattern after the other."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.collector.redact.test_redaction import attributes_after, redactor, rows_from, rows_of
from tests.examples import many

from tracegrade.redact import names
from tracegrade.redact.names import KINDS, LEAST_CHARS, NameKind, is_secret
from tracegrade_collector.redact.redaction_rules import kind_of

WORDS = sorted(set(re.findall(r"[^\W\d_]{2,}", " ".join(pattern for pattern, _ in KINDS))))
NAMES = st.lists(
    st.one_of(
        st.sampled_from(WORDS).flatmap(
            lambda word: st.sampled_from([word, word.title(), word.upper()])
        ),
        st.text(max_size=2),
        st.sampled_from([*"\u0130\u0131\u017f\u212aς\n_.0"]),
    ),
    max_size=5,
).map("".join)
SHORTEST = {
    NameKind.WEAK: "1abcdefg",
    NameKind.COOKIE: "a=b",
    NameKind.HEADER: "key abcd",
    NameKind.SECRET: "ab1c",
    NameKind.PASSWORD: "1",
    NameKind.CARD: "4222222222222",
    NameKind.KEY: "a1b2c3d4e5f6",
    NameKind.LOGIN: "dTpwYXNz",
}  # fmt: skip


@settings(max_examples=many(200), deadline=None)
@given(NAMES)
def test_agent_and_collector_take_a_name_for_the_same(name: str) -> None:
    """With any characters in it."""
    assert kind_of(name) is names.kind_of(name)


@pytest.mark.parametrize("kind", SHORTEST)
def test_shortest_secret_of_each_kind(kind: NameKind) -> None:
    """A text of so many characters may be one."""
    assert len(SHORTEST[kind]) == LEAST_CHARS[kind]
    assert is_secret(kind, "name", SHORTEST[kind])


@settings(max_examples=many(200), deadline=None)
@given(st.sampled_from(sorted(SHORTEST)), st.text("aB1=: key/+", max_size=12))
def test_what_is_shorter_is_no_secret(kind: NameKind, text: str) -> None:
    """So values that are too short need not be looked at."""
    assume(len(text) < LEAST_CHARS[kind])
    assert not is_secret(kind, "name", text)


def test_value_is_judged_by_its_own_key_and_type() -> None:
    """However often it stands under other keys, or as another type."""
    key, card, login = "a1b2c3d4e5f6", "4111111111111111", "dXNlcjpwYXNz"
    given_attributes: list[dict[str, Any]] = [
        {"map.key0": key, "map.name": key, "auth": login, "map.key1": login, "card": card},
        {
            "map.key0": int(card),
            "card": int(card),
            "db.password": 7,
            "auth": key,
            "x.key": "short",
        },
        {"map.key0": key, "map.name": login, "auth": "no", "map.key1": key, "card": "4111"},
    ]
    mark = "[redacted:named]"
    assert attributes_after(rows_of(*given_attributes)) == [
        {"map.key0": mark, "map.name": key, "auth": mark, "map.key1": login, "card": mark},
        {"map.key0": mark, "card": mark, "db.password": "7", "auth": mark, "x.key": "short"},
        {"map.key0": mark, "map.name": login, "auth": "no", "map.key1": mark, "card": "4111"},
    ]


def test_value_that_is_absent_between_two_that_look_like_a_secret() -> None:
    """Texts of a column lie one behind the other: `secret` and `= x` are none together."""
    values = {"a": "the secret", "b": None, "c": "= hunter2hunter2", "d": "secret=hunter2hunter2"}
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    attributes = spans.add(trace_id=b"t" * 16, span_id=b"s" * 8).attributes
    for key, text in values.items():
        value = attributes.add(key=key).value
        if text is not None:
            value.string_value = text

    clean = redactor().redact_rows(rows_from(request))["attributes"].to_pylist()
    assert [dict(each) for each in clean] == [values | {"d": "secret=[redacted:named]"}]


@pytest.mark.parametrize("name", ["attribute.{}", "attribute.{}.key0"])
def test_names_that_are_all_different_are_told_apart_at_once(name: str) -> None:
    """One after the other, by sixteen patterns each, these took several seconds."""
    rows = rows_of(*({name.format(number): "v"} for number in range(30_000)))

    started = time.process_time()
    redactor().redact_rows(rows)
    assert time.process_time() - started < 1
