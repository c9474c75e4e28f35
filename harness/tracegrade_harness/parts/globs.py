"""Matches globs against names of objects and paths in a part."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import re2

from tracegrade_harness.parts.names import plain_text

_SLASH: Final = "\ue02f"
"""A private character that replaces a slash inside a table's name or a key."""
_SEVERAL: Final = re.compile(r"(?<![^/:])(?:\*\*/)+(?=\*\*(?:/|$))")
_TOKENS: Final = re.compile(
    r"(?P<folders>(?<![^/:])\*\*/)"
    r"|(?P<below>/\*\*$)"
    r"|(?P<all>(?<![^/:])\*\*$)"
    r"|(?P<part>\*+)"
    r"|(?P<one>\?)"
    r"|(?P<itself>.)",
    re.DOTALL,
)
_PATTERNS: Final = {
    "folders": "(?:(?s:.*)/)?",
    "below": "(?:/(?s:.*))?",  # `a/**` also matches `a`
    "all": "(?s:.*)",
    "part": "[^/]*",
    "one": "[^/]",
}


@cache
def matcher(glob: str) -> Callable[[str], bool]:
    r"""Return a function that tells whether a glob matches a name.

    `**` between slashes (or after the colon of an object's name) matches any number of names,
    including none. `*` matches any text within a name, `?` one character of it. Other text matches
    itself. A glob may hold an unprintable character as itself or as in names (`\x0a`); it is one
    character, and bytes that are not UTF-8 are all the same. A glob may omit the slash at the end
    of a folder's name. The time grows in proportion to the length of the name, for every glob.
    """
    pattern = re2.compile(_pattern(_whole(glob)), _options())

    def matches(name: str) -> bool:
        whole = _whole(name)
        found = pattern.fullmatch(whole) or (whole.endswith("/") and pattern.fullmatch(whole[:-1]))
        return bool(found)

    return matches


class Globs:
    """Rules, each a glob; finds the first one that matches."""

    def __init__(self, rules: Sequence[str]) -> None:
        """Take the rules; the first match counts."""
        self._rules = [(rule, matcher(rule)) for rule in rules]

    def rule(self, name: str) -> str | None:
        """Return the first rule that matches a name, or None."""
        return next((rule for rule, matches in self._rules if matches(name)), None)


def _whole(text: str) -> str:
    """Return a text without escapes; U+FFFD replaces each half character.

    An escaped slash is part of a name, and so stays distinct from slashes between names.
    """
    text = plain_text(text.replace(r"\x2f", _SLASH))
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _pattern(glob: str) -> str:
    tokens = _TOKENS.finditer(_SEVERAL.sub("", glob))
    return "".join(
        _PATTERNS.get(token.lastgroup or "") or re2.escape(token.group()) for token in tokens
    )


def _options() -> Any:
    """Return RE2's options without its log lines on stderr."""
    options = re2.Options()
    options.log_errors = False
    return options
