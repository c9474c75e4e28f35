"""Attributes of many items at once: keys, texts and letters as Arrow arrays.

It does for all entries at once what `attributes.py` does for each. Only rare cases are still
handled one at a time: nested values, bytes, and the later entries of equal keys.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList

from tracegrade_collector.rows.anyvalue import EMPTY, NO_VALUE, TypedText, double_text, value_text
from tracegrade_collector.rows.attributes import Duplicate
from tracegrade_collector.rows.wire import NonCanonicalBytes, owned
from tracegrade_lake.columns import MAP, TEXT

LETTER: Final = pa.uint8()
"""A letter as its byte, so that the letters of an item's entries form a text."""


_UNSET: Final = pa.array([ord(EMPTY[0]), ord(NO_VALUE)], LETTER)


class TypedTexts(NamedTuple):
    """Many values as text, with their letters."""

    texts: pa.StringArray
    letters: pa.UInt8Array


class EntryColumns(NamedTuple):
    """The attributes of many items."""

    attributes: pa.MapArray
    types: pa.StringArray
    duplicates: dict[int, list[Duplicate]]
    """The later entries of equal keys, by item; only of items that have some."""


def entry_columns(lists: pa.ListArray, name_of: Callable[[int], str]) -> EntryColumns:
    """Return the columns of items given as their lists of OTLP entries.

    Args:
        lists: One list of `KeyValue` per item; none is NULL.
        name_of: Names an item in `Duplicate`.

    Raises:
        NonCanonicalBytes: A value is set twice.
    """
    entries, offsets = lists.values, lists.offsets
    keys, values = entries.field("key"), typed_texts(entries.field("value"))
    repeated = _repeated(keys, lists)
    if repeated is None:
        return _columns(offsets, keys, values, {})
    first = pc.invert(repeated)
    duplicates = _duplicates(lists, keys, values, repeated, name_of)
    texts = TypedTexts(values.texts.filter(first), values.letters.filter(first))
    return _columns(_offsets_of(first, offsets), keys.filter(first), texts, duplicates)


def typed_texts(values: pa.StructArray) -> TypedTexts:
    """Return the texts and letters of `AnyValue`s; NULL has the letter of no value.

    Raises:
        NonCanonicalBytes: A value is set twice.
    """
    strings = values.field("string_value")
    texts = [strings]
    empty = pc.if_else(values.is_valid(), _letter(EMPTY[0]), _letter(NO_VALUE))
    letters = pc.if_else(strings.is_valid(), _letter("s"), empty)
    members = len(strings) - strings.null_count
    for name, write in _WRITERS.items():
        member = values.field(name)
        if member.null_count == len(member):
            continue
        members += len(member) - member.null_count
        mask, found = member.is_valid(), write(member.drop_null())
        texts.append(pc.replace_with_mask(pa.nulls(len(member), TEXT), mask, found.texts))
        letters = pc.replace_with_mask(letters, mask, found.letters)
    unset = pc.sum(pc.is_in(letters, value_set=_UNSET)).as_py() or 0
    if members + unset != len(values):
        raise NonCanonicalBytes
    return TypedTexts(pc.coalesce(*texts) if len(texts) > 1 else owned(strings), letters)


def _columns(
    offsets: pa.Int32Array,
    keys: pa.StringArray,
    values: TypedTexts,
    duplicates: dict[int, list[Duplicate]],
) -> EntryColumns:
    letters = values.letters.buffers()[1]
    offsets = owned(offsets)
    types = pa.StringArray.from_buffers(len(offsets) - 1, offsets.buffers()[1], letters)
    maps = pa.MapArray.from_arrays(offsets, owned(keys), values.texts)
    return EntryColumns(maps.cast(MAP), types, duplicates)


def _repeated(keys: pa.StringArray, lists: pa.ListArray) -> pa.BooleanArray | None:
    """Return for each entry whether its key occurs earlier in its list; None if none does."""
    codes = keys.dictionary_encode().indices
    if not any(map(_has_repeat, _key_lists(codes, lists.offsets))):
        return None
    position = pa.arange(0, len(keys))
    places = pa.table({"owner": pc.list_parent_indices(lists), "key": codes, "at": position})
    firsts = places.group_by(["owner", "key"]).aggregate([("at", "min")])["at_min"]
    return pc.invert(pc.is_in(position, value_set=firsts))


def _key_lists(codes: pa.Int32Array, offsets: pa.Int32Array) -> list[bytes]:
    """Return each different list of keys once, as its codes; spans of one kind share one."""
    bounds = pc.multiply(offsets, pa.scalar(codes.type.byte_width, pa.int32()))
    as_bytes = pa.BinaryArray.from_buffers(
        pa.binary(), len(offsets) - 1, [None, bounds.buffers()[1], codes.buffers()[1]]
    )
    return list(as_bytes.unique().to_pylist())


def _has_repeat(codes: bytes) -> bool:
    each = memoryview(codes).cast("i")
    return len(set(each)) < len(each)


def _duplicates(
    lists: pa.ListArray,
    keys: pa.StringArray,
    values: TypedTexts,
    repeated: pa.BooleanArray,
    name_of: Callable[[int], str],
) -> dict[int, list[Duplicate]]:
    owners = pc.list_parent_indices(lists).filter(repeated)
    positions = pc.subtract(
        pc.indices_nonzero(repeated).cast(pa.int64()), lists.offsets.take(owners)
    )
    rows = zip(
        owners.to_pylist(),
        positions.to_pylist(),
        keys.filter(repeated).to_pylist(),
        values.letters.filter(repeated).to_pylist(),
        values.texts.filter(repeated).to_pylist(),
        strict=True,
    )
    found: dict[int, list[Duplicate]] = {}
    for owner, position, key, letter, text in rows:
        duplicate = Duplicate(name_of(owner), position, key, chr(letter), text)
        found.setdefault(owner, []).append(duplicate)
    return found


def _offsets_of(remaining: pa.BooleanArray, offsets: pa.Int32Array) -> pa.Int32Array:
    """Return where the lists begin once only these entries are kept."""
    before = pa.concat_arrays([pa.array([0]), pc.cumulative_sum(remaining.cast(pa.int64()))])
    return before.take(offsets).cast(pa.int32())


def _letter(letter: str) -> pa.UInt8Scalar:
    return pa.scalar(ord(letter), LETTER)


def _of_one_type(letter: str, texts: pa.StringArray) -> TypedTexts:
    return TypedTexts(texts, pa.repeat(_letter(letter), len(texts)))


def _double_texts(doubles: pa.DoubleArray) -> TypedTexts:
    """Each bit pattern is written once; equal numbers can be two, as 0.0 and -0.0."""
    codes = doubles.view(pa.int64()).dictionary_encode()
    written = [double_text(each) for each in codes.dictionary.view(pa.float64()).to_pylist()]
    return _of_one_type("d", pa.array(written, TEXT).take(codes.indices))


def _by_one(values: Iterable[AnyValue]) -> TypedTexts:
    found: Sequence[TypedText] = [value_text(value) for value in values]
    return TypedTexts(
        pa.array([text for _, text in found], TEXT),
        pa.array([ord(letter) for letter, _ in found], LETTER),
    )


def _bytes_texts(values: pa.BinaryArray) -> TypedTexts:
    return _by_one(AnyValue(bytes_value=each) for each in values.to_pylist())


def _array_texts(values: pa.StructArray) -> TypedTexts:
    return _by_one(
        AnyValue(array_value=ArrayValue(values=map(AnyValue.FromString, items)))
        for items in values.field("values").to_pylist()
    )


def _kvlist_texts(values: pa.StructArray) -> TypedTexts:
    return _by_one(
        AnyValue(kvlist_value=KeyValueList(values=map(KeyValue.FromString, items)))
        for items in values.field("values").to_pylist()
    )


_WRITERS: Final[dict[str, Callable[[pa.Array], TypedTexts]]] = {
    "bool_value": lambda values: _of_one_type("b", values.cast(TEXT)),
    "int_value": lambda values: _of_one_type("i", values.cast(TEXT)),
    "double_value": _double_texts,
    "bytes_value": _bytes_texts,
    "array_value": _array_texts,
    "kvlist_value": _kvlist_texts,
}
