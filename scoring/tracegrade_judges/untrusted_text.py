"""Quotes the texts that a judge reads, so that none can pass for the judge's instructions.

Every text of a trace is one JSON string between two lines with a nonce. The nonce is drawn for
each judgment, so the author of the text cannot know it. Control, format and private characters are
escaped: neither a zero-width letter nor a change of direction hides anything.
"""

import json
import secrets
import unicodedata
from typing import Final

_ESCAPED: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that cannot be seen."""

NONCE_IN_KEYS: Final = "<nonce>"
"""Replaces a nonce when requests are compared: equal questions are equal requests."""


class NonceInside(Exception):
    """A text contains the nonce that should enclose it."""


def new_nonce() -> str:
    """Return 128 random bits as hex digits, which an author of texts cannot guess."""
    return secrets.token_hex(16)


def quoted(text: str, nonce: str) -> str:
    """Return a text as a JSON string between two lines of a nonce.

    Raises:
        NonceInside: The nonce is in the text.
    """
    if nonce in text:
        msg = "the text to be quoted holds the nonce; ask again with another one"
        raise NonceInside(msg)
    return f"[{nonce}\n{json_string(text)}\n{nonce}]"


def json_string(text: str) -> str:
    """Return a text as a JSON string whose every character can be seen."""
    return "".join(map(_visible, json.dumps(text, ensure_ascii=False)))


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _ESCAPED:
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    pairs = (units[i : i + 2] for i in range(0, len(units), 2))
    return "".join(f"\\u{int.from_bytes(pair):04x}" for pair in pairs)
