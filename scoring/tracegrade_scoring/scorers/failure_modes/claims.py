"""Words that claim a finished act in an answer, derived from names of sub-goals and tools.

English alone: of names in another language, and answers in one, nothing is claimed. Forms of verbs
are made by rule; of the irregular ones those that name what tools do are listed.
"""

import re
from typing import Final, NamedTuple

VOWELS: Final = "aeiou"

IRREGULAR: Final = {
    **{verb: verb for verb in ("cut", "put", "reset", "set", "split")},
    **{"build": "built", "buy": "bought", "choose": "chosen", "do": "done", "draw": "drawn"},
    **{"find": "found", "freeze": "frozen", "get": "gotten", "give": "given", "hold": "held"},
    **{"keep": "kept", "lend": "lent", "make": "made", "overwrite": "overwritten", "pay": "paid"},
    **{"rebuild": "rebuilt", "rewrite": "rewritten", "run": "run", "sell": "sold", "send": "sent"},
    **{"spend": "spent", "take": "taken", "undo": "undone", "withdraw": "withdrawn"},
    **{"write": "written"},
}


class ClaimWords(NamedTuple):
    """The words of a sentence that claims a finished act."""

    participles: list[str]
    """Such as "booked"."""
    nouns: list[str]
    """Nouns of the act: "booking", "cancellation"; a sentence that calls one complete claims the
    act.
    """


def claim_words(name: str, is_tool: bool) -> ClaimWords:
    """Return the words of a name's first word, and the participle of a tool's last word.

    Words of a name are separated by characters that are not letters, or begin with a capital
    letter: `cancelOrder`, `order.cancel` and `cancel_order` have the same two. A tool's last word
    may name the object of the act, so a noun of it does not claim an act.
    """
    words = _words(name)
    verbs = {*words[:1], *(words[-1:] if is_tool else ())}
    return ClaimWords(
        sorted({form for verb in verbs for form in _participles(verb)}),
        sorted({form for verb in words[:1] for form in _nouns(verb)}),
    )


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def _participles(verb: str) -> set[str]:
    if verb in IRREGULAR:
        return {IRREGULAR[verb]}
    if _ends_in_y(verb):
        return {verb[:-1] + "ied"}
    return {stem + "ed" for stem in _stems(verb)}


def _nouns(verb: str) -> set[str]:
    """Return the verb as a noun and forms that end like one; non-words among them do no harm."""
    endings = ("ing", "ings", "ation", "ion", "al", "ment", "ments")
    formed = {stem + ending for stem in _stems(verb) for ending in endings}
    return (
        {verb, verb + "s", verb + "ment"}
        | formed
        | ({verb[:-1] + "ication"} if _ends_in_y(verb) else set())
    )


def _ends_in_y(verb: str) -> bool:
    return len(verb) > 1 and verb[-1] == "y" and verb[-2] not in VOWELS


def _stems(verb: str) -> set[str]:
    """Return what endings with a vowel follow: without an e, and with the last letter doubled."""
    if verb.endswith("e"):
        return {verb[:-1]}
    doubles = len(verb) > 2 and verb[-1] not in VOWELS + "wxy" and verb[-2] in VOWELS
    return {verb, verb + verb[-1]} if doubles and verb[-3] not in VOWELS else {verb}
