r"""Named rules that find and replace secrets in texts, for agents and collectors.

`hints` select the texts for a rule. The rule then rewrites these, by patterns with replacements or
by a function of one text. A text is examined as received, then decoded. The decoded copy has
letters and slashes for JSON's `\u0077` and `\/`, and no characters without width. It replaces the
text if the rules find more in it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tracegrade.redact.api_key_texts import ApiKeys
from tracegrade.redact.api_keys import API_KEY_HINT, API_KEY_STARTS, INFIX_HINT
from tracegrade.redact.cards import replace_cards
from tracegrade.redact.credentials import replace_in_headers, replace_in_urls
from tracegrade.redact.forms import HINTS
from tracegrade.redact.marks import marker
from tracegrade.redact.named import NamedSecrets
from tracegrade.redact.names import NameKind
from tracegrade.redact.patterns import (
    BOT_KEY,
    BOUNDARY,
    INSIDE,
    JWT,
    PRIVATE_KEY_BEGIN,
    URL_KEYS,
)
from tracegrade.redact.private_keys import replace_private_keys

Compile = Callable[[str], Any]
"""`re.compile`, or RE2's."""


@dataclass(frozen=True)
class Rule:
    """One kind of secret."""

    name: str
    hints: tuple[str, ...]
    """Without anchors: a text with such a secret matches one of them, at any position in a longer
    text, or it begins with one of `starts`.
    """

    rewrites: tuple[tuple[str, str], ...] = ()
    """Patterns, and what to write instead of a match; `\\1` is its first group."""

    replace: Callable[[str], str] | None = None
    """In place of patterns: a text → that text without the secrets."""

    starts: tuple[str, ...] = ()
    """Two characters each."""


def rules(
    compile_pattern: Compile, kind_of: Callable[[str], NameKind], names: Sequence[str] = ()
) -> list[Rule]:
    """Return all rules, in the order in which they are applied.

    Args:
        compile_pattern: What compiles patterns for the rules that need them themselves.
        kind_of: What tells the kind of a name.
        names: Patterns of names that are a secret's, besides those everybody uses.
    """
    named = _named(NamedSecrets(compile_pattern, kind_of, names), names)
    return [_PEM, _COOKIE, named, *_SHAPES, _api_key(compile_pattern), _CARD]


def _named(secrets: NamedSecrets, names: Sequence[str]) -> Rule:
    own = (f"(?i:{'|'.join(names)})",) if names else ()
    return Rule("named", (*HINTS, *own), replace=secrets.redact)


def _api_key(compile_pattern: Compile) -> Rule:
    return Rule(
        "api_key",
        (rf"(?:{INSIDE}|\\)(?:{API_KEY_HINT})", INFIX_HINT),
        replace=ApiKeys(compile_pattern).redact,
        starts=API_KEY_STARTS,
    )


_PEM: Final = Rule("pem", (PRIVATE_KEY_BEGIN,), replace=replace_private_keys)
_COOKIE: Final = Rule(
    "cookie",
    (r"(?i:cookie\s?:)",),
    rewrites=(
        (
            r"(?i)((?:set-)?cookie\s?:\s?)[^\s=;\"'\\]{1,200}=[^\r\n\"'\\]*",
            rf"\1{marker('cookie')}",
        ),
    ),
)
_URL: Final = Rule(
    "url",
    (r"://[^\s/?#\"'\\<>]+@", *URL_KEYS, BOT_KEY),
    replace=replace_in_urls,
)
_BEARER: Final = Rule(
    "bearer",
    (r"(?i:bearer(?:\s+|%20|\+)[a-z0-9])", r"(?i:basic\s+[a-z0-9+/]{6})"),
    replace=replace_in_headers,
)
_JWT: Final = Rule(
    "jwt",
    (r"eyJ[A-Za-z0-9_-]{6,}\.",),
    rewrites=((rf"({BOUNDARY}){JWT}", rf"\1{marker('jwt')}"),),
)
_SHAPES: Final = (_URL, _BEARER, _JWT)
_CARD_DIGITS: Final = r"[2-6][0-9]{3}(?:[ -]?[0-9]){9}"
_CARD: Final = Rule(
    "card",
    (rf"{INSIDE}{_CARD_DIGITS}",),
    replace=replace_cards,
    starts=tuple(f"{first}{second}" for first in "23456" for second in "0123456789"),
)

HIDDEN: Final = "\u200b|\u200c|\u200d|\u2060|\ufeff|\u00ad"
"""Characters without a width, which a reader does not see in the middle of a secret."""

ESCAPED: Final = rf"\\u[0-9A-Fa-f]{{4}}|\\/|{HIDDEN}"
HIDING: Final = rf"\\u00[2-7]|(?i:\\u(?:200[b-d]|2060|feff|00ad))|{HIDDEN}"
"""Without anchors: characters in a text where decoding uncovers a secret."""

_ESCAPED: Final = re.compile(rf"(?<!\\)\\++(?:u([0-9A-Fa-f]{{4}})|(/))|{HIDDEN}")
_HIDDEN: Final = frozenset(HIDDEN.split("|"))
_NEVER_PLAIN: Final = frozenset({"\x22", "\x5c"})


def decoded(text: str) -> str:
    r"""Return the text with letters for `\u0077`, `/` for `\/`, without characters of no width.

    It decodes at any depth. Quotes, backslashes, control characters and halves of a pair are
    unchanged, so that JSON remains JSON.
    """
    is_plain = text.isascii() and "\\" not in text
    return text if is_plain else _ESCAPED.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    if match[2]:
        return "/"
    character = chr(int(match[1], 16)) if match[1] else match[0]
    if character in _HIDDEN:
        return ""
    is_plain = character.isprintable() and character not in _NEVER_PLAIN
    return character if is_plain else match[0]
