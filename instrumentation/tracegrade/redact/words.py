"""Finds which of many words occur in a text, in one pass over it."""

from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any

from tracegrade.redact.patterns import alternatives


class Words:
    """Finds words in texts, inside of other words too."""

    def __init__(self, compile_pattern: Callable[[str], Any], words: Collection[str]) -> None:
        """Find these words, which are in lower case, with a pattern compiled by this function.

        The pattern omits words that contain another of the words.
        """
        shortest = {
            word for word in words if not any(each in word for each in words if each != word)
        }
        self._places = compile_pattern(alternatives((word, "") for word in shortest))
        beginning: defaultdict[str, set[str]] = defaultdict(set)
        for each in shortest:
            longer = [word for word in words if each in word]
            for end in range(1, len(each) + 1):
                beginning[each[:end]].update(longer)
        # A match may hide another word that begins in it.
        self._hidden_by = {
            found: set().union(*(beginning.get(found[start:], ()) for start in range(len(found))))
            for found in shortest
        }

    def inside(self, text: str) -> set[str]:
        """Return the words that occur in a text in lower case."""
        found = {place[0] for place in self._places.finditer(text)}
        return {word for each in found for word in self._hidden_by[each] if word in text}
