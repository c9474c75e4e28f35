"""Compares an object or a list that was sent with the expected one, value by value.

Makes:
    differing_values (from wrong_values): the values in two objects or lists that differ
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_queries.build.nesting import is_too_deep
from tracegrade_scoring.relations import materialise, put, table

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


def compare_values(con: duckdb.DuckDBPyConnection) -> None:
    """Create `differing_values`, one row for each row of `wrong_values`.

    Args:
        con: Holds `decision_points` and `fitting_pairs`.
    """
    materialise(con, "wrong_values")
    pairs = con.table("wrong_values").fetchall()
    rows = (
        (sent, expected, [leaf._asdict() for leaf in differing_values(sent, expected)])
        for sent, expected in pairs
    )
    put(con, "differing_values", table(_SCHEMA, rows))


def differing_values(sent: str, expected: str) -> list[DifferingValue]:
    """Return the first `MOST` values that differ, in the order of their paths.

    Lists are compared place by place. Where one side has an object or a list and the other does
    not, each value in it differs. Values that are nested too deeply are compared as one.

    Args:
        sent: Canonical JSON.
        expected: Canonical JSON.
    """
    if is_too_deep(sent) or is_too_deep(expected):
        return [DifferingValue("", sent, expected)]
    made, wanted = _leaves(sent), _leaves(expected)
    paths = sorted(made.keys() | wanted.keys())
    found = (DifferingValue(path, made.get(path), wanted.get(path)) for path in paths)
    return [each for each in found if each.sent != each.expected][:MOST]


def _leaves(text: str) -> dict[str, str]:
    return dict(_walk(json.loads(text, parse_float=_Number, parse_int=_Number), ""))


def _walk(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and JSON of each value inside that has none inside itself."""
    if isinstance(value, dict) and value:
        for name, part in value.items():
            key = name if _NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)
            yield from _walk(part, f"{path}.{key}")
    elif isinstance(value, list) and value:
        for place, part in enumerate(value):
            yield from _walk(part, f"{path}[{place}]")
    elif isinstance(value, _Number):
        yield path, str(value)
    else:
        yield path, json.dumps(value, ensure_ascii=False)
