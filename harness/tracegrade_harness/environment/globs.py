"""Globs over names: `*` within a name, `**` over any number of names, `?` for one character.

Matching takes time linear in the name, so no name that an agent chooses can stall the harness.
"""

import re2

_PIECE = re2.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")


class Globs:
    """Rules, each a glob; asks which of them holds first."""

    def __init__(self, rules: list[str]) -> None:
        self._rules = [(rule, _compiled(_pattern(rule))) for rule in rules]
        self._any = _compiled("|".join(f"(?:{_pattern(rule)})" for rule in rules))

    def rule(self, name: str) -> str | None:
        """Return the first rule that matches a name, or None.

        A rule matches the name of a folder, which ends in a slash, with and without it.
        """
        if not self._rules or not self._any.fullmatch(name):
            return None
        return next(rule for rule, glob in self._rules if glob.fullmatch(name))


def matches(rule: str, name: str) -> bool:
    """Return whether one rule matches a name; `Globs` is quicker for many names."""
    return Globs([rule]).rule(name) is not None


def _compiled(pattern: str) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20  # the default is too small for a hundred long rules
    return re2.compile(f"(?s:{pattern})", options=options)


def _pattern(rule: str) -> str:
    parts, before = [], ""
    for piece in _PIECE.findall(rule):
        parts.append(_piece_pattern(piece, before))
        before = piece
    return "".join(parts) + ("" if rule.endswith("/") else "/?")


def _piece_pattern(piece: str, before: str) -> str:
    if piece == "**/":
        # Of `a/**/b` and `files:**/b`, no name at all stands for the stars too: `a/b`, `files:b`.
        return "(?:.*/)?" if not before or before[-1] in "/:" else ".*/"
    stars = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return stars.get(piece) or re2.escape(piece)
