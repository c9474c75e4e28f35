"""Finds secret values by the keys of their attributes."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import re2

from tracegrade.redact.cards import is_card
from tracegrade.redact.marks import MARK_START
from tracegrade.redact.names import LEAST_CHARS, NameKind, is_secret
from tracegrade_collector.redact.prefilter import NOWHERE, Positions, lengths
from tracegrade_collector.redact.redaction_rules import kind_of, name_pattern

NEVER: Final = 1 << 62
"""Least length of a secret under a key that is never secret: no value reaches it."""


class SecretKeys:
    """Tells values by their keys, with the names that the options add."""

    def __init__(self, names: Sequence[str] | None) -> None:
        """Know these names besides those everybody uses; with None no key decides."""
        own = "|".join(name_pattern(name) for name in names or ())
        self._own = re2.compile(rf"(?i)(?:^|[^a-z0-9])(?:{own})$") if own else None
        self._is_on = names is not None

    def kind_of(self, key: str) -> NameKind:
        """Return the kind of a key, for the values under it."""
        if not self._is_on:
            return NameKind.PLAIN
        is_own = self._own is not None and self._own.search(key) is not None
        return NameKind.OWN if is_own else kind_of(key)

    def secrets(
        self,
        keys: Sequence[str],
        codes: Callable[[], Positions],
        values: pa.Array,
        letters: Callable[[], Positions],
    ) -> Positions:
        """Return the positions of values that their keys make secret, rising.

        Each different value is examined once per key.

        Args:
            keys: The distinct keys.
            codes: Returns the index of each value's key.
            values: Strings without an offset.
            letters: Returns the letter of each value's type, as a number.
        """
        kinds = [self.kind_of(key) for key in keys]
        if not any(kinds):  # all are plain
            return NOWHERE
        places = codes()
        least = np.array([LEAST_CHARS.get(kind, NEVER) for kind in kinds], np.int64)
        long_enough = np.flatnonzero(lengths(values) >= least[places])
        if not len(long_enough):
            return NOWHERE
        texts = values.take(pa.array(long_enough)).dictionary_encode()
        under, types = places[long_enough], letters()[long_enough]
        cases = (under * len(texts.dictionary) + texts.indices.to_numpy()) << 8 | types
        _, firsts, numbers = np.unique(cases, return_index=True, return_inverse=True)
        different = zip(
            under[firsts].tolist(),
            values.take(pa.array(long_enough[firsts])).to_pylist(),
            map(chr, types[firsts].tolist()),
            strict=True,
        )
        found = [is_secret_value(kinds[code], keys[code], *value) for code, *value in different]
        secrets: Positions = long_enough[np.array(found)[numbers]]
        return secrets


def is_secret_value(kind: NameKind, key: str, text: str, letter: str = "s") -> bool:
    """Return whether a value of a type is a secret under a key of this kind.

    Numbers and booleans are not, except under a name from the options, and numbers of cards.
    """
    if kind is NameKind.PLAIN or not text or text.startswith(MARK_START):
        return False
    if kind is NameKind.OWN or (letter == "i" and is_card(text)):
        return True
    return any(is_secret(kind, key, each) for each in _texts(text, letter))


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
