"""A text without secrets, before it leaves the agent's process; the rest of it is unchanged.

`patterns.py` describes secrets; `init(redact=...)` takes further rules. Cheap checks spare most
texts the patterns. Texts are cut afterwards, because half of a long secret is not recognized.
"""

import re
from functools import cache, partial, reduce
from typing import Final

from tracegrade.redact.marks import MARK_START, marker
from tracegrade.redact.names import is_secret, kind_of
from tracegrade.redact.patterns import NAME_WORDS
from tracegrade.redact.places import FORM_WORDS
from tracegrade.redact.secret_rules import Rule, decoded, rules

PLACEHOLDER: Final = f"{MARK_START}]"
"""Replacement of a text for which the user's own rule failed."""

# A secret known by its shape has 13 such characters in a row. Possessive: each is examined once.
_LONG_WORD = re.compile(r"(?:[A-Za-z0-9_-]{0,12}+[^A-Za-z0-9_-]++)*+[A-Za-z0-9_-]{13}")
_SPACED_CARD = re.compile(r" [0-9]{4,6} ")
_WORDS = (
    *(word for word in NAME_WORDS if word.isascii()),
    *FORM_WORDS,
)
_OTHER_WORDS = tuple(word for word in NAME_WORDS if not word.isascii())
_NEED_A_NAME = frozenset({"named", "cookie"})


def redact(text: str) -> str:
    """Return `text` without known secrets; the same object if it has none."""
    clean = _without_secrets(text)
    plain = decoded(clean)
    cleaner = plain if plain == clean else _without_secrets(plain)
    if cleaner != plain:
        return cleaner
    return text if clean == text else clean  # a rule that looked closer may leave an equal copy


def _without_secrets(text: str) -> str:
    lowered = text.lower()
    is_named = any(map(lowered.__contains__, _WORDS))
    if not (is_named or text.isascii()):
        is_named = any(map(lowered.__contains__, _OTHER_WORDS))
    is_shaped = _LONG_WORD.match(text) is not None or _SPACED_CARD.search(text) is not None
    is_shaped = is_shaped or "-----begin" in lowered
    if not (is_named or is_shaped):
        return text
    wanted = (
        rule for rule in _rules() if _may_apply(rule, is_named=is_named, is_shaped=is_shaped)
    )
    return reduce(_applied, wanted, text)


def _may_apply(rule: Rule, *, is_named: bool, is_shaped: bool) -> bool:
    return rule.name == "url" or (is_named if rule.name in _NEED_A_NAME else is_shaped)


def _applied(text: str, rule: Rule) -> str:
    if rule.replace is not None:
        return rule.replace(text)
    for pattern, instead in rule.rewrites:
        text = _compiled(pattern).sub(instead, text)
    return text


def redact_value(name: str, text: str) -> str:
    """Return the text of a name without the known secrets."""
    return marker("named") if is_secret(kind_of(name), name, text) else redact(text)


# Compiled at first use, which no import should take the time for.
_rules = cache(partial(rules, cache(re.compile), kind_of))
_compiled = cache(re.compile)
