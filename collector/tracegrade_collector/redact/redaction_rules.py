"""The rules of `tracegrade.redact`, compiled with RE2 and applied to many texts at once.

RE2 takes linear time, so no text can stall them. `Prefilter` picks the few texts that any rule
could concern, without looking at them one by one.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import pyarrow as pa
import re2

from tracegrade.redact import names
from tracegrade.redact import secret_rules as catalog
from tracegrade.redact.names import NameKind
from tracegrade.redact.secret_rules import Rule

BLOB: Final = "blob"
MAX_MEMORY: Final = 64 << 20
"""Bytes for RE2's automaton; without room it gets slow, never wrong."""

_FOLDED_BY_RE_ALONE: Final = re.compile("[\u0130\u0131\ud800-\udfff]")
"""Two letters that are an `i` without regard to case; halves of pairs, which RE2 cannot read."""


@dataclass(frozen=True)
class ArrowRule:
    """One kind of secret, in arrays of texts."""

    rule: Rule
    replace: Callable[[pa.Array], pa.Array]
    """Texts → those texts without the secrets."""

    @property
    def name(self) -> str:
        """Return what marks and options call it."""
        return self.rule.name


def rules(off: Sequence[str], own_names: Sequence[str]) -> list[ArrowRule]:
    """Return the rules for secrets but those that are off; `own_names` name further secrets."""
    known = catalog.rules(_compiled, kind_of, [name_pattern(name) for name in own_names])
    return [ArrowRule(rule, _replacing(rule)) for rule in known if rule.name not in off]


def one_by_one(replace: Callable[[str], str]) -> Callable[[pa.Array], pa.Array]:
    """Return a function that applies a function of one text to an array of texts."""
    return lambda texts: pa.array([replace(text) for text in texts.to_pylist()], texts.type)


def name_pattern(name: str) -> str:
    """Return RE2 for a name, however its words are parted."""
    return r"[._ -]?".join(re.escape(word) for word in re.split(r"[._ -]+", name.lower()) if word)


def kind_of(name: str) -> NameKind:
    """Return what `names.kind_of` does, with one pass over the name for all kinds."""
    if _FOLDED_BY_RE_ALONE.search(name):
        return names.kind_of(name)
    found = _kinds().Match(name)
    return names.KINDS[min(found)][1] if found else NameKind.PLAIN


@cache
def _kinds() -> Any:
    options = re2.Options()
    options.max_mem = MAX_MEMORY
    kinds = re2.Set.SearchSet(options)
    for pattern, _ in names.KINDS:
        kinds.Add(pattern.replace(r"\Z", r"\z"))
    kinds.Compile()
    return kinds


@cache
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = MAX_MEMORY
    return re2.compile(pattern, options)


def _replacing(rule: Rule) -> Callable[[pa.Array], pa.Array]:
    if rule.replace is not None:
        return one_by_one(rule.replace)

    def replace(text: str) -> str:
        for pattern, instead in rule.rewrites:
            text = _compiled(pattern).sub(instead, text)
        return text

    return one_by_one(replace)
