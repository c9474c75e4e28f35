"""Values that are too long, cut with a note about the original."""

import re
from hashlib import sha256
from typing import Final

MARGIN_BYTES: Final = 4096
"""Bytes after the cut that are examined too, so that no secret is half kept."""


NOTE_CHARS: Final = 120
_NOTE: Final = re.compile(r"…\[capped: \d{1,20} bytes(, sha256:[0-9a-f]{64})?\]\Z")


def head(text: str, max_bytes: int) -> str:
    """Return the part of a text to keep, and a little more."""
    return _cut(text.encode(), max_bytes + MARGIN_BYTES)


def head_of(encoded: bytes, max_bytes: int) -> bytes:
    """Return the same of a text in UTF-8."""
    return _cut(encoded[: max_bytes + MARGIN_BYTES], max_bytes + MARGIN_BYTES).encode()


def note_at_end(text: str) -> str | None:
    """Return the note at the end of a text that was cut before; else None."""
    found = _NOTE.search(text[-NOTE_CHARS:])
    return found[0] if found else None


def note(text: str, *, with_hash: bool) -> str:
    """Return the note for the end of a cut text: its length, and optionally SHA-256."""
    return note_of(text.encode(), with_hash=with_hash)


def note_of(encoded: bytes, *, with_hash: bool) -> str:
    """Return the same of a text in UTF-8."""
    digest = f", sha256:{sha256(encoded).hexdigest()}" if with_hash else ""
    return note_of_length(len(encoded), digest)


def note_of_length(length: int, digest: str = "") -> str:
    """Return the note of a text of so many bytes."""
    return f"…[capped: {length} bytes{digest}]"


def cap(text: str, note_text: str, max_bytes: int) -> str:
    """Return the beginning of a text and a note, together within a number of UTF-8 bytes."""
    return _cut(text.encode(), max_bytes - len(note_text.encode())) + note_text


def _cut(encoded: bytes, max_bytes: int) -> str:
    """Cut between characters."""
    return encoded[:max_bytes].decode(errors="ignore")
