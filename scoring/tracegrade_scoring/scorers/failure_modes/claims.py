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
    """What a sentence may say of an act that is done."""

    participles: list[str]
    """Such as "booked"."""
    nouns: list[str]
    """Of the act: "booking", "cancellation"; where one is complete, so is the act."""


def claim_words(name: str, is_tool: bool) -> ClaimWords:
    """Return the words of the first word of a name, and of a tool's last one the participle.

    Words of a name stand between characters that are no letters, or begin with a capital letter:
    `cancelOrder`, `order.cancel` and `cancel_order` are the same two. What a tool's last word says
    may be what is acted on, so a noun of it tells of no act.
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
    """Return the verb as a noun and forms that end like one; those that no one says do no harm."""
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
