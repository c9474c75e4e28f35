"""Reads a manifest: an agent's JSON document that lists what it made.

The JSON path has the engine's syntax, as in task files: `$.files`, `$."two words".made`,
`$.steps[0].files`; no wildcards. In `object` and `undo`, `{name}` is replaced by the item's key
`name`. If an item is a text or a whole number, every placeholder is replaced by the item.
"""

import json
from functools import cache
from typing import Any, NamedTuple

import duckdb

from tracegrade.rollback.journal import MAX_OBJECT_CHARS
from tracegrade.rollback.undo import undo_fault
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.suite.records import Manifest
from tracegrade_harness.suite.templates import filled
from tracegrade_scoring.tasks.engine import closed_engine, json_path_fault


class Item(NamedTuple):
    """An item of a manifest."""

    name: str
    undo: dict[str, Any]


class Reader:
    """Reads a manifest as a suite declares it."""

    def __init__(self, declared: Manifest) -> None:
        fault = json_path_fault(declared.items)
        if fault:
            msg = f"'{declared.items}' is not a JSON path to one value: {fault}"
            raise SuiteUnusable(f"{msg}; write it like $.files")  # noqa: EM102 - has a name
        self._declared = declared

    def read(self, content: bytes) -> tuple[list[Item], list[tuple[int | None, str]]]:
        """Return the valid items, and why others are invalid (item from 1, fact)."""
        try:
            found = _at(content.decode(), self._declared.items)
        except (ValueError, RecursionError, duckdb.Error):
            return [], [(None, "not valid JSON in UTF-8")] if content.strip() else []
        if not isinstance(found, list):
            return [], [(None, f"there is no list at {self._declared.items}")]
        items: list[Item] = []
        faults: list[tuple[int | None, str]] = []
        for number, value in enumerate(found, 1):
            item = self._item(value)
            if isinstance(item, str):
                faults.append((number, item))
            else:
                items.append(item)
        return items, faults

    def _item(self, value: Any) -> Item | str:
        """Return the object and undo of an item, or why it has none."""

        def meaning(name: str) -> str:
            found = value[name] if isinstance(value, dict) else value
            if isinstance(found, bool) or not isinstance(found, (str, int)):
                raise TypeError
            return str(found)

        try:
            name = filled(self._declared.object, meaning)
            undo = filled(self._declared.undo, meaning)
            name.encode()
        except (KeyError, TypeError, ValueError):  # also: half a character, too many digits
            return "it has no text for what 'object' and 'undo' need"
        if len(name) > MAX_OBJECT_CHARS:
            return f"its object has more than {MAX_OBJECT_CHARS:,} characters"
        return undo_fault(undo) or Item(name, undo)


def _at(text: str, path: str) -> Any:
    """Return the value at a JSON path; None if there is none."""
    row = (
        _engine()
        .cursor()
        .execute("SELECT json_extract($text, $path)", {"text": text, "path": path})
        .fetchone()
    )
    return None if row is None or row[0] is None else json.loads(row[0])


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    return closed_engine()
