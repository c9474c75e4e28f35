"""Kinds of secrets in six places: nearly all are found, those that are not are named."""

from __future__ import annotations

import itertools
import json
import re
import time
from pathlib import Path

import pytest
from tests.collector.redact.harmless_texts import TEXTS, TRACEBACKS
from tests.collector.redact.secret_kinds import KINDS, Kind
from tests.collector.redact.test_redaction import attributes_after, redactor, rows_of

from tracegrade.redact.texts import redact, redact_value

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "redaction-rules.md"
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
SAMPLE = [
    (kind, [*kind.written.values()][number % len(kind.written)])
    for number, kind in enumerate(KINDS[::2])
]
"""Every second kind in one of its six places, one place after the other."""


def test_kinds_of_secrets_are_found_alike_by_agent_and_collector() -> None:
    """Half of them in one place each; what can be read there is known to land."""
    left, differing = outcome(SAMPLE)

    assert left <= LANDING
    assert differing == set()


@pytest.mark.slow
def test_at_most_one_kind_in_ten_lands_and_each_of_those_is_known() -> None:
    """A kind lands if it can be read in one of its six places; agent and collector agree."""
    left, differing = outcome(WRITTEN)

    assert left == LANDING
    assert differing == set()


def test_what_lands_is_little_and_named_in_the_documents() -> None:
    """The table has as many kinds as promised, in six places each."""
    assert len(KINDS) >= 249
    assert {len(kind.written) for kind in KINDS} == {6}
    assert 10 * len(LANDING) <= len(KINDS)
    assert [name for name in LANDING if f"`{name}`" not in PAGE.read_text("utf-8")] == []


def outcome(written: list[tuple[Kind, str]]) -> tuple[set[str], set[str]]:
    """Return which kinds can be read after redaction, and where agent and collector differ."""
    clean = redactor().redact_texts([text for _, text in written])
    names = [kind.name.removeprefix("place ") for kind, _ in written]
    left = {
        name
        for name, (kind, _), text in zip(names, written, clean, strict=True)
        if kind.secret in text
    }
    differing = {
        name
        for name, (_, text), other in zip(names, written, clean, strict=True)
        if redact(text) != other
    }
    return left, differing


def test_keys_that_touch_are_all_found() -> None:
    """Those that are known by how they begin and those known by something inside, either first.

    A key known by its inside takes what touches it for its own end, up to the first dot or colon:
    where that was the beginning of another key, the rest of this one stayed.
    """
    begin = ("shape github", "shape openai", "shape vault", "shape sendgrid", "shape doppler")
    inside = ("shape salesforce", "shape azure-ad", "shape discord", "shape mailgun-signing")
    secrets = {kind.name: kind.secret for kind in KINDS}
    pairs = [(secrets[a], secrets[b]) for a, b in itertools.product(begin, inside)]
    texts = [
        f"x {first}{between}{second} y"
        for pair in pairs
        for first, second in (pair, pair[::-1])
        for between in "/=,:-_"
    ]
    clean = redactor().redact_texts(texts)

    marks = re.compile(r"x \[redacted:api_key\](?:[/=,:_-]?\[redacted:api_key\])? y")
    assert [each for each in clean if marks.fullmatch(each) is None] == []
    assert [redact(text) for text in texts] == clean


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
    harmless = [*TEXTS, *TRACEBACKS]
    texts = [
        *harmless,
        *(json.dumps({"output": text}) for text in harmless),
        *(json.dumps({"output": json.dumps([text])}) for text in harmless),
    ]

    assert len(TEXTS) >= 100
    assert [a for a, b in zip(texts, redactor().redact_texts(texts), strict=True) if a != b] == []
    assert [text for text in texts if redact(text) is not text] == []


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
