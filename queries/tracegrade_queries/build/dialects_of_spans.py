"""Runs all dialects over the spans of a bucket, and collects their operations and messages.

Each reads only its own spans, under the name `bucket_spans`; a dialect without spans here is left
out. A dialect without marks reads the spans that the others left.
"""

from collections.abc import Iterator
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_lake import Table
from tracegrade_queries.build.dialect_header import MESSAGES, OPERATIONS, Dialect, dialects
from tracegrade_queries.build.dialect_marks import marked_names
from tracegrade_queries.engine.relations import has_rows, make_table, make_view
from tracegrade_queries.engine.statements import found
from tracegrade_queries.engine.statements import run as run_statements
from tracegrade_queries.engine.table_views import duckdb_type
from tracegrade_queries.graph import Run, relation

_READ: Final = ("all_spans", "bucket_events", "names_sent", "shapes")
"""Relations that dialects read in addition to `bucket_spans`."""

_GIVEN: Final = frozenset({*_READ, "bucket_spans", "dialect_operations"})


@relation("marked_names", reads=("names_sent",))
def _marked_names(run: Run) -> pa.Table:
    """Return the names of the bucket that match a mark of a dialect: dialect, name."""
    return marked_names(run.table("names_sent")["name"], dialects())


@relation(
    "dialect_operations",
    "dialect_messages",
    reads=(*_READ, "dialect_events", "dialect_candidates"),
)
def _read_dialects(run: Run) -> None:
    """Make the rows of all dialects, with `dialect` and its `precedence`; messages are a view."""
    make_table(run.con, "dialect_operations", _no_rows(OPERATIONS))
    messages, sources = [_no_rows(MESSAGES)], set[str]()
    for dialect in _dialects_with_spans(run.con):
        operations, own_messages = (
            f"{dialect.name}_{each.name}" for each in (OPERATIONS, MESSAGES)
        )
        left = run.make((operations, own_messages), _GIVEN)
        rows = _dialect_query(dialect, OPERATIONS)
        run_statements(run.con, f"INSERT INTO dialect_operations BY NAME {rows}")
        read_later = run.plan.order((own_messages,), _GIVEN).remaining
        run.drop(left - read_later)
        messages.append(_dialect_query(dialect, MESSAGES))
        sources |= read_later
    run_statements(run.con, "DROP VIEW IF EXISTS temp.bucket_spans")
    run.show("dialect_messages", " UNION ALL BY NAME ".join(messages), sources)


def _dialects_with_spans(con: duckdb.DuckDBPyConnection) -> Iterator[Dialect]:
    """Yield each dialect that has spans here, while `bucket_spans` is these."""
    by_event = _dialects_in(con, "dialect_events")
    marked = by_event | _dialects_in(con, "dialect_candidates")
    for dialect in dialects():
        if dialect.marks and dialect.name not in marked:
            continue
        own = _own_spans(dialect, by_event=dialect.name in by_event)
        make_view(con, "bucket_spans", f"SELECT * FROM all_spans WHERE {own}")
        if dialect.marks or has_rows(con, "bucket_spans"):
            yield dialect


def _dialects_in(con: duckdb.DuckDBPyConnection, rows: str) -> set[str]:
    return {name for (name,) in found(con, f"SELECT DISTINCT dialect FROM {rows}")}


def _own_spans(dialect: Dialect, *, by_event: bool) -> str:
    """Return the condition for the spans that a dialect is shown."""
    if not dialect.marks:
        return "key NOT IN (SELECT key FROM dialect_operations WHERE operation IS NOT NULL)"
    shapes = f"shape IN (SELECT shape FROM dialect_candidates WHERE dialect = '{dialect.name}')"
    keys = f"key IN (SELECT key FROM dialect_events WHERE dialect = '{dialect.name}')"
    return f"{shapes} OR {keys}" if by_event else shapes


def _dialect_query(dialect: Dialect, table: Table) -> str:
    """Return the query for the rows of one dialect, with `dialect` and its `precedence`."""
    return (
        f"SELECT *, {dialect.rank} AS precedence, '{dialect.name}' AS dialect "
        f"FROM {dialect.name}_{table.name}"
    )


def _no_rows(table: Table) -> str:
    columns = ", ".join(f"NULL::{duckdb_type(c.type)} AS {c.name}" for c in table.columns)
    return f"SELECT {columns}, 0 AS precedence, '' AS dialect WHERE false"
