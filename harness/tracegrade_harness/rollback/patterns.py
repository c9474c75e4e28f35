"""Matches the patterns of a runbook to the objects that they name.

A pattern that matches no object from before the run names all leftovers that it matches. A pattern
that matches an earlier object could mean anything. It names only an object with exactly that name,
or objects of one collection: rows of one table, keys with a common prefix, items of one collection
of a document, items of one storage, or cookies of one origin.
"""

import re
from collections.abc import Callable, Collection
from typing import Final

from tracegrade_harness.parts.globs import matcher
from tracegrade_harness.parts.names import name_text
from tracegrade_harness.parts.registry import part_kinds

_WILD: Final = re.compile(r"[*?]")

_SAME_ROW: Final = re.compile(r"(/row:[0-9a-f]{32})/\d+$")
"""The end of the name of a row without a key that equals another row of its table."""


def named_by(pattern: str, before: Collection[str], left: Collection[str]) -> list[str]:
    """Return the leftovers that a pattern names, in their order.

    Args:
        pattern: A glob over names of objects.
        before: All objects from before the run.
        left: The leftovers of the run.
    """
    stands_for = pattern_matcher(pattern)
    found = list(filter(stands_for, left))
    plain = [name for name in found if _is_plain(pattern, name)]
    return plain if len(plain) < len(found) and any(map(stands_for, before)) else found


def pattern_matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that tells whether a pattern matches an object, or one of equal rows."""
    matches = matcher(pattern)

    def stands_for(name: str) -> bool:
        return matches(name) or bool(
            _SAME_ROW.search(name) and matches(_SAME_ROW.sub(r"\1", name))
        )

    return stands_for


def _is_plain(pattern: str, name: str) -> bool:
    """Return whether a pattern that matches an object names it, or its collection, plainly."""
    written = name_text(pattern)
    if written in (name, name.removesuffix("/")):
        return True
    begin = _WILD.split(written, maxsplit=1)[0]
    return name.startswith(begin) and _is_of_one_collection(begin)


def _is_of_one_collection(begin: str) -> bool:
    """Return whether all objects with this prefix belong to one collection of a part."""
    kind = part_kinds().get(begin.partition(":")[0])
    if kind is None or kind.collection is None:
        return False
    return re.fullmatch(f"{kind.name}:[^/]+/{kind.collection}.*", begin, re.DOTALL) is not None
