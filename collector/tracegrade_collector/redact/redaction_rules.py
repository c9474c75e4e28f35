r"""The rules that find secrets in texts and replace them, by name.

Names and shapes come from `tracegrade/secret_patterns.py`. Patterns are RE2's (no lookahead, no
backreference), so they take linear time and no text can stall them. A rule first says which texts
it concerns (`find`), then rewrites those. `Prefilter` picks the few texts that any rule could
concern, without looking at them one by one.

A text may be JSON, and JSON inside a JSON string, where each quote has more backslashes: a value
ends at the quote that has as many as the one that opened it. So patterns for named values exist
once per depth, four in all.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade.secret_patterns import (
    API_KEY_STARTS,
    API_KEYS,
    JWT,
    KEY_LIKE,
    NAME_SUFFIX,
    PRIVATE_KEY_BEGIN,
    PRIVATE_KEY_END,
    STRONG_NAMES,
    WEAK_NAMES,
)
from tracegrade_collector.redact.cards import replace_cards

DEPTHS: Final = 4
"""JSON in JSON in JSON in JSON."""

_BARE: Final = r"[^\s\"'\\,;&|<>()\[\]{}]"
# Longer than `null`, `none`, `true` and `false`, or with something that no word has.
_BARE_VALUE: Final = rf"(?:{_BARE}{{6,}}|{_BARE}*[0-9!@#$%^*+/_.~-]{_BARE}*)"
_SCHEME: Final = r"(?:(?:basic|bearer|digest|token|negotiate|apikey)\s+)?"
_ASSIGNED: Final = r"\\*[\"']?\s{0,4}(?:=>|:=|[:=])\s{0,4}"

_NO_WORD: Final = r"(^|[^A-Za-z0-9])"
_CARD: Final = r"(?:[ -]?[0-9]){12}"


@dataclass(frozen=True)
class Rule:
    """One kind of secret."""

    name: str
    find: str
    """RE2: a text it does not match has no such secret."""

    replace: Callable[[pa.Array], pa.Array]
    """Texts that `find` matched → those texts without the secrets."""

    hints: tuple[str, ...]
    """RE2 without anchors: a text that `find` matches, matches one of them wherever it stands in a
    longer one, or it begins with one of `starts`."""

    starts: tuple[str, ...] = ()
    """Two characters each."""


def marker(rule: str) -> str:
    """Return what stands in the place of a secret."""
    return f"[redacted:{rule}]"


class Rewrite(NamedTuple):
    """A pattern and what to write instead."""

    pattern: str
    replacement: str
    needs: str = ""
    """A text without it does not match; looking for it is cheaper."""


def _rewriting(*rewrites: Rewrite | tuple[str, str]) -> Callable[[pa.Array], pa.Array]:
    def replace(texts: pa.Array) -> pa.Array:
        for pattern, replacement, needs in (Rewrite(*each) for each in rewrites):
            if not needs or pc.any(pc.match_substring(texts, needs)).as_py():
                texts = pc.replace_substring_regex(texts, pattern, replacement)
        return texts

    return replace


def one_by_one(replace: Callable[[str], str]) -> Callable[[pa.Array], pa.Array]:
    """Return what applies a function of one text to an array of them."""
    return lambda texts: pa.array([replace(text) for text in texts.to_pylist()], texts.type)


def _quote(depth: int) -> str:
    """Return RE2 for a double quote in JSON that is nested so often."""
    return rf"\\{{{2**depth - 1}}}\"" if depth else r"\""


def _content(depth: int) -> str:
    """Return RE2 for the rest of a string, up to the quote that ends it."""
    unit = 2 ** (depth + 1)
    escaped = rf"(?:\\{{{unit}}})*\\{{{2**depth},{unit - 1}}}\""
    after_escaped = rf"|(?:\\{{{unit}}})+(?:\\{{0,{2**depth - 2}}})?\"" if depth else ""
    return rf"(?:[^\"\\]|\\+[^\"\\]|{escaped}{after_escaped})+(?:\\{{{unit}}})*"


_FLAT: Final = r"[\[{][^\[\]{}]*[\]}]"
_CONTAINER: Final = rf"[\[{{](?:[^\[\]{{}}]|[\[{{](?:[^\[\]{{}}]|{_FLAT})*[\]}}])*[\]}}]"


def _named_rewrites(strong: str, mark: str) -> Iterable[Rewrite]:
    """Yield the patterns for what stands under a name, and what to write instead."""
    flags = "(?is)"
    for depth in range(DEPTHS):
        escapes = 2**depth - 1
        quote, written, needs = _quote(depth), "\\\\" * escapes + '"', "\\" * escapes + '"'
        text = rf"{flags}({strong}{_ASSIGNED}{quote}){_content(depth)}"
        yield Rewrite(text, rf"\1{mark}", needs)
        other = rf"{flags}({strong}{quote}\s*:\s*)(?:-?[0-9][0-9.eE+-]*|{_CONTAINER})"
        yield Rewrite(other, rf"\1{written}{mark}{written}", needs)
    single = rf"{flags}({strong}{_ASSIGNED}\\*')(?:[^'\\]|\\+.)+"
    yield Rewrite(single, rf"\1{mark}", "'")
    other = rf"{flags}({strong}'\s*:\s*)(?:[0-9]+|{_CONTAINER})"
    yield Rewrite(other, rf"\1'{mark}'", "'")
    equals = r"\s{0,4}(?:=>|:=|[:=])\s{0,4}"
    yield Rewrite(rf"{flags}({strong}{equals}){_SCHEME}{_BARE_VALUE}", rf"\1{mark}")
    # `--password hunter2`, also as two strings of a JSON list
    name = rf"(?:--?[a-z0-9._-]*{strong}|--[a-z0-9._-]*token)"
    flag = rf"(?:^|[\s\"',(\[]){name}\\*[\"']?(?:,?\s+|,)\\*[\"']?"
    yield Rewrite(rf"{flags}({flag})[^\s\"'\\,-][^\s\"'\\]*", rf"\1{mark}", "-")
    pwd = rf"{flags}((?:^|[^a-z])pwd\s?=\s?)[^\s\"'\\;&/~$]{{3,}}"
    yield Rewrite(pwd, rf"\1{mark}")
    yield Rewrite(rf"{flags}([?&;]sig=)[a-z0-9%+/=_-]{{16,}}", rf"\1{mark}", "sig=")
    weak = rf"(?:^|[^a-z0-9])(?:[a-z0-9]+[._-])*(?:{WEAK_NAMES})"
    yield Rewrite(rf"{flags}({weak}{_ASSIGNED}\\*[\"']?){KEY_LIKE}", rf"\1{mark}")


def _named(names: Sequence[str]) -> Rule:
    own = "".join(rf"|(?:^|[^a-z0-9]){name_pattern(name)}" for name in names)
    strong = rf"(?:(?:{STRONG_NAMES}{own}){NAME_SUFFIX})"
    any_name = rf"(?:{strong}|{WEAK_NAMES})"
    hints = (
        rf"(?i:(?:{STRONG_NAMES}{''.join('|' + name_pattern(name) for name in names)}"
        rf"|{WEAK_NAMES}){NAME_SUFFIX}\\*[\"']?\s{{0,4}}[:=])",
        rf"(?i:--?[a-z0-9._-]*(?:{STRONG_NAMES}|token){NAME_SUFFIX}\\*[\"']?[\s,])",
        r"(?i:pwd\s?=)",
        r"[?&;]sig=",
    )
    flag = rf"--?[a-z0-9._-]*(?:{strong}|token)\\*[\"']?[\s,]"
    find = rf"(?is){any_name}{_ASSIGNED}|{flag}|pwd\s?=|[?&;]sig="
    return Rule("named", find, _rewriting(*_named_rewrites(strong, marker("named"))), hints)


def name_pattern(name: str) -> str:
    """Return RE2 for a name, however its words are parted."""
    return r"[._ -]?".join(re.escape(word) for word in re.split(r"[._ -]+", name.lower()) if word)


_PEM: Final = Rule(
    "pem",
    PRIVATE_KEY_BEGIN,
    _rewriting(
        (rf"(?s){PRIVATE_KEY_BEGIN}.*?{PRIVATE_KEY_END}", marker("pem")),
        # cut off before its end
        (rf"{PRIVATE_KEY_BEGIN}(?:[A-Za-z0-9+/=:,.\s-]|\\+[nrt])*", marker("pem")),
    ),
    (r"-----BEGIN",),
)
_COOKIE: Final = Rule(
    "cookie",
    r"(?i)(?:set-)?cookie\s?:\s?[^\s=;]+=",
    _rewriting((r"(?i)((?:set-)?cookie\s?:\s?)[^\r\n\"'\\]+", rf"\1{marker('cookie')}")),
    (r"(?i:cookie\s?:)",),
)
_URL: Final = Rule(
    "url",
    r"://[^\s/?#\"'\\<>]+@",
    _rewriting(
        (r"(://)[^\s/?#\"'\\<>@:]*:[^\s/?#\"'\\<>]+@", rf"\1{marker('url')}@"),
        (r"(://)[A-Za-z0-9_~.%+-]{20,}@", rf"\1{marker('url')}@"),  # a token in the user's place
    ),
    (r"://[^\s/?#\"'\\<>]+@",),
)
_BASIC: Final = rf"(?:[A-Za-z0-9+/]{{6,}}={{1,2}}|{KEY_LIKE})"
_BEARER: Final = Rule(
    "bearer",
    rf"(?i)(?:bearer(?:\s+|%20){KEY_LIKE}|basic\s+{_BASIC})",
    _rewriting(
        (rf"(?i)(bearer(?:\s+|%20)){KEY_LIKE}", rf"\1{marker('bearer')}"),
        (rf"(?i)(basic\s+){_BASIC}", rf"\1{marker('bearer')}"),
    ),
    (r"(?i:bearer(?:\s+|%20)[a-z0-9])", r"(?i:basic\s+[a-z0-9+/]{6})"),
)
_JWT: Final = Rule("jwt", JWT, _rewriting((JWT, marker("jwt"))), (r"eyJ[A-Za-z0-9_-]{6,}\.",))
_ANY_API_KEY: Final = "|".join(API_KEYS)
_API_KEY: Final = Rule(
    "api_key",
    rf"{_NO_WORD}(?:{_ANY_API_KEY})",
    _rewriting((rf"{_NO_WORD}(?:{_ANY_API_KEY})", rf"\1{marker('api_key')}")),
    (rf"[^A-Za-z0-9](?:{_ANY_API_KEY})",),
    API_KEY_STARTS,
)
_CARDS: Final = Rule(
    "card",
    r"(?:^|[^0-9A-Za-z])[2-6][0-9]{3}(?:[ -]?[0-9]){9}",
    one_by_one(replace_cards),
    (r"[^0-9A-Za-z][2-6][0-9]{3}(?:[ -]?[0-9]){9}",),
    tuple(f"{first}{second}" for first in "23456" for second in "0123456789"),
)

BLOB: Final = "blob"


def rules(off: Sequence[str], names: Sequence[str]) -> list[Rule]:
    """Return the rules for secrets but those that are off; `names` name further secrets."""
    known = [_PEM, _COOKIE, _named(names), _URL, _BEARER, _JWT, _API_KEY, _CARDS]
    return [rule for rule in known if rule.name not in off]
