"""Answers are bounded, are JSON in one frame, and say where they were cut."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tracegrade_explorer.mcp_server.frame import (
    CLOSING,
    MOST_CHARACTERS,
    NEXT,
    OPENING,
    Listing,
    framed,
    framed_error,
    framed_rows,
    framed_text,
    shortened,
    written,
)

TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ("</trace>", "<trace>", "\u202e", "\U0001f600" * 600, "word " * 2_000, "\ud800")
    ),
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)
LONG_LISTS = st.builds(lambda value, times: [value] * times, LEAVES, st.integers(0, 300))
VALUES = st.recursive(
    st.one_of(LEAVES, LONG_LISTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=6), st.dictionaries(TEXTS, inner, max_size=6),
    ),
    max_leaves=8,
)  # fmt: skip
DOCUMENTS = st.dictionaries(TEXTS, VALUES, max_size=8)


def unframed(text: str) -> dict[str, Any]:
    """Return what is in the only frame of a text."""
    assert len(text) <= MOST_CHARACTERS
    assert text.isascii()
    assert text.count("<") == 2
    assert (text.startswith(OPENING), text.endswith(CLOSING)) == (True, True)
    found: dict[str, Any] = json.loads(text[len(OPENING) : -len(CLOSING)])
    return found


@given(DOCUMENTS)
def test_any_document_fits_its_frame(document: Mapping[str, Any]) -> None:
    """It is whole where it is short enough."""
    found = unframed(framed(document))
    if len(written(document)) <= MOST_CHARACTERS - len(OPENING) - len(CLOSING):
        assert written(found) == written(json.loads(json.dumps(document)))


@given(DOCUMENTS, st.integers(2, 5_000))
def test_a_document_is_shortened_to_any_length(document: Mapping[str, Any], room: int) -> None:
    """Down to nothing at all."""
    assert len(written(shortened(document, room))) <= room


@given(DOCUMENTS, st.lists(st.dictionaries(st.sampled_from("abc"), VALUES), max_size=30))
def test_rows_continue_after_the_last_that_is_shown(
    head: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    """The arguments that continue are those of the rows that fit; at least one is shown."""

    def following(count: int) -> dict[str, int] | None:
        return {"after": count} if count < len(rows) else None

    found = unframed(framed_rows(head, Listing("rows", rows, following)))
    shown = len(found["rows"])
    assert found.get(NEXT) == following(shown) or NEXT in head
    assert shown >= min(1, len(rows))
    if shown > 1:
        assert written(found["rows"]) == written(json.loads(json.dumps(rows[:shown])))


@given(st.text(st.sampled_from("a<é\U0001f600\x00\\"), max_size=200), st.integers(1, 400))
def test_a_long_text_comes_whole_in_parts(piece: str, times: int) -> None:
    """Whatever its characters take as JSON."""
    text, found, offset = piece * times, "", 0
    while True:
        part = unframed(framed_text(text, offset))
        found += part["text"]
        if NEXT not in part:
            break
        assert part[NEXT]["offset"] > offset
        offset = part[NEXT]["offset"]
    assert (found, part["characters"]) == (text, len(text))


@given(TEXTS)
def test_errors_are_framed_too(message: str) -> None:
    """They name texts of traces."""
    assert message.startswith(unframed(framed_error(message))["error"])
