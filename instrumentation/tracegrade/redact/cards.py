"""Payment card numbers in a text: by issuer, length, check digit, and grouping or context.

Ids, times and counters are digits, too: of random numbers of sixteen digits, one in fifty has an
issuer and a right check digit. So digits that are grouped as on a card count as a number. Digits
without groups count only if a word next to them mentions cards.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tracegrade.redact.marks import marker
from tracegrade.redact.patterns import ESCAPE

MARK: Final = marker("card")
# Groups of digits. Possessive, so that each digit is examined once; no letter next to a group
# except of an escape, and no decimal point before the first.
_GROUP: Final = r"[0-9]++(?![A-Za-z])"
_GROUPS: Final = re.compile(
    rf"(?:({ESCAPE})|(?<![0-9A-Za-z])(?<![0-9]\.))({_GROUP}(?:[ -]{_GROUP})*+)"
)
LEAST_CARD_DIGITS: Final = 13
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
_GROUPINGS: Final = frozenset(
    {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 5), (6, 13)}
)
_FOURS: Final = 4
"""Groups of as many digits in the usual way to write a card's number."""

_CONTEXT: Final = re.compile(
    rf"(?i)(?:^|{ESCAPE}|[^a-z])(?:(?:credit|debit|payment|bank|gift)?[ _-]?cards?|ccn?|pan"
    r"|cc[ _-]?(?:num|number|no)|visa|master[ ]?card|amex|american express|diners|discover|jcb"
    r"|maestro|cvv|cvc|karten?|kreditkarte|tarjeta|carte)(?:[^a-z]|\Z|n(?:umber|o|um))"
)
CONTEXT_CHARS: Final = 48
"""So far before and after a number a word is its context."""


def passes_luhn(digits: str) -> bool:
    """Return whether the last digit is Luhn's check digit of the others (ISO/IEC 7812-1)."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(int(digit) for digit in digits[-1::-2]) + sum(doubled)) % 10 == 0


def replace_cards(text: str) -> str:
    """Return the text with a mark for each card number in it."""
    return _GROUPS.sub(_marked, text)


def _marked(match: re.Match[str]) -> str:
    """Return groups of digits with a mark for those neighbors that are a card's number."""
    if len(match[2]) < LEAST_CARD_DIGITS:
        return match[0]
    parts = re.split("([ -])", match[2])
    groups = parts[::2]
    sizes = [len(group) for group in groups]
    found = list(_cards_in(groups, sizes))
    if not found or not (_stand_alone(found, sizes) or _speaks_of_cards(match)):
        return match[0]
    mark = _mark_in(match)
    for at, end in found:
        if end > at + 1 or _speaks_of_cards(match):
            parts[2 * at : 2 * end - 1] = [mark, *[""] * (2 * (end - at) - 2)]
    return (match[1] or "") + "".join(parts)


def _cards_in(groups: Sequence[str], sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last group of each card number."""
    at = 0
    while at < len(groups):
        ends = range(at + 1, min(at + _MOST_GROUPS, len(groups)) + 1)
        end = next((end for end in ends if _are_card(groups[at:end], sizes[at:end])), 0)
        if end:
            yield at, end
        at = end or at + 1


def _stand_alone(found: Sequence[tuple[int, int]], sizes: Sequence[int]) -> bool:
    """Return whether cards are not a part of a table, which has many groups of four digits.

    One in ten rows of four numbers that begin like a card has Luhn's digit. A date may follow a
    card.
    """
    return sizes.count(_FOURS) <= _FOURS + 1 or sum(e - a for a, e in found) == len(sizes)


def _speaks_of_cards(match: re.Match[str]) -> bool:
    """Return whether a word before or after all groups mentions cards."""
    start, end = match.span(2)
    before = match.string[max(0, start - CONTEXT_CHARS) : start + 1]
    after = match.string[end - 1 : end + CONTEXT_CHARS]
    return any(_CONTEXT.search(each) is not None for each in (before, after))


def _mark_in(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start(2) - 200) : match.start(2)].rstrip()
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
    return _are_card(groups, [len(group) for group in groups])


def _are_card(groups: Sequence[str], sizes: Sequence[int]) -> bool:
    if len(sizes) > 1 and tuple(sizes) not in _GROUPINGS:
        return False
    digits = "".join(groups)
    return (
        len(digits) >= LEAST_CARD_DIGITS
        and len(digits) in _LENGTHS.get(digits[0], (16, 17, 18, 19))
        and _ISSUERS.fullmatch(digits) is not None
        and passes_luhn(digits)
    )
