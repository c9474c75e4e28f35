"""Reads every text that a client wrote in a raw table, and puts changed texts back.

Each column is read as flat arrays: all values of its maps in sequence, with their keys, at any
depth. The buffers are the table's own; they are copied only for a change. Ids, hashes, types and
`oversize` (numbers and ids of zeros) are not read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake.columns import TEXT, list_of
from tracegrade_lake.schema import REDACTION

Positions = npt.NDArray[np.int64]
NOWHERE: Final[Positions] = np.array([], np.int64)
Rebuild = Callable[[pa.Table, pa.Array | None, pa.Array, Positions], pa.Table]

TEXT_LETTER: Final = "s"
_SHORT_TEXTS: Final = (
    *("trace_state", "name", "scope_name", "scope_version", "resource_schema_url"),
    *("scope_schema_url", "service_name", "severity_text", "event_name", "resource_entity_refs"),
)
_LONG_TEXTS: Final = ("status_message", "body")
_LETTERS_OF: Final = {"body": "body_type"}
_MAPS: Final = ("attributes", "resource_attributes", "scope_attributes")
_SHARED: Final = ("resource_attributes", "scope_attributes")
_LETTERS_OF_MAP: Final = {
    "attributes": "attribute_types",
    "resource_attributes": "resource_attribute_types",
    "scope_attributes": "scope_attribute_types",
}


@dataclass(frozen=True)
class Leaf:
    """All texts of one place, flat."""

    values: pa.Array
    keys: Any
    """Keys, as many as values; None if the texts have no key of the client's."""

    letters: Callable[[], Positions]
    """The letter of each value's type, as a number; none where there are no keys."""

    lots: Positions
    """Where the values of one map begin, and the end; empty where there are no maps."""

    is_shared: bool
    """Many rows have equal texts here."""

    owners: Callable[[Positions], Positions]
    """The row of each position."""

    paths: Callable[[Positions, Any], pa.Array]
    """The path of each position in its row, with these keys."""

    rebuild: Rebuild
    """The table with other keys and values; a value at a changed position is now a string."""


@dataclass
class RedactionMarks:
    """Changes per row, for the column `redacted`."""

    row_count: int
    _rows: list[Positions] = field(default_factory=list)
    _paths: list[pa.Array] = field(default_factory=list)
    _rules: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self._rows)

    def add(self, rows: Positions, paths: pa.Array, rule: str) -> None:
        """Note that a rule changed something at these paths."""
        self._rows.append(rows)
        self._paths.append(paths)
        self._rules.append(rule)

    def add_new(self, rows: Positions, paths: pa.Array, rule: str) -> None:
        """Note that of a rule, but where it is noted already."""
        known = {
            pair
            for own, at, of in zip(self._rows, self._paths, self._rules, strict=True)
            if of == rule
            for pair in zip(own.tolist(), at.to_pylist(), strict=True)
        }
        places = zip(rows.tolist(), paths.to_pylist(), strict=True)
        new = np.array([pair not in known for pair in places], bool)
        if new.any():
            self.add(rows[new], paths.filter(pa.array(new)), rule)

    def rows(self) -> Positions:
        """Return which rows changed, rising."""
        return np.unique(np.concatenate(self._rows))

    def column(self) -> pa.ListArray:
        """Return the column: NULL for a row in which nothing changed."""
        rows = np.concatenate(self._rows)
        order = np.argsort(rows, kind="stable")
        counts = np.bincount(rows, minlength=self.row_count)
        named = [
            pa.repeat(rule, len(own)) for rule, own in zip(self._rules, self._rows, strict=True)
        ]
        structs = pa.StructArray.from_arrays(
            [pa.concat_arrays(self._paths), pa.concat_arrays(named)], fields=list(REDACTION)
        ).take(pa.array(order))
        offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
        return pa.ListArray.from_arrays(
            offsets, structs, type=list_of(REDACTION), mask=pa.array(counts == 0)
        )


def readers(schema: pa.Schema) -> Iterator[Callable[[pa.Table], Leaf]]:
    """Yield a reader for each place of a raw table.

    Readers, not leaves: what one leaf changed is there when the next one of a column is read.
    """
    names = set(schema.names)
    for column in (*_SHORT_TEXTS, *_LONG_TEXTS):
        if column in names:
            yield partial(_text, column=column)
    for column in _MAPS:
        yield partial(_map, column=column)
    yield _duplicates
    if "events" in names:
        yield partial(_list_text, column="events", name="name")
        yield partial(_list_map, column="events")
        yield partial(_list_text, column="links", name="trace_state")
        yield partial(_list_map, column="links")


def distinct_lots(leaf: Leaf) -> Leaf:
    """Return keys and values with one of each set of equal maps; only for inspection."""
    edges = leaf.lots
    codes = [code for texts in (leaf.keys, leaf.values) for code in _list_codes(texts, edges)]
    _, firsts = np.unique(np.stack(codes), axis=1, return_index=True)
    ranges = [np.arange(edges[at], edges[at + 1]) for at in firsts]
    positions = pa.array(np.concatenate([np.array([], np.int64), *ranges]))
    return replace(
        leaf,
        keys=leaf.keys.take(positions),
        values=leaf.values.take(positions),
        letters=lambda: leaf.letters()[positions.to_numpy()],
    )


def _list_codes(texts: pa.Array, edges: Positions) -> Iterator[Positions]:
    """Yield codes that are equal for equal maps: of all characters, and of the lengths."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32, len(texts) + 1)
    for ends, content in (
        (offsets[edges], texts.buffers()[2]),
        (4 * edges.astype(np.int32), pa.py_buffer(np.diff(offsets))),
    ):
        buffers = [None, pa.py_buffer(ends), content]
        lots = pa.Array.from_buffers(pa.binary(), len(edges) - 1, buffers)
        yield lots.dictionary_encode().indices.to_numpy()


def _text(rows: pa.Table, column: str) -> Leaf:
    def rebuild(
        into: pa.Table, _: pa.Array | None, values: pa.Array, touched: Positions
    ) -> pa.Table:
        letters = _LETTERS_OF.get(column)
        if letters:
            into = set_column(into, letters, _put_text_letter(_array(into, letters), touched))
        return set_column(into, column, values)

    return Leaf(
        values=_array(rows, column),
        keys=None,
        letters=lambda: NOWHERE,
        lots=NOWHERE,
        is_shared=column not in _LONG_TEXTS,
        owners=lambda positions: positions,
        paths=lambda positions, _: pa.repeat(column, len(positions)),
        rebuild=rebuild,
    )


def _map(rows: pa.Table, column: str) -> Leaf:
    maps, letters = _array(rows, column), _LETTERS_OF_MAP[column]
    offsets = _offsets(maps)

    def rebuild(
        into: pa.Table, keys: pa.Array | None, values: pa.Array, touched: Positions
    ) -> pa.Table:
        types = _with_text_letters(_array(into, letters), offsets, touched)
        return set_column(
            set_column(into, column, _with_entries(maps, keys, values)), letters, types
        )

    return Leaf(
        values=_flat(maps.items),
        keys=_flat(maps.keys),
        letters=lambda: _letters(_array(rows, letters)),
        lots=offsets,
        is_shared=column in _SHARED,
        owners=lambda positions: _owners(offsets, positions),
        paths=lambda positions, keys: _joined(f"{column}.", keys.take(pa.array(positions))),
        rebuild=rebuild,
    )


def _duplicates(rows: pa.Table) -> Leaf:
    column = "duplicate_attributes"
    lists = _array(rows, column)
    offsets, structs = _offsets(lists), lists.values

    def rebuild(
        into: pa.Table, keys: pa.Array | None, values: pa.Array, touched: Positions
    ) -> pa.Table:
        types = _put_text_letter(_flat(structs.field("type")), touched)
        changed = _with_fields(structs, {"key": keys, "value": values, "type": types})
        return set_column(into, column, _with_child(lists, changed))

    def paths(positions: Positions, keys: Any) -> pa.Array:
        chosen = pa.array(positions)
        places = pc.binary_join_element_wise("duplicate_attributes.", structs.field("place"), "")
        return pc.binary_join_element_wise(places.take(chosen), keys.take(chosen), ".")

    return Leaf(
        values=_flat(structs.field("value")),
        keys=_flat(structs.field("key")),
        letters=lambda: _letters(_flat(structs.field("type"))),
        lots=NOWHERE,
        is_shared=False,
        owners=lambda positions: _owners(offsets, positions),
        paths=paths,
        rebuild=rebuild,
    )


def _list_text(rows: pa.Table, column: str, name: str) -> Leaf:
    lists = _array(rows, column)
    offsets, structs = _offsets(lists), lists.values

    def rebuild(into: pa.Table, _: pa.Array | None, values: pa.Array, __: Positions) -> pa.Table:
        return set_column(into, column, _with_child(lists, _with_fields(structs, {name: values})))

    return Leaf(
        values=_flat(structs.field(name)),
        keys=None,
        letters=lambda: NOWHERE,
        lots=NOWHERE,
        is_shared=True,
        owners=lambda positions: _owners(offsets, positions),
        paths=lambda positions, _: _joined(_places(column, offsets, positions), f".{name}"),
        rebuild=rebuild,
    )


def _list_map(rows: pa.Table, column: str) -> Leaf:
    lists = _array(rows, column)
    offsets, structs = _offsets(lists), lists.values
    maps, letters = _flat(structs.field("attributes")), _flat(structs.field("attribute_types"))
    inner = _offsets(maps)

    def rebuild(
        into: pa.Table, keys: pa.Array | None, values: pa.Array, touched: Positions
    ) -> pa.Table:
        changed = {
            "attributes": _with_entries(maps, keys, values),
            "attribute_types": _with_text_letters(letters, inner, touched),
        }
        return set_column(into, column, _with_child(lists, _with_fields(structs, changed)))

    def paths(positions: Positions, keys: Any) -> pa.Array:
        places = _joined(_places(column, offsets, _owners(inner, positions)), ".attributes.")
        return _joined(places, keys.take(pa.array(positions)))

    return Leaf(
        values=_flat(maps.items),
        keys=_flat(maps.keys),
        letters=lambda: _letters(letters),
        lots=inner,
        is_shared=False,
        owners=lambda positions: _owners(offsets, _owners(inner, positions)),
        paths=paths,
        rebuild=rebuild,
    )


def set_column(rows: pa.Table, column: str, array: pa.Array) -> pa.Table:
    """Return the table with another content of a column."""
    index = rows.schema.get_field_index(column)
    return rows.set_column(index, rows.schema.field(index), array)


def _letters(texts: pa.Array) -> Positions:
    """Return all letters of texts as one sequence."""
    ends = texts.offset + len(texts)
    offsets = np.frombuffer(texts.buffers()[1], np.int32, ends + 1)[texts.offset :]
    content = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
    return content[offsets[0] : offsets[-1]].astype(np.int64)


def _array(rows: pa.Table, column: str) -> pa.Array:
    chunks = rows[column]
    return _flat(chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks())


def _flat(array: pa.Array) -> pa.Array:
    """Return the array without an offset, all of its children used; mostly it is so already."""
    is_whole = not array.offset
    if pa.types.is_nested(array.type) and not pa.types.is_struct(array.type) and len(array):
        offsets = _offsets(array) if is_whole else None
        is_whole = offsets is not None and not offsets[0] and offsets[-1] == len(array.values)
    return array if is_whole else pa.concat_arrays([array, array.slice(0, 0)])


def _offsets(lists: pa.Array) -> Positions:
    return lists.offsets.to_numpy().astype(np.int64) if len(lists) else np.zeros(1, np.int64)


def _owners(offsets: Positions, positions: Positions) -> Positions:
    return np.searchsorted(offsets, positions, side="right") - 1


def _places(column: str, offsets: Positions, elements: Positions) -> pa.Array:
    """Return `events[0]` and the like for elements of lists."""
    index = elements - offsets[_owners(offsets, elements)]
    return _joined(_joined(f"{column}[", pa.array(index).cast(TEXT)), "]")


def _joined(first: Any, second: Any) -> pa.Array:
    return pc.binary_join_element_wise(first, second, "")


def _with_entries(maps: pa.MapArray, keys: pa.Array | None, values: pa.Array) -> pa.MapArray:
    entry = pa.StructArray.from_arrays(
        [keys, values], fields=[maps.type.key_field, maps.type.item_field]
    )
    return _with_child(maps, entry)


def _with_child(lists: pa.Array, child: pa.Array) -> pa.Array:
    return pa.Array.from_buffers(
        lists.type, len(lists), lists.buffers()[:2], children=[child], null_count=lists.null_count
    )


def _with_fields(structs: pa.StructArray, changed: dict[str, pa.Array | None]) -> pa.StructArray:
    fields = list(structs.type)
    arrays = [changed.get(each.name, structs.field(each.name)) for each in fields]
    return pa.StructArray.from_arrays(arrays, fields=fields)


def _with_text_letters(letters: pa.Array, offsets: Positions, touched: Positions) -> pa.Array:
    """Return the letters of maps' values, `s` at the touched ones.

    Raises:
        ValueError: There is not one letter for each value.
    """
    if not np.array_equal(
        offsets, np.frombuffer(letters.buffers()[1], np.int32, len(letters) + 1)
    ):
        msg = "attributes and their types differ in number"
        raise ValueError(msg)
    content = np.frombuffer(letters.buffers()[2] or b"", np.uint8).copy()
    content[touched] = ord(TEXT_LETTER)
    buffers = [*letters.buffers()[:2], pa.py_buffer(content)]
    return pa.Array.from_buffers(letters.type, len(letters), buffers)


def _put_text_letter(letters: pa.Array, touched: Positions) -> pa.Array:
    mask = np.zeros(len(letters), bool)
    mask[touched] = True
    return pc.if_else(pa.array(mask), TEXT_LETTER, letters)
