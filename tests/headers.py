"""Reads what a query's header says, and what the query really does, to hold one to the other.

style: a sentence, then `Reads:`, `Parameters:`, `Columns:` (name, type, meaning) and `Order:`.
"""

import re
from itertools import takewhile
from typing import NamedTuple

import duckdb

SCORE_TYPE = (
    'STRUCT("value" DOUBLE, numerator DOUBLE, denominator DOUBLE, status VARCHAR, '
    '"label" VARCHAR, reason VARCHAR, "source" VARCHAR)'
)
_ENTRY = re.compile(r"--   (\S+)(?: +((?:[A-Z][A-Z_]*\(.*?\)|[A-Z]+)(?:\[\])*)(?: |$))?")


class Header(NamedTuple):
    """What a header says."""

    reads: set[str]
    parameters: set[str]
    """With their dollar sign."""
    columns: list[tuple[str, str]]
    """Name and type."""
    order: list[str]
    """The columns that the rows are sorted by; none for a stage of a pass."""


def header(sql: str) -> Header:
    """Return what stands above a query."""
    sections: dict[str, list[tuple[str, str]]] = {}
    entries: list[tuple[str, str]] = []
    order = ""
    for line in takewhile(lambda line: line.startswith("--"), sql.splitlines()):
        if heading := re.fullmatch(r"-- (\w+):", line):
            entries = sections[heading[1]] = []
        elif entry := _ENTRY.match(line):
            entries.append((entry[1], entry[2] or ""))
            order = line if entries is sections.get("Order") else order
    return Header(
        {name for name, _ in sections.get("Reads", [])},
        {name for name, _ in sections.get("Parameters", [])},
        sections.get("Columns", []),
        order.removeprefix("--   ").split(", "),
    )


def code(sql: str) -> str:
    """Return a query without its comments."""
    return re.sub(r"--.*", "", sql)


def relations_read(sql: str) -> set[str]:
    """Return the relations that a query reads, also by macros, but for its own common tables."""
    text = re.sub(r"IS (NOT )?DISTINCT FROM", "=", code(sql))
    read = set(re.findall(r"\b(?:FROM|JOIN|UPDATE|ALTER TABLE)\s+([a-z]\w*)\b(?!\()", text))
    read |= set(re.findall(r"\b(?:FROM|JOIN)\s+\w+\('(\w+)'[,)]", text))  # given to a macro
    own = re.findall(r"\b(\w+) (?:\([\w, ]+\) )?AS (?:(?:NOT )?MATERIALIZED )?\(", text)
    return read - set(own)


def parameters_used(sql: str) -> set[str]:
    """Return the `$names` in a query."""
    return set(re.findall(r"\$[a-z]\w*", code(sql)))


def columns_of(rows: duckdb.DuckDBPyRelation) -> list[tuple[str, str]]:
    """Return name and type of each column; SCORE is the type of a metric's column."""
    types = ("SCORE" if kind == SCORE_TYPE else kind for kind in map(str, rows.types))
    return list(zip(rows.columns, types, strict=True))


def bare(sql: str) -> str:
    """Return a query without the semicolon at its end."""
    return sql.rstrip().removesuffix(";")
