"""Finds differences between live and recorded answers, and ignores what varies by itself.

    divergences([recorded], [live, live again])

Differences between two live answers to the same call show what varies by itself.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["schema", "value", "gone"]
JsonPath = tuple[str | int, ...]
"""Keys and positions in lists, from the root."""


class _Absent:
    """A marker for a value that does not exist."""


ABSENT: Final = _Absent()


class ServiceAnswer(NamedTuple):
    """A service's answer to one call."""

    failed: bool
    outcome: str
    """Class of the answer: `HTTP 404`, `result`."""
    content: Any
    """JSON if it is valid, else a text."""


class Divergence(NamedTuple):
    """A difference between the live and the recorded answer."""

    kind: Kind
    """`schema`: a key or type that was added, removed or changed, or another class of answer.
    `value`: the same shape with another value. `gone`: recorded without an error, now an error."""
    path: JsonPath
    recorded: Any
    """`ABSENT` for a key that was added."""
    live: Any
    """`ABSENT` for a key that was removed."""


def divergences(
    recorded: Sequence[ServiceAnswer], live: Sequence[ServiceAnswer]
) -> list[Divergence]:
    """Return how the first live answer differs from the first recorded one.

    Args:
        recorded: The answers to equal calls on the tape, at least one.
        live: The answers to the same call now, at least one.

    Returns:
        The differences, without paths at or below which the live answers differ from each other,
            or the recorded ones do.
    """
    if any(_other_class(*pair) for each in (recorded, live) for pair in pairwise(each)):
        return []
    then, now = recorded[0], live[0]
    if _other_class(then, now):
        kind: Kind = "gone" if now.failed and not then.failed else "schema"
        return [Divergence(kind, (), _content(then), _content(now))]
    found = differences(then.content, now.content)
    volatile = {
        each.path
        for answers in (recorded, live)
        for one, other in pairwise(answers)
        for each in differences(one.content, other.content)
    }
    return [each for each in found if not _is_under(each.path, volatile)]


def differences(recorded: Any, live: Any) -> Iterator[Divergence]:
    """Yield each place in which two JSON values differ, the outermost only, in order of keys.

    Lists of different lengths are one `value`. Their common items are compared for shape alone,
    since an item that is inserted in front moves all others.
    """
    left: list[tuple[JsonPath, Any, Any, bool]] = [((), recorded, live, False)]
    while left:  # no recursion: answers may be nested as deeply as JSON is read
        path, then, now, shape_alone = left.pop()
        if type_of(then) != type_of(now):
            yield Divergence("schema", path, then, now)
        elif isinstance(then, dict):
            keys = sorted({*then, *now}, reverse=True)
            pairs = ((key, then.get(key, ABSENT), now.get(key, ABSENT)) for key in keys)
            left += [((*path, key), one, other, shape_alone) for key, one, other in pairs]
        elif isinstance(then, list):
            moved = len(then) != len(now)
            if moved and not shape_alone:
                yield Divergence("value", path, then, now)
            both = [*enumerate(zip(then, now, strict=False))]
            left += [((*path, i), *pair, shape_alone or moved) for i, pair in reversed(both)]
        elif then != now and not shape_alone:
            yield Divergence("value", path, then, now)


def type_of(value: Any) -> str:
    """Return the JSON type of a value; `nothing` for no value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    names: dict[type, str] = {dict: "object", list: "array", str: "string", type(None): "null"}
    return names.get(type(value), "nothing")


def _other_class(one: ServiceAnswer, other: ServiceAnswer) -> bool:
    return (one.failed, one.outcome) != (other.failed, other.outcome)


def _content(answer: ServiceAnswer) -> Any:
    return {answer.outcome: answer.content}


def _is_under(path: JsonPath, volatile: set[JsonPath]) -> bool:
    return any(path[:length] in volatile for length in range(len(path) + 1))
