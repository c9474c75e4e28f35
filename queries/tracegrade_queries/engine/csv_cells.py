"""Rows as cells of a CSV file: lists as JSON, and no text that a spreadsheet would compute.

Texts of traces are hostile input: `=HYPERLINK(...)` would be run by who opens the file.
"""

from decimal import Decimal
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
"""First characters that a spreadsheet takes for a formula, or skips before one."""

_WITHOUT_CELLS: Final = (
    pa.types.is_nested, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_interval,
    pa.types.is_duration,
)  # fmt: skip
"""Kinds of columns."""

_FORMULA: Final = r"\A[=+\-@\t\r]"


def flat(rows: pa.Table) -> pa.Table:
    """Return the rows with lists, structs, maps, bytes and intervals as texts of JSON.

    A CSV cell is a text, and Arrow writes none for these.
    """
    for index, field in enumerate(rows.schema):
        if any(is_kind(field.type) for is_kind in _WITHOUT_CELLS):
            values = rows.column(index).to_pylist(maps_as_pydicts="lossy")
            rows = rows.set_column(index, field.name, pa.array(map(_text_of, values), pa.string()))
    return rows


def guarded(rows: pa.Table) -> pa.Table:
    """Return the rows with an apostrophe before each text, and name, that would be a formula."""
    for index, field in enumerate(rows.schema):
        if _is_text(field.type):
            texts = rows.column(index).cast(pa.string())
            apart = pc.binary_join_element_wise("'", texts, "")
            found = pc.if_else(pc.match_substring_regex(texts, _FORMULA), apart, texts)
            rows = rows.set_column(index, field.name, found)
    return rows.rename_columns(
        [f"'{name}" if name.startswith(FORMULA_STARTS) else name for name in rows.column_names]
    )


def as_json(value: object) -> object:
    """Return a value as a type that JSON has; a sum of integers arrives as a decimal."""
    if isinstance(value, Decimal) and value == int(value) and abs(value) < 2**63:
        return int(value)
    return str(value)


def _is_text(kind: pa.DataType) -> bool:
    """Return whether values are texts, those of an ENUM and of JSON included."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _text_of(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value, default=as_json).decode()
