"""Which keys of attributes say that their value is a secret."""

import json
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Any

import re2

from tracegrade.redact.cards import is_card
from tracegrade.redact.marks import MARK_START
from tracegrade.redact.names import NameKind, is_secret, kind_of
from tracegrade_collector.redact.redaction_rules import name_pattern


class SecretKeys:
    """Tells values by their keys, with the names that the options add."""

    def __init__(self, names: Sequence[str] | None) -> None:
        """Know these names besides those everybody uses; with None no key decides."""
        own = "|".join(name_pattern(name) for name in names or ())
        self._own = re2.compile(rf"(?i)(?:^|[^a-z0-9])(?:{own})$") if own else None
        self._is_on = names is not None

    def decides(self, key: str) -> bool:
        """Return whether a value under this key may be a secret whatever it looks like."""
        return self._is_on and (self._is_own(key) or kind_of(key) is not NameKind.PLAIN)

    def is_secret(self, key: str, text: str, letter: str = "s") -> bool:
        """Return whether a value of a type is a secret under this key.

        Numbers and booleans are none, but under a name that the options give, and numbers of
        cards.
        """
        if not self.decides(key) or not text or text.startswith(MARK_START):
            return False
        if letter == "i" and is_card(text):
            return True
        return self._is_own(key) or any(is_secret(key, each) for each in _texts(text, letter))

    def _is_own(self, key: str) -> bool:
        return self._own is not None and self._own.search(key) is not None


def _texts(text: str, letter: str) -> Iterator[str]:
    """Yield the texts in a value of a type: see `attribute_types`."""
    if letter in "akAK":
        yield from _leaves(json.loads(text))
    elif letter == "y":
        yield b64decode(text).decode(errors="replace")
    elif letter == "s":
        yield text


def _leaves(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, (dict, list)):
        for each in node.values() if isinstance(node, dict) else node:
            yield from _leaves(each)
