"""Texts that are no UTF-8: a few characters cost themselves, very many cost their text."""

import pytest

from tracegrade_collector.encoding.wire_texts import (
    MOST_REPLACED,
    PIECE_BYTES,
    REPLACEMENT,
    Utf8Repair,
)


@pytest.mark.parametrize("length", [0, PIECE_BYTES - 3, PIECE_BYTES - 1, 3 * PIECE_BYTES])
def test_only_what_is_no_utf8_is_replaced(length: int) -> None:
    """Wherever it stands, and wherever a character of several bytes does."""
    before = "a" * length
    repair = Utf8Repair()

    assert repair(f"{before}\N{GRINNING FACE}ä".encode()) is None
    assert repair(f"{before}\N{GRINNING FACE}".encode() + b"\xffb\xf0\x9f") == (
        f"{before}\N{GRINNING FACE}{REPLACEMENT}b{REPLACEMENT}".encode()
    )
    assert repair.count == 1


def test_a_request_does_not_grow_by_what_replaces_it() -> None:
    """Three bytes for each of 60 million would be held several times over."""
    repair = Utf8Repair()

    few = repair(b"\xff" * (MOST_REPLACED - 1))
    assert few == REPLACEMENT.encode() * (MOST_REPLACED - 1)
    assert repair(b"before \xff\xff behind") == REPLACEMENT.encode()
    assert repair("gut, ä".encode()) is None
    assert repair.count == 2
