"""Values that are longer than they may be, cut with a note of what they were."""

from hashlib import sha256
from typing import Final

MARGIN_BYTES: Final = 4096
"""Of what follows the cut; looked at too, so that no secret is half kept."""


def head(text: str, max_bytes: int) -> str:
    """Return what can be kept of a text, and a little more."""
    return _cut(text.encode(), max_bytes + MARGIN_BYTES)


def note(text: str, *, with_hash: bool) -> str:
    """Return what stands at the end of a text that was cut: its length, and SHA-256 if wished."""
    encoded = text.encode()
    digest = f", sha256:{sha256(encoded).hexdigest()}" if with_hash else ""
    return f"…[capped: {len(encoded)} bytes{digest}]"


def cap(text: str, note_text: str, max_bytes: int) -> str:
    """Return the beginning of a text and a note, together at most so many bytes of UTF-8."""
    return _cut(text.encode(), max_bytes - len(note_text.encode())) + note_text


def _cut(encoded: bytes, max_bytes: int) -> str:
    """Cut between characters."""
    return encoded[:max_bytes].decode(errors="ignore")
