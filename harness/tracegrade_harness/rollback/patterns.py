"""Matches the patterns of a runbook to the objects that they name.

A pattern that stands for nothing that was there before names what is left and fits. One that does
could mean anything, and names only what it says plainly: the object that it is the name of, and
objects of one collection: rows of one table, keys that begin alike, items of one collection of a
document, items of one storage or cookies of one place of a browser.
"""

import re
from collections.abc import Callable, Collection
from typing import Final

from tracegrade_harness.parts.globs import matcher
from tracegrade_harness.parts.names import name_text
from tracegrade_harness.parts.registry import part_kinds

_WILD: Final = re.compile(r"[*?]")

_SAME_ROW: Final = re.compile(r"(/row:[0-9a-f]{32})/\d+$")
"""The end of the name of a row that is equal to another one of its table, and has no key."""


def named_by(pattern: str, before: Collection[str], left: Collection[str]) -> list[str]:
    """Return the objects that a pattern names, of those that are left, in their order.

    Args:
        pattern: A glob over names of objects.
        before: All objects that were there before the run.
        left: What the run left.
    """
    stands_for = pattern_matcher(pattern)
    found = list(filter(stands_for, left))
    plain = [name for name in found if _is_plain(pattern, name)]
    return plain if len(plain) < len(found) and any(map(stands_for, before)) else found


def pattern_matcher(pattern: str) -> Callable[[str], bool]:
    """Return what says whether a pattern stands for an object; of equal rows it does for all."""
    matches = matcher(pattern)

    def stands_for(name: str) -> bool:
        return matches(name) or bool(
            _SAME_ROW.search(name) and matches(_SAME_ROW.sub(r"\1", name))
        )

    return stands_for


def _is_plain(pattern: str, name: str) -> bool:
    """Return whether a pattern that stands for an object says plainly that it does."""
    written = name_text(pattern)
    if written in (name, name.removesuffix("/")):
        return True
    begin = _WILD.split(written, maxsplit=1)[0]
    return name.startswith(begin) and _is_of_one_collection(begin)


def _is_of_one_collection(begin: str) -> bool:
    """Return whether all objects whose names begin so are of one collection of a part."""
    kind = part_kinds().get(begin.partition(":")[0])
    if kind is None or kind.collection is None:
        return False
    return re.fullmatch(f"{kind.name}:[^/]+/{kind.collection}.*", begin, re.DOTALL) is not None
