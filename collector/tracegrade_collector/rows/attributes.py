"""Attributes as columns: one map per row, its letters, and the later entries of equal keys."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import pyarrow as pa
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from tracegrade_collector.rows.anyvalue import entry_text
from tracegrade_lake.columns import MAP, TEXT, list_of


class Duplicate(NamedTuple):
    """An entry whose key occurs earlier in the same list."""

    place: str
    position: int
    """Its index in the list as sent."""

    key: str
    type: str
    value: str | None


class AttributeColumns(NamedTuple):
    """The attributes of many items."""

    attributes: pa.MapArray
    types: pa.Array
    duplicates: list[list[Duplicate]]
    """One list per item; empty where no key is repeated."""


def attribute_columns(
    items: Iterable[tuple[str, Iterable[KeyValue]] | None],
) -> AttributeColumns:
    """Return the columns of items given as (place, attributes); None becomes NULL."""
    keys: list[str] = []
    values: list[str | None] = []
    offsets = [0]
    letters: list[str | None] = []
    duplicates: list[list[Duplicate]] = []
    for item in items:
        first, repeated = _first_and_repeated(*item) if item else ({}, [])
        keys.extend(first)
        values.extend(text for _, text in first.values())
        letters.append("".join(letter for letter, _ in first.values()) if item else None)
        duplicates.append(repeated)
        offsets.append(len(keys))
    return AttributeColumns(
        _maps(offsets, keys, values, letters), pa.array(letters, TEXT), duplicates
    )


def list_column(counts: Iterable[int], columns: dict[str, Any], item: pa.DataType) -> pa.ListArray:
    """Return lists of structs from the struct's columns, with so many structs per list."""
    offsets = pa.array([0, *accumulate(counts)], pa.int32())
    arrays = [_as_array(columns[field.name], field.type) for field in item]
    structs = pa.StructArray.from_arrays(arrays, fields=list(item))
    return pa.ListArray.from_arrays(offsets, structs, type=list_of(item))


def _first_and_repeated(
    location: str, entries: Iterable[KeyValue]
) -> tuple[dict[str, tuple[str, str | None]], list[Duplicate]]:
    first: dict[str, tuple[str, str | None]] = {}
    repeated = []
    for position, entry in enumerate(entries):
        key = entry.key
        if key in first:
            repeated.append(Duplicate(location, position, key, *entry_text(entry)))
        else:
            first[key] = entry_text(entry)
    return first, repeated


def _maps(
    offsets: list[int], keys: list[str], values: list[str | None], letters: Sequence[str | None]
) -> pa.MapArray:
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()),
        pa.array(keys, TEXT),
        pa.array(values, TEXT),
        mask=pa.array([text is None for text in letters], pa.bool_()),
    ).cast(MAP)


def _as_array(values: Any, type_: pa.DataType) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, type_)
