"""What is not written, and what is written instead."""

import re
from typing import Final

RULES: Final = {
    "told": (
        r"\b(?:is|are|was|were|be|been|being) told\b|\btold (?:apart|beside|of|by|in|as|to)\b",
        "say who reports, receives or distinguishes what",
    ),
    "heard": (r"\b(?:heard|spoken|unasked|untold)\b", "name what was received or sent"),
    "is no": (
        r"(?<!there )(?<!There )\b(?:is|are|was|were) no "
        r"(?!longer\b|more\b|matter\b|one\b|doubt\b)[a-z]",
        "write `is not a`",
    ),
    "of which": (
        r"\b(?:of|from|by|beside|under|behind) which\b|\bthat which\b|\b(?:of|to|by|for) whom\b",
        "begin a new sentence, and name the thing",
    ),
    "what-clause": (
        r"\A(?:What|Which|How|Where|Who|Whom|Whose|When)\b(?![^.]*\?)",
        "begin with a noun or a verb",
    ),
    "of-opener": (r"(?:\A|(?<=[.!?] ))Of (?!course)[a-z]", "begin with the subject"),
    "nobody": (
        r"(?i)\b(?:nobody|somebody|whoever|whatever|whichever|whomever)\b",
        "name who or what it is",
    ),
    "beside": (r"\bbeside\b", "write `next to` or `in addition to`"),
    "is to": (
        r"\b(?:is|are|was|were) to (?:be )?(?!blame\b)[a-z]+\b",
        "write `must`, `will` or the purpose",
    ),
    "stands in": (
        r"\b(?:stands?|stood) (?:in|at|under|between|for|there|behind|before|after|above|below"
        r"|where|as|on|by|alone|beside)\b",
        "write `is in`, `means` or `represents`",
    ),
    "go on": (r"\b(?:go|goes|gone|going|went) on\b(?! to\b)", "write `continue`"),
    "at hand": (
        r"\b(?:at hand|likewise|in (?:its|their) place"
        r"|as (?:it is|they are)\b(?=[.,;:)]| and| in))",
        "write `available`, `also`, `instead` or `unchanged`",
    ),
    "nor": (r", nor\b|\. Nor\b", "write `and not`, or two sentences"),
    "ours": (r"\b(?:ours|theirs)\b", "name the thing"),
    "comes to": (
        r"\b(?:c(?:o|a)me|comes|coming) (?:of|to)\b|\b(?:became|become|becomes) of\b",
        "name the result",
    ),
    "says of": (
        r"\b(?:say|says|said|saying) (?:of|nothing|so)\b|\b(?:tell|tells|telling) (?:of|on)\b"
        r"|\b(?:know|knows|known) (?:of|no|nothing)\b",
        "say what is reported or unknown",
    ),
    "anew": (
        r"\b(?:meanwhile|anew|moreover|thereof|therein|whence|hence)\b",
        "write `again`, `also` or nothing",
    ),
    "such-opener": (
        r"(?:\A|(?<=[.!?] ))(?:Those|Such|None|So|All|Both|Nothing) "
        r"(?:of|that|which|is|are|does|do|else)\b",
        "repeat the noun",
    ),
}
"""By name: a pattern of what is not written, and what is written instead."""

PATTERNS: Final = {rule: re.compile(pattern) for rule, (pattern, _) in RULES.items()}
IN_TESTS: Final = frozenset({"told", "heard", "is no", "of which", "nobody"})
"""The rules that tests and the demo are held to as well."""
