"""Payment card numbers in a text: by issuer, length, grouping and check digit.

Four conditions, because ids and times are digits too: of random numbers of sixteen digits one in
fifty meets them, of times none does (they start with 1).
"""

import re
from typing import Final

from tracegrade.secret_patterns import passes_luhn

MARK: Final = "[redacted:card]"
# Groups of digits. Possessive, so that each digit is looked at once; no letter beside a group, and
# no decimal point before the first.
_GROUP: Final = r"[0-9]++(?![A-Za-z])"
_GROUPS: Final = re.compile(rf"(?<![0-9A-Za-z])(?<![0-9]\.){_GROUP}(?:[ -]{_GROUP})*+")
_LEAST_DIGITS: Final = 13
_MOST_GROUPS: Final = 5
_ISSUERS: Final = re.compile(
    r"""
    4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})                                        # Visa
    | (?:5[1-5]|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]+   # Mastercard
    | 3[47][0-9]{13}                                                           # American Express
    | (?:6011|64[4-9]|65|62)[0-9]+                                             # Discover, UnionPay
    | 3(?:0[0-5]|[689])[0-9]+                                                  # Diners
    | 35(?:2[89]|[3-8][0-9])[0-9]{12,15}                                       # JCB
    """,
    re.VERBOSE,
)
_LENGTHS: Final = {"2": (16,), "3": (14, 15, 16, 17, 18, 19), "4": (13, 16, 19), "5": (16,)}
_GROUPINGS: Final = frozenset({"", "4-4-4-4", "4-6-5", "4-6-4", "4-4-4-4-3", "4-4-5", "6-13"})


def replace_cards(text: str) -> str:
    """Return the text with a mark for each card number in it."""
    return _GROUPS.sub(_marked, text)


def _marked(match: re.Match[str]) -> str:
    """Return groups of digits with a mark for those neighbours that are a card's number."""
    parts = re.split("([ -])", match[0]) if len(match[0]) >= _LEAST_DIGITS else [match[0]]
    for at in range(0, len(parts), 2):
        for end in range(at + 1, min(at + 2 * _MOST_GROUPS, len(parts) + 1), 2):
            if is_card("".join(parts[at:end])):
                parts[at:end] = [_mark_in(match), *[""] * (end - at - 1)]
                break
    return "".join(parts)


def _mark_in(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 200) : match.start()].rstrip()
    if before[-1:] not in {":", ",", "["}:
        return MARK
    quote = _last_quote(before)  # a number in JSON: a bare word would break the JSON around it
    return f"{quote}{MARK}{quote}"


def _last_quote(text: str) -> str:
    """Return the last double quote of a text with the backslashes before it."""
    found = re.search(r'\\*+"(?=[^"]*\Z)', text)
    return found[0] if found else ""


def is_card(text: str) -> bool:
    """Return whether digits, grouped or not, are a card's number."""
    groups = re.split("[ -]", text)
    digits = "".join(groups)
    if len(digits) < _LEAST_DIGITS:
        return False
    grouping = "-".join(str(len(group)) for group in groups) if len(groups) > 1 else ""
    return (
        grouping in _GROUPINGS
        and len(digits) in _LENGTHS.get(digits[0], (16, 17, 18, 19))
        and _ISSUERS.fullmatch(digits) is not None
        and passes_luhn(digits)
    )
