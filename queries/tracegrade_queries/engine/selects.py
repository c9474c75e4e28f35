"""Decides which SQL of users may run: one SELECT that only reads, or EXPLAIN with one.

Every command, page and process that takes SQL from users calls this module. A connection may read
the files of the lake's tables, and the engine would then let it write them, too. So the engine's
own parse of a statement decides. Its type is not enough: to DuckDB 2.0 `WITH x AS (COPY … TO …)
SELECT 1` is a SELECT, as is one from a function that runs a text.
"""

import json
import re
from collections.abc import Collection, Iterator
from typing import Final

import duckdb

from tracegrade_queries.errors import QueryFailed

_READS: Final = frozenset({"CTE_NODE", "RECURSIVE_CTE_NODE", "SELECT_NODE", "SET_OPERATION_NODE"})
"""Kinds of queries, and of parts of them, that change nothing."""

_NODE: Final = re.compile(r'"type":"(\w+)_NODE"')
"""Such a kind in a parsed query, whose own quotes are escaped."""

_FUNCTION: Final = re.compile(r'"function_name":"([^"]*)"')

_OF_CATALOG: Final = ("duckdb_", "pragma_")
"""Prefixes of table functions that describe the engine."""

READING_FUNCTIONS: Final = frozenset(
    {
        "generate_series", "histogram", "histogram_values", "icu_calendar_names",
        "json_each", "json_tree", "pg_timezone_names", "query_table", "range", "repeat",
        "repeat_row", "summary", "unnest",
        # Functions that read files are allowed: the engine reads only those of the lake.
        "glob", "parquet_bloom_probe", "parquet_file_metadata", "parquet_full_metadata",
        "parquet_kv_metadata", "parquet_metadata", "parquet_page_index", "parquet_scan",
        "parquet_schema", "read_blob", "read_csv", "read_csv_auto", "read_json",
        "read_json_auto", "read_json_objects", "read_json_objects_auto", "read_ndjson",
        "read_ndjson_auto", "read_ndjson_objects", "read_parquet", "read_text", "sniff_csv",
    }
)  # fmt: skip
"""Table functions that are allowed. Others run an unchecked text, read memory at an address, or
change the engine.
"""

_GAP: Final = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
_OPTIONS: Final = r"\s*(?:ANALYZE|FORMAT\s+\w+)\s*(?:,\s*(?:ANALYZE|FORMAT\s+\w+)\s*)*"
_EXPLAIN: Final = re.compile(
    rf"{_GAP}EXPLAIN\b{_GAP}(?P<analyze>ANALYZE\b)?{_GAP}(?:\((?P<options>{_OPTIONS})\))?"
    r"(?P<query>.*)",
    re.IGNORECASE | re.DOTALL,
)


def only_reads(con: duckdb.DuckDBPyConnection, text: str) -> str:
    """Return the statement to run for a text of a user: one that changes nothing.

    Args:
        con: Any connection; it parses the text, and does not run it.
        text: One SELECT (also as WITH, FROM, VALUES, DESCRIBE, SHOW or SUMMARIZE), or EXPLAIN
            followed by one.

    Returns:
        The text; EXPLAIN is written again, around the checked SELECT.

    Raises:
        QueryFailed: It is another statement, or several, or none, or would change something.
        duckdb.Error: It cannot be parsed.
    """
    text = text.strip().removesuffix(";")
    kinds = [statement.type for statement in con.extract_statements(text)]
    if kinds == [duckdb.StatementType.EXPLAIN]:
        return _explained(con, text)
    if kinds != [duckdb.StatementType.SELECT]:
        found = ", ".join(kind.name for kind in kinds) or "nothing"
        msg = f"one SELECT or EXPLAIN is needed, got {found}"
        raise QueryFailed(msg)
    _check_parts(con, text)
    return text


def _explained(con: duckdb.DuckDBPyConnection, text: str) -> str:
    """Return a new EXPLAIN of the SELECT that follows a user's EXPLAIN."""
    found = _EXPLAIN.fullmatch(text)
    kinds = [each.type for each in con.extract_statements(found["query"])] if found else []
    if found is None or kinds != [duckdb.StatementType.SELECT]:
        what = ", ".join(kind.name for kind in kinds) or "another statement"
        msg = f"EXPLAIN takes one SELECT, got {what}; write EXPLAIN or EXPLAIN ANALYZE before one"
        raise QueryFailed(msg)
    _check_parts(con, found["query"])
    options = (found["options"] or "").upper()
    analyze = "ANALYZE " if found["analyze"] or "ANALYZE" in options else ""
    form = re.search(r"FORMAT\s+(\w+)", options)
    return f"EXPLAIN {analyze}{f'(FORMAT {form[1]}) ' if form else ''}{found['query']}"


def _check_parts(con: duckdb.DuckDBPyConnection, query: str) -> None:
    """Return if no part of a SELECT changes anything, however deep it stands.

    Raises:
        QueryFailed: One of them is not allowed, or the engine cannot parse the text.
    """
    serialize = "SELECT json_serialize_sql($asked)"
    ((text,),) = con.execute(serialize, {"asked": query}).fetchall()
    kinds = {f"{kind}_NODE" for kind in _NODE.findall(text)}
    if not kinds:
        reason = json.loads(text).get("error_message", "nothing")
        msg = f"the engine cannot say how this SELECT reads: {reason}; write it in another way"
        raise QueryFailed(msg)
    if others := sorted(kinds - _READS):
        what = ", ".join(kind.removesuffix("_NODE").removesuffix("_QUERY") for kind in others)
        msg = f"a SELECT that only reads is needed, got one with {what} in it; leave it out"
        raise QueryFailed(msg)
    called = {name.lower() for name in _FUNCTION.findall(text)} - READING_FUNCTIONS
    if acting := sorted(_table_functions(con, called)):
        msg = f"{acting[0]}() may do more than read; ask the tables themselves"
        raise QueryFailed(msg)


def _table_functions(con: duckdb.DuckDBPyConnection, names: Collection[str]) -> Iterator[str]:
    """Yield the names of table functions among these, except those that describe the engine."""
    found = con.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() "
        "WHERE function_type IN ('table', 'table_macro') AND list_contains($names, function_name)",
        {"names": [*names]},
    )
    for (name,) in found.fetchall() if names else ():
        if not name.startswith(_OF_CATALOG):
            yield name
