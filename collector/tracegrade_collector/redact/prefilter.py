"""Finds texts that may hold a secret, in one pass over a whole Arrow array.

The texts of an Arrow array lie in one buffer, one behind the other. RE2 runs over all of it once,
for all rules together, at the speed of its automaton. The texts at its matches are suspects.
Patterns with anchors would not see where a text begins: how texts begin is looked up apart, by
their first two characters.

Measured on agents' spans, one core: RE2 650 MB/s over the buffer, 280 MB/s text by text. Polars'
Aho-Corasick and Rust's regular expressions reach 550 MB/s.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import re2

from tracegrade.redact.secret_rules import HIDING, Rule
from tracegrade_collector.redact.redaction_rules import MAX_MEMORY

Positions = npt.NDArray[np.int64]
NOWHERE: Final[Positions] = np.array([], np.int64)
LEAST_CHARS: Final = 13
"""Shortest secret that is recognized by its beginning: the shortest card number."""


class Prefilter:
    """Finds texts that a rule may concern, or that are longer than a limit."""

    def __init__(self, rules: Sequence[Rule], longest: int | None = None) -> None:
        """Suspect what these rules say, and texts of more than so many bytes.

        With such a limit also what may hide something, which is seen once it is decoded.
        """
        hints = [hint for rule in rules for hint in rule.hints]
        options = re2.Options()
        options.max_mem = MAX_MEMORY
        pattern = "|".join(hints if longest is None else [*hints, HIDING])
        self._hints = re2.compile(pattern.encode(), options) if hints else None
        self._longest = longest
        self._starts = np.zeros(1 << 16, bool)
        starts = [start for rule in rules for start in rule.starts]
        self._has_starts = bool(starts)
        for start in starts:
            self._starts[ord(start[0]) << 8 | ord(start[1])] = True

    def suspects(self, texts: pa.Array) -> Positions:
        """Return the positions of suspects, rising; of strings without an offset.

        A hint may begin in one text and end in another; empty or NULL texts between are not
        suspects.
        """
        content = texts.buffers()[2] if len(texts) else None
        if not content:
            return NOWHERE
        offsets = np.frombuffer(texts.buffers()[1], np.int32, len(texts) + 1)
        sizes = np.diff(offsets)
        suspected = np.zeros(len(sizes), bool) if self._longest is None else sizes > self._longest
        if self._has_starts:
            suspected |= (sizes >= LEAST_CHARS) & self._begins_like_one(offsets, content)
        for first, last in self._hinted(offsets, content):
            suspected[first : last + 1] = True
        found: Positions = np.flatnonzero(suspected & (sizes > 0))
        return found

    def has_hint(self, text: str) -> bool:
        """Return whether a rule may concern a text because of something inside it."""
        return self.has_hint_in(text.encode())

    def has_hint_in(self, text: bytes) -> bool:
        """Return the same of a text in UTF-8."""
        return self._hints is not None and self._hints.search(text) is not None

    def _hinted(self, offsets: npt.NDArray[np.int32], content: pa.Buffer) -> npt.NDArray[np.int64]:
        """Return the first and the last text under each hint; one may span several."""
        if self._hints is None:
            return np.empty((0, 2), np.int64)
        used = memoryview(content)[: offsets[-1]]
        spans = [match.span() for match in self._hints.finditer(used)]
        edges = np.array(spans, np.int64).reshape(-1, 2) - [0, 1]
        found: npt.NDArray[np.int64] = np.searchsorted(offsets, edges, side="right") - 1
        return found

    def _begins_like_one(
        self, offsets: npt.NDArray[np.int32], content: pa.Buffer
    ) -> npt.NDArray[np.bool_]:
        raw = np.frombuffer(content, np.uint8)
        if len(raw) < LEAST_CHARS:
            return np.zeros(len(offsets) - 1, bool)
        first = np.minimum(offsets[:-1], len(raw) - 2)
        found: npt.NDArray[np.bool_] = self._starts[
            raw[first].astype(np.uint16) << 8 | raw[first + 1]
        ]
        return found


def lengths(texts: pa.Array) -> npt.NDArray[np.int32]:
    """Return the bytes of each text; 0 for NULL. The array must have no offset."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32, len(texts) + 1)
    return offsets[1:] - offsets[:-1]
