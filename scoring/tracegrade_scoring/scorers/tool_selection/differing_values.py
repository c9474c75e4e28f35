"""Compares an object or a list that was sent with the expected one, value by value."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa

from tracegrade_queries.build.nesting import is_too_deep
from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation

MOST: Final = 50
"""Differing values of one pair that are listed: a list of a million numbers has as many."""

_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)

_SCHEMA: Final = pa.schema(
    [
        ("sent", pa.string()),
        ("expected", pa.string()),
        (
            "leaves",
            pa.list_(
                pa.struct(
                    [("path", pa.string()), ("sent", pa.string()), ("expected", pa.string())]
                )
            ),
        ),
    ]
)


class DifferingValue(NamedTuple):
    """One value that differs, by where it stands."""

    path: str
    """What follows the JSON path of the whole: `.city`, `[0]`, `."a b"`; '' of the whole."""
    sent: str | None
    """Its JSON; None where nothing was sent."""
    expected: str | None
    """Its JSON; None where nothing is expected."""


class _Number(str):
    """A number as it is written, so that none is changed by reading it."""


_ABSENT: Final = object()
"""Stands where the other side has a value and this one has none."""


@relation("differing_values", reads=("wrong_values",))
def _differing_values(run: Run) -> pa.Table:
    """Return one row for each row of `wrong_values`: the values in both that differ."""
    pairs = run.con.table("wrong_values").fetchall()
    rows = (
        (sent, expected, [leaf._asdict() for leaf in differing_values(sent, expected)])
        for sent, expected in pairs
    )
    return table(_SCHEMA, rows)


def differing_values(sent: str, expected: str) -> list[DifferingValue]:
    """Return the first `MOST` values that differ, in the order of their paths.

    Lists are compared place by place. If only one side has an object or a list, or one of them is
    empty, they are compared as a whole. The same holds for values that are nested too deeply. If
    an object or a list has no counterpart at all, each value in it differs.

    Args:
        sent: Canonical JSON.
        expected: Canonical JSON.
    """
    if is_too_deep(sent) or is_too_deep(expected):
        return [DifferingValue("", sent, expected)]
    found = _differences(_read(sent), _read(expected), "")
    return sorted(found, key=lambda each: each.path)[:MOST]


def _read(text: str) -> Any:
    return json.loads(text, parse_float=_Number, parse_int=_Number)


def _differences(sent: Any, expected: Any, path: str) -> Iterator[DifferingValue]:
    """Yield the values inside two values that differ; `_ABSENT` is one that is not there."""
    made, expected_parts = _parts(sent), _parts(expected)
    if made and expected_parts and type(sent) is type(expected):
        for key in made.keys() | expected_parts.keys():
            yield from _differences(
                made.get(key, _ABSENT), expected_parts.get(key, _ABSENT), path + key
            )
    elif sent is _ABSENT and expected_parts:
        for key, part in expected_parts.items():
            yield from _differences(_ABSENT, part, path + key)
    elif expected is _ABSENT and made:
        for key, part in made.items():
            yield from _differences(part, _ABSENT, path + key)
    elif (found := DifferingValue(path, _json(sent), _json(expected))).sent != found.expected:
        yield found


def _parts(value: Any) -> dict[str, Any]:
    """Return the parts of an object or a list, by the end of their path; else nothing."""
    if isinstance(value, dict):
        return {f".{_key(name)}": part for name, part in value.items()}
    if isinstance(value, list):
        return {f"[{index}]": part for index, part in enumerate(value)}
    return {}


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _json(value: Any) -> str | None:
    """Return the canonical JSON of a value, in which numbers are as they were written."""
    if value is _ABSENT:
        return None
    if isinstance(value, dict):
        parts = (f"{json.dumps(k, ensure_ascii=False)}:{_json(v)}" for k, v in value.items())
        return f"{{{','.join(parts)}}}"
    if isinstance(value, list):
        return f"[{','.join(str(_json(part)) for part in value)}]"
    return str(value) if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)
