"""Which keys of attributes say that their value is a secret, or is to become a pseudonym."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

import re2

from tracegrade.secret_patterns import KEY_LIKE, NAME_SUFFIX, STRONG_NAMES, WEAK_NAMES
from tracegrade_collector.redact.redaction_rules import name_pattern


class NameKind(IntEnum):
    """What a key says about its value."""

    PLAIN = 0
    WEAK = 1
    """A secret if it looks like a key: `token` is also a word of language models."""

    SECRET = 2
    PSEUDONYM = 3


_STRONG: Final = re2.compile(rf"(?i)(?:{STRONG_NAMES}){NAME_SUFFIX}$")
_WEAK: Final = re2.compile(rf"(?i:(?:^|[^a-z0-9])(?:{WEAK_NAMES}))$|[a-z0-9]Token$")
_KEY_LIKE: Final = re2.compile(KEY_LIKE)


class SecretNames:
    """Tells kinds of keys apart."""

    def __init__(self, names: Sequence[str] | None, pseudonym_keys: Sequence[str]) -> None:
        """Know these names besides those everybody uses; with None no name is a secret's."""
        self._pseudonym_keys = frozenset(pseudonym_keys)
        own = "|".join(name_pattern(name) for name in names or ())
        self._own = re2.compile(rf"(?i)(?:^|[^a-z0-9])(?:{own})$") if own else None
        self._is_on = names is not None

    def kind(self, key: str) -> NameKind:
        """Return the kind of a key."""
        if key in self._pseudonym_keys:
            return NameKind.PSEUDONYM
        if not self._is_on:
            return NameKind.PLAIN
        if _STRONG.search(key) or (self._own and self._own.search(key)):
            return NameKind.SECRET
        return NameKind.WEAK if _WEAK.search(key) else NameKind.PLAIN


def looks_like_key(text: str) -> bool:
    """Return whether a text has something as long and mixed as keys are."""
    return _KEY_LIKE.search(text) is not None
