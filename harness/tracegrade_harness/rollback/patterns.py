"""Patterns of object names: `*` within a name, `**` any number of names, `?` one character."""

import re
from collections.abc import Callable

_PIECES = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANINGS = {"**/": "(?:[^/]*/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return what tells whether a whole name matches a pattern."""
    parts = []
    end = 0
    for piece in _PIECES.finditer(pattern):
        parts += [re.escape(pattern[end : piece.start()]), _MEANINGS[piece[0]]]
        end = piece.end()
    parts.append(re.escape(pattern[end:]))
    compiled = re.compile("".join(parts), re.DOTALL)
    return lambda name: compiled.fullmatch(name) is not None
