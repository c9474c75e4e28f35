"""Canonical JSON: one text for all texts with the same arguments.

Equality of arguments is typed and recursive: `1 == 1.0`, `true != 1`. The order of keys is free,
and `null` is a value (docs/metrics.md, section 0.5). In canonical form, equal values are identical
texts, so that SQL can group and join by them. Integers stay exact at any size; other numbers are
doubles, as most JSON readers take them. Texts that are nested too deeply are not read
(`nesting.py`).

Many calls have few distinct texts, so the caller passes each distinct text once
(`canonical_texts`). DuckDB's own Python functions would need numpy for the same work.
"""

import json
import math
import re
from decimal import Decimal
from typing import TypeAlias

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_queries.build.nesting import is_too_deep
from tracegrade_queries.graph import Run, relation

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | _Huge | None"

# The beginning of a JSON number: after a character that precedes values. Most digits are in
# strings.
_NUMBER = r"[:,\[]\s*-?"
# orjson reads integers beyond 64 bits as doubles, so texts that may hold one take the exact path.
_MAY_HOLD_BIG_INTEGER = re.compile(_NUMBER + r"\d{17}")
_MAY_HOLD_FRACTION = re.compile(_NUMBER + r"\d+[.eE]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NOTHING = re.compile(r'\s*(null|""|\[\s*\])?\s*')
# ArithmeticError: an exponent that not even Decimal holds.
_UNREADABLE = (TypeError, ValueError, ArithmeticError)


class _Huge(str):
    """An integer, or a number beyond the range of doubles, as normalized text."""

    __slots__ = ()


def canonical_json(text: str | None) -> str | None:
    """Return the canonical form of a JSON text; None for None and for invalid JSON.

    Keys are sorted by code point, numbers without a fraction are written as integers (`1.0` as
    `1`, `-0.0` as `0`), and blanks are removed. If an object has equal keys, the last one counts.
    """
    if text is None or is_too_deep(text):
        return None
    try:
        among_values = "[" + text
        if _MAY_HOLD_BIG_INTEGER.search(among_values):
            return _write(_read_exactly(text))
        value = orjson.loads(text)
        if _MAY_HOLD_FRACTION.search(among_values):
            value = _without_fractions(value)
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except _UNREADABLE:
        return _canonical_slowly(text)


def canonical_arguments(text: str | None) -> str | None:
    """Return the canonical form of a call's arguments: nothing, or null, is an empty object.

    None for None and for invalid JSON.
    """
    if text is not None and _NOTHING.fullmatch(text):
        return "{}"
    return canonical_json(text)


def canonical_texts(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the canonical form of each text of arguments, in order; NULL where it has none."""
    return pa.array(map(canonical_arguments, texts.to_pylist()), pa.string())


def _canonical_slowly(text: str) -> str | None:
    """Return the canonical form of what orjson cannot hold: lone surrogates, huge numbers."""
    try:
        return _write(_read_exactly(text))
    except _UNREADABLE:
        return None


def _read_exactly(text: str) -> Json:
    value: Json = json.loads(text, parse_float=_float, parse_int=_integer, parse_constant=_refuse)
    return value


def _integer(text: str) -> _Huge:
    """Return an integer as written; Python limits the number of digits that `int` reads."""
    return _Huge("0" if text == "-0" else text)


def _float(text: str) -> float | int | _Huge:
    number = float(text)
    if math.isinf(number):
        return _Huge(f"{Decimal(text).normalize():e}")
    return int(number) if number.is_integer() else number


def _refuse(constant: str) -> Json:
    msg = f"{constant} is not JSON"
    raise ValueError(msg)


def _without_fractions(value: Json) -> Json:
    """Return the value with every double that has no fraction as an integer."""
    if isinstance(value, dict):
        return {key: _without_fractions(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_fractions(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _write(value: Json) -> str:
    """Return compact JSON with sorted keys; the same text that orjson writes where it can."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_write(key)}:{_write(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    if isinstance(value, _Huge) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    if isinstance(value, str) and _LONE_SURROGATE.search(value):
        return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", _write_parts(value))
    return orjson.dumps(value).decode()


def _write_parts(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@relation("canonical", "deep_texts", reads=("argument_texts",))
def _canonical(run: Run) -> dict[str, pa.Table]:
    """Return the form of each text of arguments that is JSON (text, canonical), and other texts.

    Texts that are nested too deeply to be read (text).
    """
    texts = run.table("argument_texts")
    made = texts.append_column("canonical", canonical_texts(texts["text"]))
    is_read = pc.field("canonical").is_valid()
    unread = made.filter(~is_read).drop_columns(["canonical"])
    deep = pa.array(map(is_too_deep, unread["text"].to_pylist()), pa.bool_())
    return {"canonical": made.filter(is_read), "deep_texts": unread.filter(deep)}
