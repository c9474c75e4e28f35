"""Writes rows and values as JSON of a line for each column, so that people can compare them.

It is JSON with all names above a value, because redaction finds secrets by their names.
"""

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any


def row_text(columns: Iterable[tuple[str, object]]) -> bytes:
    """Return the names and values of columns as a JSON object, numbers with all their digits."""
    lines = (f"  {_quoted(name)}: {_literal(value)}" for name, value in columns)
    return text_bytes("{\n" + ",\n".join(lines) + "\n}")


def value_text(names: Iterable[str], value: Any) -> bytes:
    """Return a JSON value under the names above it, the outermost first."""
    for name in reversed([*names]):
        value = {name: value}
    return text_bytes(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False))


def text_bytes(text: str) -> bytes:
    """Return a text of a database, which may hold bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace")


def _literal(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return _quoted(f"X'{value.hex()}'")
    if isinstance(value, int | float) or (isinstance(value, Decimal) and value.is_finite()):
        return str(value)
    return _quoted(str(value))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
