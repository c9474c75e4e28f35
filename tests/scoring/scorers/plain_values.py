"""What a value of a task file fits, as docs/metrics.md, section 0.5, defines it: by recursion."""

from collections.abc import Sequence
from typing import Any, Final

ABSENT: Final = object()
"""Found where there is no value."""


def equal(one: Any, other: Any) -> bool:
    """Return typed, recursive equality of parsed JSON."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return (type(one) in (int, float) and type(other) in (int, float) and one == other) or (
        type(one) is type(other) and bool(one == other)
    )


def fits(found: Any, wanted: Any, *, chosen: bool = True) -> bool:
    """Return whether what was found, or `ABSENT`, fits a value, `any_of`, `optional` or `exactly`.

    Args:
        found: A JSON value.
        wanted: What the task gives.
        chosen: It stands where `exactly` is a rule: not inside an object or list.
    """
    rule = next((key for key in ("any_of", "optional", "exactly") if _has(wanted, key)), None)
    if rule == "any_of":
        return any(fits(found, each) for each in wanted["any_of"])
    if rule == "optional":
        return found is ABSENT or fits(found, wanted["optional"])
    if rule == "exactly" and chosen:
        return found is not ABSENT and equal(found, wanted["exactly"])
    if isinstance(wanted, dict):
        return _entries_fit(found, wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and _items_fit(found, wanted)
    return found is not ABSENT and equal(found, wanted)


def _has(value: Any, key: str) -> bool:
    return isinstance(value, dict) and key in value


def _entries_fit(found: Any, wanted: dict[str, Any]) -> bool:
    return (
        isinstance(found, dict)
        and found.keys() <= wanted.keys()
        and all(fits(found.get(key, ABSENT), wanted[key], chosen=False) for key in wanted)
    )


def _items_fit(found: Sequence[Any], wanted: Sequence[Any]) -> bool:
    if not wanted:
        return not found
    with_first = bool(found) and fits(found[0], wanted[0], chosen=False)
    return (with_first and _items_fit(found[1:], wanted[1:])) or (
        fits(ABSENT, wanted[0], chosen=False) and _items_fit(found, wanted[1:])
    )
