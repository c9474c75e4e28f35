"""Secrets in text: found by shape, replaced before the text leaves the process.

Shapes: API keys by their prefix, bearer tokens, JWTs, private keys, passwords in URLs, payment
cards that pass Luhn's check, and strings that stand under a name such as `password`. Anything
else passes; `init(redact=...)` takes further rules. All patterns are linear in the text, and
three cheap looks spare most texts the patterns.
"""

import re
from typing import Final

PLACEHOLDER: Final = "[redacted]"

# A secret known by its shape has 13 such characters in a row. Possessive: each is looked at once.
_LONG_WORD = re.compile(r"(?:[A-Za-z0-9_-]{0,12}+[^A-Za-z0-9_-]++)*+[A-Za-z0-9_-]{13}")
_SPACED_CARD = re.compile(r" [0-9]{4,6} ")
_NAMES = ("passw", "secret", "token", "key", "auth", "://")

_SHAPES = re.compile(
    r"""
    -----BEGIN\ [A-Z0-9\ ]{0,40}PRIVATE\ KEY-----                    # to its end, or the text's
        (?:(?!-----END).)*+(?:-----END\ [A-Z0-9\ ]{0,40}-----)?
    | \beyJ[\w-]{6,}\.[\w-]{4,}(?:\.[\w-]*)?                          # JWT
    | \b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}                            # OpenAI, Anthropic, Stripe
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b                                   # AWS
    | \b(?:gh[opsur]|github_pat|glpat|hf|npm|gsk|r8|dop_v1|lsv2_[ps]t)[-_][A-Za-z0-9_-]{16,}
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,}                                # Slack
    | \bAIza[\w-]{30,}                                                # Google
    | \bya29\.[\w-]{16,}
    | \bSG\.[\w-]{16,}\.[\w-]{16,}                                    # SendGrid
    | \bpypi-[\w-]{16,}
    | \bxai-[A-Za-z0-9]{16,}
    | (?i:(?<=bearer\ ))[A-Za-z0-9._~+/=-]{16,}
    """,
    re.VERBOSE | re.DOTALL,
)
# Up to the last @ before the path: a password may hold some.
_URL_PASSWORD = re.compile(
    r"(?<=://)([^\s/:@\"']{0,100}):[^\s/@\"']{1,200}+(?:@[^\s/@\"']{1,200}+(?=@)){0,3}+(?=@)"
)
_TELLING_NAMES: Final = r"""
    (?: passw(?:or)?d | passphrase | passcode | secret | api[_-]?key | apikey
    | access[_-]?key | account[_-]?key | private[_-]?key | authorization
    | (?:access|auth|refresh|id|session|bearer|api)[_-]?token )
"""
_NAMED_STRING = re.compile(
    rf"""
    ( {_TELLING_NAMES} [\w-]{{0,20}}+ (\\?["'])? \s{{0,4}} [:=] \s{{0,4}} )
    (?: (\\?["']) (?:(?!\3)(?:\\.|.)){{1,4096}}+ (?=\3|\Z)
      | ((?:(?:basic|bearer|digest)\ )?+ [^\s"',;&\]}}\[{{]{{4,}}) )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_SECRET_NAME = re.compile(rf"{_TELLING_NAMES} \Z", re.VERBOSE | re.IGNORECASE)
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


def names_a_secret(key: str) -> bool:
    """Return whether what stands under `key` is a secret, whatever it looks like."""
    return _SECRET_NAME.search(key) is not None


def _without_value(match: re.Match[str]) -> str:
    name, name_quote, value_quote, bare = match.groups()
    if bare is None:
        return f"{name}{value_quote}{PLACEHOLDER}"
    if bare.lower() in _LITERALS:
        return match[0]
    quote = name_quote or ""  # under a quoted name, a bare word would break the JSON around it
    return f"{name}{quote}{PLACEHOLDER}{quote}"


def _without_card(match: re.Match[str]) -> str:
    digits = [int(char) for char in match[0] if char.isdigit()]
    if not is_card_number(digits):
        return match[0]
    before = match.string[: match.start()].rstrip()[-1:]
    is_json_number = before in {":", ",", "["}  # a bare word would break the JSON around it
    return f'"{PLACEHOLDER}"' if is_json_number else PLACEHOLDER


def is_card_number(digits: list[int]) -> bool:
    """Return whether the last digit is Luhn's check digit of the others (ISO/IEC 7812-1)."""
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
