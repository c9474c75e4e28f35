"""The columns in which a metric of a user's own answers: one row for each attempt."""

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from tracegrade_lake.columns import DOUBLE, TEXT, list_of
from tracegrade_queries.engine.connection import duckdb_type
from tracegrade_scoring.metric_definition import METRIC_EVIDENCE

MOST_EVIDENCE: Final = 20
"""Steps that are kept as evidence of one score."""

COLUMNS: Final = (
    pa.field("attempt_id", TEXT),
    pa.field("numerator", DOUBLE),
    pa.field("denominator", DOUBLE),
    pa.field("nothing", TEXT),
    pa.field("fault", TEXT),
    pa.field("label", TEXT),
    pa.field("evidence", list_of(METRIC_EVIDENCE.type)),
)
"""What an answer has, in order."""

NEEDED: Final = ("attempt_id", "numerator")
"""Columns that each answer has. Without a denominator that is 1; others may be left out."""


def columns_fault(found: Sequence[str]) -> str | None:
    """Return what is wrong with the names of an answer's columns; None if nothing is."""
    known = [field.name for field in COLUMNS]
    if missing := [name for name in NEEDED if name not in found]:
        return f"it returns no column {', '.join(missing)}; it may return {', '.join(known)}"
    if others := [name for name in found if name not in known]:
        return f"it returns {', '.join(others)}; it may return {', '.join(known)} and no other"
    return None


def as_columns(found: Sequence[str]) -> str:
    """Return the columns of an answer for SELECT, from those that a query returns."""
    return ", ".join(f"{_filled(field, found)} AS {field.name}" for field in COLUMNS)


def _filled(field: pa.Field, found: Sequence[str]) -> str:
    name, kind = field.name, duckdb_type(field.type)
    if name not in found:
        return "1::DOUBLE" if name == "denominator" else f"NULL::{kind}"
    cast = f"{name}::{kind}"
    return f"({cast})[:{MOST_EVIDENCE}]" if name == "evidence" else cast
