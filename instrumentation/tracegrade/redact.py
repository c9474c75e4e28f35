"""Secrets in text: found by shape, replaced before the text leaves the process.

API keys by their prefix, bearer tokens, JWTs, private keys, passwords in URLs, payment cards that
pass Luhn's check, and strings under a name such as `password`; `secret_patterns.py` has the names
and shapes. Anything else passes; `init(redact=...)` takes further rules. All patterns take time
in proportion to the text, and three cheap checks spare most texts the patterns.
"""

import re
from functools import cache, lru_cache
from typing import Final

from tracegrade.secret_patterns import (
    API_KEYS,
    JWT,
    NAME_SUFFIX,
    OPEN_NAMES,
    PRIVATE_KEY_BEGIN,
    PRIVATE_KEY_END,
    STRONG_NAMES,
    passes_luhn,
)

PLACEHOLDER: Final = "[redacted]"

# A secret known by its shape has 13 such characters in a row. Possessive: each is looked at once.
_LONG_WORD = re.compile(r"(?:[A-Za-z0-9_-]{0,12}+[^A-Za-z0-9_-]++)*+[A-Za-z0-9_-]{13}")
_SPACED_CARD = re.compile(r" [0-9]{4,6} ")
_NAMES = ("passw", "secret", "token", "key", "auth", "://")

_SHAPES = re.compile(
    rf"{PRIVATE_KEY_BEGIN}(?:(?!-----END).)*+(?:{PRIVATE_KEY_END})?"  # to its end, or the text's
    rf"|(?<![A-Za-z0-9])(?:{JWT}|{'|'.join(API_KEYS)})"
    r"|(?i:(?<=bearer ))[A-Za-z0-9._~+/=-]{16,}",
    re.DOTALL,
)
# Up to the last @ before the path: a password may hold some.
_URL_PASSWORD = re.compile(
    r"(?<=://)([^\s/:@\"']{0,100}):[^\s/@\"']{1,200}+(?:@[^\s/@\"']{1,200}+(?=@)){0,3}+(?=@)"
)
_NAMED_STRING = re.compile(
    rf"""
    ( (?:{OPEN_NAMES}) [\w-]{{0,20}}+ (\\?["'])? \s{{0,4}} [:=] \s{{0,4}} )
    (?: (\\?["']) (?:(?!\3)(?:\\.|.)){{1,4096}}+ (?=\3|\Z)
      | ((?:(?:basic|bearer|digest)\ )?+ [^\s"',;&\]}}\[{{]{{4,}}) )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# `token` alone is also a word of language models, so what it names must look like a key.
_TOKEN = re.compile(
    r"""(?<![\w-])(token\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)[A-Za-z0-9._~+/=-]{16,}""",
    re.IGNORECASE,
)
_LITERALS: Final = frozenset({"null", "none", "true", "false"})
# Issuers of 13 to 19 digits; times and row ids in nanoseconds or milliseconds start with 1.
_CARD = re.compile(r"(?<![0-9.])[3-6][0-9]{3}(?:[ -]?[0-9]){9,15}(?![0-9])")


def redact(text: str) -> str:
    """Return `text` without the secrets we know; the same object if it holds none."""
    lowered = text.lower()
    named = any(name in lowered for name in _NAMES)
    if not (named or _LONG_WORD.match(text) or _SPACED_CARD.search(text)):
        return text
    clean = _SHAPES.sub(PLACEHOLDER, text)
    if named:
        clean = _URL_PASSWORD.sub(rf"\1:{PLACEHOLDER}", clean)
        clean = _NAMED_STRING.sub(_without_value, clean)
        clean = _TOKEN.sub(rf"\1{PLACEHOLDER}", clean)
    clean = _CARD.sub(_without_card, clean)
    return text if clean == text else clean


@lru_cache(4096)
def names_a_secret(key: str) -> bool:
    """Return whether what stands under `key` is a secret, whatever it looks like."""
    return _secret_name().search(key) is not None


@cache
def _secret_name() -> re.Pattern[str]:
    # Compiled at first use: it takes 10 ms, which no import should.
    return re.compile(rf"(?:{STRONG_NAMES}){NAME_SUFFIX}\Z", re.IGNORECASE)


def _without_value(match: re.Match[str]) -> str:
    name, name_quote, value_quote, bare = match.groups()
    if bare is None:
        return f"{name}{value_quote}{PLACEHOLDER}"
    if bare.lower() in _LITERALS:
        return match[0]
    quote = name_quote or ""  # under a quoted name, a bare word would break the JSON around it
    return f"{name}{quote}{PLACEHOLDER}{quote}"


def _without_card(match: re.Match[str]) -> str:
    if not passes_luhn("".join(filter(str.isdigit, match[0]))):
        return match[0]
    before = match.string[: match.start()].rstrip()[-1:]
    is_json_number = before in {":", ",", "["}  # a bare word would break the JSON around it
    return f'"{PLACEHOLDER}"' if is_json_number else PLACEHOLDER
