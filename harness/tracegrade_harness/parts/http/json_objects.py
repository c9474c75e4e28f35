"""A JSON document as objects: `http:bank/$.credits`, `http:bank/$.holds.h1`.

A document has single values and collections. Each item of a collection is one object, at any
depth; the collection itself is an object that records only its kind.
"""

import copy
import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from xxhash import xxh3_128_hexdigest

from tracegrade_harness.parts.http.json_paths import JsonPath, matches, parsed, text_of
from tracegrade_harness.parts.names import path_text
from tracegrade_harness.parts.row_text import value_text
from tracegrade_harness.parts.state_reading import StateReading

ITEM_DEPTH: Final = 2
"""Names in the path of an item of a collection, which is one object with all below it."""


def read_document(document: Any, part: str, ignore: Sequence[str]) -> StateReading:
    """Return the objects of a document.

    Args:
        document: Plain values, as JSON has them.
        part: Prefix of the names of objects, such as `http:bank`.
        ignore: JSON paths of hidden values.
    """
    reading = StateReading()
    shown = copy.deepcopy(document)
    for path, value, rule in _removed(shown, ignore):
        reading.add(object_name(part, path), digest(value), rule)
    for path, value in _objects(shown):
        reading.add(object_name(part, path), _kind_above(path, value) or digest(value))
    return reading


def read_values(
    document: Any, part: str, names: Collection[str], ignore: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the values of objects; collections have none of their own."""
    shown = copy.deepcopy(document)
    _removed(shown, ignore)
    for path, value in _objects(shown):
        name = object_name(part, path)
        if name in names and _kind_above(path, value) is None:
            yield name, value_text((key for key in path if isinstance(key, str)), value)


def _removed(document: Any, ignore: Sequence[str]) -> list[tuple[JsonPath, Any, str]]:
    """Remove what rules hide; return the path, value and rule of each."""
    removed: list[tuple[JsonPath, Any, str]] = []
    for rule in ignore:
        # From the last item of a list on, so that a removal moves no other item.
        for path, value in reversed(list(matches(document, parsed(rule, wildcards=True)))):
            remove(document, path)
            removed.append((path, value, rule))
    return removed


def object_name(part: str, path: JsonPath) -> str:
    """Return the name of the object at a path."""
    return f"{part}/{path_text(text_of(path))}"


def digest(value: Any) -> str:
    """Return a digest of a value, which does not depend on the order of keys."""
    return xxh3_128_hexdigest(json.dumps(value, sort_keys=True).encode())


def remove(document: Any, path: JsonPath) -> None:
    """Remove the value at a path, if there is one; the whole document cannot be removed."""
    if not path:
        return
    for _, holder in matches(document, path[:-1]):
        if any(matches(holder, path[-1:])):
            del holder[path[-1]]


def _objects(document: Any) -> Iterator[tuple[JsonPath, Any]]:
    """Yield the objects of a document, each with its value."""
    yield (), document
    for at, value in matches(document, (None,)):
        yield at, value
        for below, item in matches(value, (None,)):
            yield (*at, *below), item


def _kind_above(path: JsonPath, value: Any) -> str | None:
    """Return the kind of a collection whose items are objects of their own; None of others."""
    return _kind(value) if len(path) < ITEM_DEPTH else None


def _kind(value: Any) -> str | None:
    """Return the kind of a collection; None if the value is a single one."""
    if isinstance(value, dict):
        return "mapping"
    return "list" if isinstance(value, list) else None
