"""Decides from the name of a value whether the value is a secret.

Names are those of headers, fields, variables and attributes. The last words of one decide:
`db.password`, `OPENAI_API_KEY`, `clientSecret`. Numbers and booleans are never a named secret.
"""

import re
from base64 import b64decode
from enum import IntEnum
from functools import cache, lru_cache
from typing import Final

from tracegrade.redact.cards import LEAST_CARD_DIGITS, is_card
from tracegrade.redact.marks import MARK_START
from tracegrade.redact.patterns import (
    ENV_SUFFIX,
    KEY_LIKE,
    KEY_NAMES,
    NAME_SUFFIX,
    TYPED_NAMES,
)

LEAST_KEY_CHARS: Final = 4
"""HTML's `accesskey` has one character."""

LEAST_HEADER_CHARS: Final = 8
LEAST_RANDOM_CHARS: Final = 12
LEAST_REPEATED: Final = 6
LONGEST_KEY_START: Final = 64
"""So much of a text tells whether it looks like a key."""


class NameKind(IntEnum):
    """Kinds of names, by their meaning for the value."""

    PLAIN = 0
    WEAK = 1
    """A secret if it looks like a key: `token` is also a word of language models."""

    COOKIE = 2
    """A secret if it is written as a cookie, or looks like a key."""

    HEADER = 3
    """`Authorization`: a secret if the value has a scheme or a key."""

    SECRET = 4
    PASSWORD = 5
    CARD = 6
    """A secret if it is the number of a payment card."""

    KEY = 7
    """A secret if it looks random: most keys are those of a map or a table."""

    LOGIN = 8
    """`auth`: a secret if it is a user with a password in base64, or looks random."""

    OWN = 9
    """A name that an option gives: any value is a secret."""


_OTHER_TOKENS: Final = (
    r"(?i)(?:page|pagination|paging|next|prev(?:ious)?|start(?:ing)?|continuation|cursor|sync"
    r"|delta|skip|scroll|resume|stop|client[._ -]?request|idempotency|eos|bos|pad|unk|mask)"
    r"[._ -]?token\Z"
)
"""Places in lists and in vocabularies."""

_OTHER_PASSES: Final = (
    r"(?i)(?:boarding|ski|lift|season|day|week(?:end|ly)?|month(?:ly)?|annual|bus"
    r"|train|rail|travel"
    r"|transit|park(?:ing)?|city|museum|hall|festival|event|entry|first|second|last|next)"
    r"[._ -]?pass\Z"
)
"""Passes for a gate, and passes as rounds."""

_OTHER_KEYS: Final = (
    r"(?i)(?:primary|foreign|partition|sort|range|hash|cache|public|idempotency"
    r"|unique|composite|row"
    r"|object|lookup|index|group|grouping|order|map|dict|json|i18n|translation|message|template"
    r"|query|event|shard|cluster|join|parent|issue|project|ticket|registry|arrow"
    r"|shortcut|hot|short"
    r"|config|setting|metric|attribute|document|bucket|feature|flag|experiment"
    r"|resource|s3|blob|file"
    r"|image|local[._-]?storage|natural|surrogate|business|dedup(?:lication)?|routing"
    r"|item|field|column|label"
    r"|tag|sort[._-]by|trace|span|session[._-]store|state|queue|topic|record|memo|react|any|press"
    r"|modifier|enter|escape|function|major|minor|answer|next|prev|start|last[._-]evaluated"
    r"|exclusive[._-]start|agent|crew|task|step|tool|node|job|continuation|cursor"
    r"|lock|set|list|value|redis|memcached?)[._ -]?keys?\Z"
)
"""Keys of tables, maps and keyboards."""

_BYPASS: Final = r"(?i)(?:by|com|tres|sur|over|under|en)pass(?:es)?\Z"

KINDS: Final = (
    (_OTHER_PASSES, NameKind.PLAIN),
    (_BYPASS, NameKind.PLAIN),
    (_OTHER_KEYS, NameKind.PLAIN),
    (rf"(?i)(?:{TYPED_NAMES}){NAME_SUFFIX}{ENV_SUFFIX}\Z", NameKind.PASSWORD),
    (
        rf"(?:(?:^|[^A-Za-z])(?i:pwd|pass|pw|psk|cvv|cvc)|[a-z0-9](?:Pwd|Pass|Cvv"
        rf"|Cvc)){NAME_SUFFIX}\Z",
        NameKind.PASSWORD,
    ),
    (
        r"(?i)(?:^|[^a-z])(?:db|root|user|admin|smtp|ftp|ssh|mail|key|store|keystore|proxy|ldap"
        r"|sudo|my|sql|pg)(?:pass|pwd|pw)\Z",
        NameKind.PASSWORD,
    ),
    (r"\A[A-Z0-9_]*[A-Z]_?(?:PASS|PWD)\Z", NameKind.PASSWORD),
    (r"(?i)authorization\Z", NameKind.HEADER),
    (rf"(?i)(?:{KEY_NAMES}){NAME_SUFFIX}{ENV_SUFFIX}\Z", NameKind.SECRET),
    (_OTHER_TOKENS, NameKind.PLAIN),
    (r"\A[A-Z0-9_]+_(?:TOKEN|AUTH)\Z", NameKind.SECRET),
    (r"(?:^|[^A-Za-z0-9])(?i:auth)\Z|[a-z0-9]Auth\Z", NameKind.LOGIN),
    (rf"(?i)[a-z0-9][._ -]keys?{NAME_SUFFIX}\Z|(?-i:[a-z0-9]Keys?\Z)", NameKind.KEY),
    (r"(?:^|[^A-Za-z0-9])(?i:token|x[._-]?auth)\Z|[a-z0-9]Token\Z", NameKind.WEAK),
    (r"(?i)(?:^|[^a-z])(?:set[._ -]?)?cookies?\Z|[a-z0-9]Cookies?\Z", NameKind.COOKIE),
    (
        r"(?i)(?:(?:^|[^a-z])(?:card|cc|pan|credit|debit|payment)(?:[^a-z]|\Z)|card\Z|cardn)",
        NameKind.CARD,
    ),
)
"""Patterns of names, with their kind: the first pattern found in a name decides."""

LEAST_CHARS: Final = {
    NameKind.WEAK: 8,
    NameKind.COOKIE: 3,
    NameKind.HEADER: LEAST_HEADER_CHARS,
    NameKind.SECRET: LEAST_KEY_CHARS,
    NameKind.PASSWORD: 1,
    NameKind.CARD: LEAST_CARD_DIGITS,
    NameKind.KEY: LEAST_RANDOM_CHARS,
    NameKind.LOGIN: 8,
    NameKind.OWN: 1,
}
"""Under a name of each kind no shorter text is a secret."""

_NUMBER: Final = re.compile(r"[+-]?[0-9][0-9.,_]*(?:[eE][+-]?[0-9]+)?%?\Z")
_SCHEMES: Final = re.compile(
    r"(?i)(?:basic|bearer|digest|token|negotiate|api-?key|hmac|aws4|signature|key)\b\S*\s+\S{4}"
)
_KEY_LIKE: Final = re.compile(KEY_LIKE)
_COOKIE: Final = re.compile(r"[^\s=;,]{1,200}=[^\s;]")
_TEMPLATE: Final = r"(?:%s|%\(\w+\)s|\$\{[^{}]*\}|\{\{[^{}]*\}\}|\{(?:\w[\w.]*)?\})"
_PLACEHOLDER: Final = re.compile(
    rf"(?:(?:(?:basic|bearer|token)\s+|[:@/\s-])*{_TEMPLATE}(?:[:@/\s-]|{_TEMPLATE})*"
    r"|\$\(.*|\$[a-z_]*(?:pass|pwd|secret|token|key|auth|cred)[a-z0-9_]*|%[a-z_]+%"
    r"|<[a-z_ -]+>|\[[a-z_ -]+\]|([*•.x#_-])\1{2,}"
    r"|(?:your|the|an?|example|insert|enter)[-_ ](?:[a-z]+[-_ ]){0,4}(?:here|key|token|secret"
    r"|password|value)|change[-_ ]?me|placeholder)\Z",
    re.IGNORECASE | re.DOTALL,
)
_NO_VALUES: Final = frozenset(
    """
    none null nil true false undefined nan str string text varchar char bytes bool boolean int
    integer number float object array list dict any optional required hidden masked redacted
    secretstr n/a include same-origin omit
    """.split()  # noqa: SIM905 - a paragraph
)
"""Types, literals and the like, which no password is."""

_WORDS: Final = frozenset(
    """
    yes no on off ok empty missing invalid expired incorrect wrong changed unchanged enabled
    disabled default valid unknown na input type field value varies password passwords passwd
    pass secret secrets token key cookie cookies credentials authorization must should is are
    was were will can has have here below above and or not the a an for to in of with from if
    else new old fail failed passed plain encrypted hashed protected needed granted denied
    forgotten forgot reset available self cls this await async lambda return yield def function
    const let var typeof os.environ too prompt prompts raise throw print exit die echo assert abort
    log pass break continue redirect panic goto next erforderlich requis requise obligatoire
    obligatorio obligatoria
    """.split()  # noqa: SIM905 - a paragraph
)
"""Words after a name in a sentence or in code."""

_SAYS_HOW: Final = re.compile(
    r"(?i)\b(?:required|invalid|incorrect|expired|missing|must|cannot|enter|forgot|reset|change"
    r"|confirm|show|hide|wrong|match)\b"
)
_SAYS_OF_WHAT: Final = re.compile(
    r"(?i)\b(?:pass(?:word|phrase|code)s?|secrets?|tokens?|keys?|fields?|characters|credentials"
    r"|login|value)\b"
)
_PATH: Final = re.compile(r"(?:[/~.]|[A-Za-z]:(?:[\\/]|\Z))")
_REFERENCE: Final = re.compile(
    r"arn:[a-z-]{2,20}:[\w:/.*-]+\Z|(?:file|op|vault|ssm|secret)://|https?://[^\s@?]+\Z"
    r"|projects/[\w-]+/secrets/|~/|(?:\.{0,2}|[A-Za-z]:)[\\/][\w .\\/-]*\.[A-Za-z0-9]{2,5}\Z"
    r"|[\w-]{1,60}\.(?:json|pem|key|ya?ml|p12|crt|txt)\Z"
)
"""References to keys in other places, and pages about keys."""

_VERDICTS: Final = frozenset("yes no y n pass fail passed failed partial ok".split())  # noqa: SIM905
_RANDOM: Final = re.compile(r"[A-Za-z0-9+/=_.:~-]+\Z")
_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_PARTS: Final = re.compile(r"[A-Za-z0-9+/]{10,}")
_CHANGES: Final = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])|[a-z](?=[A-Z])")
_VERSION: Final = re.compile(
    r"(?i)v?[0-9.]+[a-z]{0,3}\Z|[A-Z]{2,8}-?[0-9]{1,4}\Z|[0-9]+-[a-z-]+\Z"
)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{8,}={0,2}\Z")
LONGEST_RANDOM: Final = 2000
LEAST_CHANGES: Final = 3
"""From a letter to a digit, or to a capital, in ten characters or more."""

_SHORT_NUMBER: Final = re.compile(r"[0-9]{1,3}%?\Z|[0-9]?\.[0-9]+\Z")


@cache
def _kinds() -> tuple[tuple[re.Pattern[str], NameKind], ...]:
    """Return the patterns of names; made at first use, since no import should take that long."""
    return tuple((re.compile(pattern), kind) for pattern, kind in KINDS)


@lru_cache(4096)
def kind_of(name: str) -> NameKind:
    """Return the kind of a whole name, with the words before it."""
    for pattern, kind in _kinds():
        if pattern.search(name):
            return kind
    return NameKind.PLAIN


def is_secret(kind: NameKind, name: str, text: str) -> bool:
    """Return whether a text value is a secret because of its name.

    Words in place of a value (`required`, `string`), variables (`${PASSWORD}`) and labels of forms
    ("Password is required") are not secrets.

    Args:
        kind: The kind of the name.
        name: The name with the words before it.
        text: The value of the name.
    """
    if kind is NameKind.PLAIN or not text.strip() or text.startswith(MARK_START):
        return False
    if kind in _SHAPED:
        return _SHAPED[kind](text)
    is_folder = name[-3:].lower() == "pwd" and _PATH.match(text)
    if stands_for_no_value(text) or is_folder or _repeats(name, text):
        return False
    if kind is NameKind.PASSWORD:
        return not _is_verdict(name, text.strip())
    return len(text) >= LEAST_KEY_CHARS and not _is_elsewhere(name, text.strip())


def _is_verdict(name: str, text: str) -> bool:
    """Return whether a text under `pass` says whether something passed."""
    is_result = text.lower() in _VERDICTS or _SHORT_NUMBER.match(text) is not None
    return is_result and name[-4:].lower() == "pass"


def _is_elsewhere(name: str, text: str) -> bool:
    """Return whether a text names the location of a key: a file, or a manager of secrets."""
    return _REFERENCE.match(text) is not None and not name.lower().endswith("string")


def _repeats(name: str, text: str) -> bool:
    """Return whether a text is the name again, as in a list of names."""
    word = "".join(filter(str.isalnum, text.lower()))
    if len(word) < LEAST_REPEATED or not word.isalpha():
        return False
    return "".join(filter(str.isalnum, name.lower())).endswith(word)


def _is_card(text: str) -> bool:
    return is_card(text.strip())


def _is_cookie(text: str) -> bool:
    return _COOKIE.search(text) is not None or looks_like_key(text)


def _is_authorization(text: str) -> bool:
    is_plain = any(map(str.isspace, text)) or text.isalpha()
    is_word = len(text) >= LEAST_HEADER_CHARS and not is_plain
    is_key = is_word or _SCHEMES.match(text) is not None or looks_like_key(text)
    return is_key and not stands_for_no_value(text)


def stands_for_no_value(text: str) -> bool:
    """Return whether a text says that the value is, was or will be elsewhere."""
    stripped = text.strip()
    return (
        stripped.lower() in _NO_VALUES
        or _PLACEHOLDER.match(stripped) is not None
        or _is_label(stripped[:400])
    )


def _is_label(text: str) -> bool:
    """Return whether a text is of a form: `Password is required`."""
    is_sentence = len(text.split(maxsplit=1)) > 1
    return is_sentence and all(each.search(text) for each in (_SAYS_HOW, _SAYS_OF_WHAT))


def is_next_word(text: str) -> bool:
    """Return whether a word without quotes continues a sentence, or is a word of code."""
    return text.lower() in _WORDS or stands_for_no_value(text)


def is_number(text: str) -> bool:
    """Return whether a text is written as a number."""
    return _NUMBER.match(text) is not None


def is_position(name: str) -> bool:
    """Return whether a name is a position in a list or in a vocabulary: `page_token`."""
    return re.search(_OTHER_TOKENS, name) is not None


def looks_like_key(text: str) -> bool:
    """Return whether a text has something as long and mixed as keys are."""
    return _KEY_LIKE.search(text) is not None


def looks_random(text: str) -> bool:
    """Return whether a text is one word without meaning, as machines make them.

    Paths, addresses, UUIDs and words between hyphens do not count.
    """
    word = text.strip()
    if not LEAST_RANDOM_CHARS <= len(word) <= LONGEST_RANDOM or _RANDOM.match(word) is None:
        return False
    if _UUID.match(word) or _PATH.match(word) or _REFERENCE.match(word):
        return False
    return any(len(_CHANGES.findall(part)) >= LEAST_CHANGES for part in _PARTS.findall(word))


def is_mixed(text: str) -> bool:
    """Return whether a word of a sentence is likely a secret: letters and digits, no version."""
    word = text.strip().rstrip(".!?")
    has_both = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return has_both and _VERSION.match(word) is None


def is_login(text: str) -> bool:
    """Return whether a text is a user and a password in base64, as in `config.json` of Docker."""
    word = text.strip()
    if _BASE64.match(word) is None:
        return False
    try:
        user, colon, password = b64decode(word + "=" * (-len(word) % 4)).decode().partition(":")
    except ValueError:
        return False
    return bool(colon and password) and user.isprintable() and password.isprintable()


_SHAPED: Final = {
    NameKind.KEY: looks_random,
    NameKind.LOGIN: lambda text: is_login(text) or looks_random(text),
    NameKind.CARD: _is_card,
    NameKind.COOKIE: _is_cookie,
    NameKind.WEAK: lambda text: looks_like_key(text[:LONGEST_KEY_START]),
    NameKind.HEADER: _is_authorization,
}
"""Checks that make a text a secret if its name alone does not."""
