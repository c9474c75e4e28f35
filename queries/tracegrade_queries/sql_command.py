"""Runs an analyst's query over a lake and prints its rows, for people or for programs."""

import re
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

import duckdb
import orjson
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from tracegrade_lake import Lake
from tracegrade_queries.build.build import unbuilt_spans
from tracegrade_queries.engine import layers
from tracegrade_queries.engine.comments import comment
from tracegrade_queries.engine.connection import connect, open_lake
from tracegrade_queries.errors import QueryFailed

FORMATS: Final = ("table", "csv", "json", "parquet")

BUILT: Final = re.compile(r"\b(steps|trajectories)\b", re.IGNORECASE)
"""The tables built from spans that a query may read."""


CATALOGUE: Final = re.compile(r"\b(duckdb_\w+|information_schema|comment)\b", re.IGNORECASE)
"""What a query reads that asks for comments of tables; others do not wait for them."""


class Question(NamedTuple):
    """What to run: one of the first two."""

    query: str | None
    """SQL text; `-` for the text on standard input."""
    saved: str | None
    """Name of a saved query."""
    params: tuple[str, ...] = ()
    """`name=value`, one for each $name of the query."""


def print_saved() -> None:
    """Print a line for every saved query: its name, what it returns, the values that it needs."""
    for name, (summary, parameters) in layers.saved().items():
        needed = "".join(f"\t--param {each}=VALUE" for each in parameters)
        sys.stdout.write(f"{name}\t{summary}{needed}\n")


def print_rows(question: Question, *, lake: str | None, output: str) -> None:
    """Print the rows of the answer to stdout in one of `FORMATS`.

    Raises:
        QueryFailed: The SQL, a parameter or the format cannot be used.
        LakeMissing: There is no lake at this path.
        LakeUnreachable: Its object store does not answer.
    """
    if output not in FORMATS:
        msg = f"unknown format '{output}'; known: {', '.join(FORMATS)}"
        raise QueryFailed(msg)
    if lake is None:
        msg = "no lake is given; pass --lake DIR or set TRACEGRADE_LAKE"
        raise QueryFailed(msg)
    opened = open_lake(lake, _note)
    with connect(opened) as con:
        try:
            text = _text(question)
            if CATALOGUE.search(text):
                comment(con)
            _print(_ask(con, text, question.params), output)
        except QueryFailed:
            opened.tables()  # fails too, and says why, if it was a store that went away
            raise
        if opened.is_local and BUILT.search(text):
            _note_unbuilt(opened, con)


def _note_unbuilt(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Say that rows are missing from what was printed: only scoring builds steps."""
    unbuilt = unbuilt_spans(lake, con) if lake.version("raw_spans") is not None else 0
    if unbuilt:
        _note(
            f"spans not in steps and trajectories yet: {unbuilt}; "
            f"run `tracegrade score --lake {lake.place}`"
        )


def _note(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _ask(
    con: duckdb.DuckDBPyConnection, query: str, given: Sequence[str]
) -> duckdb.DuckDBPyRelation:
    text = query.strip().removesuffix(";")
    params = dict(_parameter(param) for param in given)
    try:
        _refuse_all_but_reading(con, text)
        return con.sql(text, params=params) if params else con.sql(text)
    except (duckdb.Error, RuntimeError) as error:
        raise QueryFailed(way_out(str(error))) from error


def way_out(error: str) -> str:
    """Return the engine's error, or how to supply what is missing."""
    if missing := re.search(r"not provided for the following parameters: (.+)", error):
        names = [name.strip() for name in missing[1].split(",")]
        given = " ".join(f"--param {name}=VALUE" for name in names)
        return f"the query needs a value for ${', $'.join(names)}; give it with {given}"
    table = re.search(r"Table with name (\w+) does not exist", error)
    if table and any(table[1] in layer.names() for layer in layers.higher_layers()):
        return (
            f"there is no table '{table[1]}' in this lake, since it has never been scored; "
            "run `tracegrade score --lake LAKE` first"
        )
    return error


def _refuse_all_but_reading(con: duckdb.DuckDBPyConnection, text: str) -> None:
    """Raise unless the text is one statement that returns rows: COPY could overwrite the lake."""
    kinds = [statement.type for statement in con.extract_statements(text)]
    if kinds not in ([duckdb.StatementType.SELECT], [duckdb.StatementType.EXPLAIN]):
        found = ", ".join(kind.name for kind in kinds) or "nothing"
        msg = f"one SELECT or EXPLAIN is needed, got {found}"
        raise QueryFailed(msg)


def _text(question: Question) -> str:
    if (question.query is None) == (question.saved is None):
        msg = "give either a query or --saved NAME; `tracegrade sql --list` shows the saved ones"
        raise QueryFailed(msg)
    if question.query == "-":
        return sys.stdin.read()
    return layers.find_query(question.saved) if question.saved else str(question.query)


def _parameter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        msg = f"parameter '{text}' is not name=value"
        raise QueryFailed(msg)
    return name.removeprefix("$"), value


def _print(answer: duckdb.DuckDBPyRelation, output: str) -> None:
    try:
        if output == "table":
            answer.show(max_width=10_000, max_rows=10_000)
            return
        rows = answer.to_arrow_table()
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error
    _WRITERS[output](rows)


def _write_json(rows: pa.Table) -> None:
    found = rows.to_pylist(maps_as_pydicts="lossy")
    sys.stdout.buffer.write(orjson.dumps(found, default=_as_json) + b"\n")


def _as_json(value: object) -> object:
    """Return a value as a type that JSON has; a sum of integers arrives as a decimal."""
    if isinstance(value, Decimal) and value == int(value) and abs(value) < 2**63:
        return int(value)
    return str(value)


def _write_csv(rows: pa.Table) -> None:
    pa_csv.write_csv(_flat(rows), sys.stdout.buffer)


def _flat(rows: pa.Table) -> pa.Table:
    """Return the rows with lists, structs and maps as JSON, since a CSV cell is a text."""
    for index, field in enumerate(rows.schema):
        if pa.types.is_nested(field.type):
            values = rows.column(index).to_pylist(maps_as_pydicts="lossy")
            rows = rows.set_column(index, field.name, pa.array(map(_text_of, values), pa.string()))
    return rows


def _text_of(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value, default=_as_json).decode()


def _write_parquet(rows: pa.Table) -> None:
    pq.write_table(rows, sys.stdout.buffer)


_WRITERS: Final = {"csv": _write_csv, "json": _write_json, "parquet": _write_parquet}
