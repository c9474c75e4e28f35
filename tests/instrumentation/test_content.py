"""What text is written, how much of it, and what never leaves."""

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

import tracegrade
from tracegrade.content import json_of, text_of
from tracegrade.redact.cards import passes_luhn
from tracegrade.redact.texts import redact
from tracegrade.settings import Content, Settings

from .conftest import Spans

PLAIN = Settings(content=Content.FULL)
CANARY = "sk-proj-CANARY0123456789abcdef"


class Color(Enum):
    """Something JSON does not know."""

    RED = "red"


@dataclass
class Order:
    """A user's class."""

    id: str
    paid: date


def test_values_that_json_does_not_know_are_written_as_what_they_say() -> None:
    """Dataclasses, enums, dates, sets, bytes, odd keys, not-a-number and others."""
    value = {
        "order": Order("o-1", date(2026, 1, 2)),
        "color": Color.RED,
        "set": {2, 1},
        "bytes": b"abc",
        "path": Path("/a/b"),
        "decimal": Decimal("1.50"),
        "nan": math.nan,
        (1, 2): "odd key",
    }

    assert json.loads(json_of(value, PLAIN).text) == snapshot(
        {
            "order": {"id": "o-1", "paid": "2026-01-02"},
            "color": "red",
            "set": [1, 2],
            "bytes": "<3 bytes>",
            "path": "/a/b",
            "decimal": "1.50",
            "nan": "nan",
            "(1, 2)": "odd key",
        }
    )


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(st.characters(codec=None))
        | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.integers() | st.text(), inner),
        max_leaves=20,
    )
)
def test_any_value_becomes_json_that_can_be_sent(value: Any) -> None:
    """For any argument or result of a tool, the text is valid JSON and valid UTF-8."""
    text = json_of(value, PLAIN).text

    json.loads(text)
    text.encode()


def test_endless_values_are_cut_off() -> None:
    """A list that holds itself, and one that is too long, end."""
    knot: list[object] = []
    knot.append(knot)

    assert len(json_of(knot, PLAIN).text) < 1000
    few = Settings(max_content_chars=100)
    assert len(json_of([math.nan] * 10**5, few).text) <= 100
    assert len(json_of(dict.fromkeys(range(10**5), math.nan), few).text) <= 100


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Color, """{"at":"<class 'tests.instrumentation.test_content.Color'>"}"""),
        (10**5000, '{"at":"<integer of 16610 bits>"}'),
        (object(), '{"at":"<object>"}'),
        (tracegrade.tool, '{"at":"<function tracegrade.tools.tool>"}'),
        (len, '{"at":"<built-in function len>"}'),
        (iter([1]), '{"at":"<list_iterator>"}'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_object_that_cannot_be_written_is_named_and_its_call_kept(
    spans: Spans, value: object, text: str
) -> None:
    """Classes and functions by their own names, others by their classes'."""

    @tracegrade.tool
    def look(at: object) -> object:
        return at

    assert look(value) is value
    attributes = spans()[0].attributes or {}
    assert attributes["gen_ai.tool.call.arguments"] == text
    assert tracegrade.failures() == {}


def test_content_is_what_it_was_at_the_time_of_the_call(spans: Spans) -> None:
    """A tool that changes its argument and a caller that changes the result rewrite nothing."""

    @tracegrade.tool
    def pop(items: list[int]) -> list[int]:
        items.pop()
        return items

    pop([1, 2]).append(99)

    attributes = spans()[0].attributes or {}
    assert attributes["gen_ai.tool.call.arguments"] == '{"items":[1,2]}'
    assert attributes["gen_ai.tool.call.result"] == "[1]"


def test_long_text_is_cut_and_marked(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """The mark names the key; no secret is cut in half, which would hide it from redaction."""
    monkeypatch.setenv("TRACEGRADE_CONTENT_MAX_CHARS", "50")
    spans: Spans = request.getfixturevalue("spans")

    @tracegrade.tool
    def read() -> str:
        return "word " * 8 + CANARY

    read()

    attributes = spans()[0].attributes or {}
    assert attributes["gen_ai.tool.call.result"] == "word " * 7 + "word"
    assert attributes["tracegrade.truncated"] == ("gen_ai.tool.call.result",)


@pytest.fixture(params=["full", "redacted", "none"])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Each content mode, from the environment."""
    monkeypatch.setenv("TRACEGRADE_CONTENT", request.param)
    return request.param  # type: ignore[no-any-return]


def test_secret_leaves_in_full_mode_alone(mode: str, spans: Spans) -> None:
    """Arguments, results, thoughts, plans, messages and error texts hold the canary elsewhere."""

    @tracegrade.tool
    def login(key: str) -> str:
        return f"hello {key}"

    @tracegrade.tool
    def fail(key: str) -> str:
        raise ValueError(key)

    with tracegrade.agent_run("a", user_input=f"use {CANARY}") as run:
        run.plan([f"use {CANARY}"])
        run.thought(CANARY)
        run.observe(CANARY)
        login(CANARY)
        with pytest.raises(ValueError, match=CANARY):
            fail(CANARY)
        run.answer(CANARY)

    text = "".join(str(span.to_json()) for span in spans())
    assert (CANARY in text) is (mode == "full")
    assert ("gen_ai.tool.call.arguments" in text) is (mode != "none")
    assert ("tracegrade.redacted" in text) is (mode == "redacted")


def test_marks_of_a_run_name_both_what_it_was_told_and_what_it_said(spans: Spans) -> None:
    """The answer's mark does not replace that of the user's message."""
    with tracegrade.agent_run("a", user_input=CANARY) as run:
        run.answer(CANARY)

    marked = (spans()[0].attributes or {})["tracegrade.redacted"]
    assert marked == ("gen_ai.input.messages", "gen_ai.output.messages")


def test_exception_event_names_what_was_redacted(spans: Spans) -> None:
    """An event has marks of its own."""
    with pytest.raises(ValueError, match=CANARY), tracegrade.agent_run("a"):
        raise ValueError(CANARY)

    attributes = spans()[0].events[0].attributes or {}
    assert attributes["tracegrade.redacted"] == ("exception.message", "exception.stacktrace")


def test_unknown_mode_keeps_everything_in(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A mistyped mode must not let text out, and is said."""
    monkeypatch.setenv("TRACEGRADE_CONTENT", "redakted")

    assert Settings.from_environment().content is Content.NONE
    assert "one of full, redacted, none, got 'redakted'" in caplog.text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (CANARY, "[redacted:api_key]"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted:api_key]"),
        ("ghp_0123456789abcdefghijklmnopqrstuvwxyz", "[redacted:api_key]"),
        ("Bearer abcdefghijklmnop.qrstuvwx", "Bearer [redacted:bearer]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.s-g_n", "[redacted:jwt]"),
        ("a -----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY----- b", "a [redacted:pem] b"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII cut off", "[redacted:pem] cut off"),
        ('{"password":"hun\\"ter2","n":1}', '{"password":"[redacted:named]","n":1}'),
        ("postgres://me:hunter2@db/x", "postgres://[redacted:url]@db/x"),
        ("pay with 4111 1111 1111 1111 now", "pay with [redacted:card] now"),
        ('{"card":4111111111111111}', '{"card":"[redacted:card]"}'),
        ("authorization: BEARER abcdefghijklmnop", "authorization: [redacted:named]"),
        ("Authorization: Basic bWU6aHVudGVyMg==", "Authorization: [redacted:named]"),
        ("https://me:hun@ter@2@db/x", "https://[redacted:url]@db/x"),
        ('{"password":"12345678","n":1}', '{"password":"[redacted:named]","n":1}'),
        ('{"token":"0123456789abcdef"}', '{"token":"[redacted:named]"}'),
    ],
)
def test_secret_is_replaced(text: str, clean: str) -> None:
    """Each shape of secret goes, and what is around it stays."""
    assert redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "1737560000000000000",  # a time in nanoseconds
        "4111111111111112",  # fails Luhn's check
        '{"max_tokens":500,"author":"x","key":"o-1"}',
        "d290f1ee-6c54-4b01-90e6-d701748f0851",
        "sk-learn and risk-averse",
        '{"password":12345678,"cookies":12,"secret":true}',
        '{"password":null,"token":"the","next_page_token":"abc"}',
    ],
)
def test_harmless_text_is_left_alone(text: str) -> None:
    """The same object comes back, which is how a caller knows."""
    assert redact(text) is text


@given(st.integers(10**12, 10**18))
def test_card_check_digit_is_the_one_that_makes_the_sum_a_multiple_of_ten(number: int) -> None:
    """Of the ten numbers that differ in the last digit alone, Luhn accepts exactly one."""
    accepted = [d for d in range(10) if passes_luhn(f"{number}{d}")]

    assert len(accepted) == 1


@pytest.mark.parametrize(
    "part",
    ["://a:b@", "password=", 'api_key":"', "4111-", "-----BEGIN PRIVATE KEY-----", "token:"],
)
def test_hostile_text_takes_time_in_proportion(part: str) -> None:
    """Eight times the text takes about eight times as long, not sixty-four times."""

    def seconds(chars: int) -> float:
        text = part * (chars // len(part))
        start = time.thread_time()
        redact(text)
        return time.thread_time() - start

    # The least of several: Python may tidy up its memory in between.
    assert min(seconds(80_000) for _ in range(3)) < 24 * min(seconds(10_000) for _ in range(3))


def test_text_stays_as_it_is() -> None:
    """A tool's text is not put in quotes; only what cannot be sent is replaced."""
    assert text_of("plain", PLAIN).text == "plain"
    assert text_of("lone \ud800", PLAIN).text == "lone \ufffd"
