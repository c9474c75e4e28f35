"""Kinds of secrets in six places: nearly all are found, those that are not are named."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from tests.collector.redact.harmless_texts import TEXTS
from tests.collector.redact.secret_kinds import KINDS
from tests.collector.redact.test_redaction import attributes_after, redactor, rows_of

from tracegrade.redact.texts import redact, redact_value

README = Path(__file__).parents[3] / "collector" / "README.md"
LANDING = {
    "uid-of-a-field",
    "index-of-a-field",
    "keys-typed",
    "hex-in-a-sentence",
    "kubernetes-secret",
    "array-in-order",
    "csv",
    "base64-of-bytes",
    "one-time-code",
    "svn",
}
"""Kinds that no rule finds, as the documents say."""

WRITTEN = [(kind, text) for kind in KINDS for text in kind.written.values()]


@pytest.fixture(scope="module")
def clean() -> list[str]:
    """The texts as the collector leaves them."""
    return redactor().redact_texts([text for _, text in WRITTEN])


def test_at_most_one_kind_in_ten_lands_and_each_of_those_is_known(clean: list[str]) -> None:
    """A kind lands if it can be read in one of its six places."""
    left = {
        kind.name.removeprefix("place ")
        for (kind, _), text in zip(WRITTEN, clean, strict=True)
        if kind.secret in text
    }

    assert len(KINDS) >= 249
    assert {len(kind.written) for kind in KINDS} == {6}
    assert left == LANDING
    assert 10 * len(left) <= len(KINDS)
    assert [name for name in left if f"`{name}`" not in README.read_text()] == []


def test_agent_and_collector_leave_the_same(clean: list[str]) -> None:
    """In each place of each kind."""
    differing = [
        kind.name
        for (kind, text), other in zip(WRITTEN, clean, strict=True)
        if redact(text) != other
    ]

    assert differing == []


def test_name_of_an_attribute_is_enough() -> None:
    """As a key of a span, for agent and collector."""
    names = {
        kind.name.removeprefix("name "): kind.secret
        for kind in KINDS
        if kind.name.startswith("name ")
    }
    (found,) = attributes_after(rows_of(names))

    assert set(found.values()) == {"[redacted:named]"}
    assert {redact_value(*each) for each in names.items()} == {"[redacted:named]"}


def test_harmless_texts_stay() -> None:
    """Alone, in JSON, and in JSON in JSON; by agent and collector."""
    texts = [
        *TEXTS,
        *(json.dumps({"output": text}) for text in TEXTS),
        *(json.dumps({"output": json.dumps([text])}) for text in TEXTS),
    ]

    assert len(TEXTS) >= 100
    assert [a for a, b in zip(texts, redactor().redact_texts(texts), strict=True) if a != b] == []
    assert [text for text in texts if redact(text) != text] == []


REPEATED = [
    '"name":"password",',
    '"text":"password ',
    '"password".fill(',
    "machine a login b ",
    "echo a | ",
    "type 'a' into ",
    "a:5432:b:",
    'variable "password" { ',
    "config set ",
    'auth=("a",',
    "g\u200bhp_",
    "password for x ",
    'textbox "password" ',
    "?key=",
    "ghp_",
    "sk-ant-",
    "M" + "a" * 24 + ".",
    "AAAA",
    "7z a -p ",
    "sqlcmd -S x ",
    "curl -s ",
    "x_key=",
    '"a_key": "',
    "if not password: a ",
    "\\u0070",
]
CHARS = 50_000
LONGEST_SECS = 8
"""For 50,000 characters beside other work; 100,000 take less than 3 alone."""


@pytest.mark.slow
@pytest.mark.parametrize("part", REPEATED)
def test_no_pattern_takes_longer_than_its_text_explains(part: str) -> None:
    """Each begins one of the patterns again and again."""
    text = part * (CHARS // len(part))
    start = time.perf_counter()
    redact(text)
    redactor().redact_text(text)

    assert time.perf_counter() - start < LONGEST_SECS
