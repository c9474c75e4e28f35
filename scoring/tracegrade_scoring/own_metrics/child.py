"""The process that runs metrics: `python -m tracegrade_scoring.own_metrics.child`.

It reads from stdin a job as a line of JSON, and a stream of Arrow without rows that has the
columns of an answer. Then it reads the rows of each relation as such a stream. It writes for each
metric a line of JSON; where that names no error, a stream of Arrow follows. What metrics print
goes nowhere. It imports no more than it must, since a bucket waits for it.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import IO, Any, Final

import pyarrow as pa

from tracegrade_queries.engine.bounds import bound, end_after
from tracegrade_queries.engine.no_writes import forbid_writes

MOST_EVIDENCE: Final = 20
"""Steps that are kept as evidence of one score."""

NEEDED: Final = ("attempt_id", "numerator")
"""Columns that each answer has. Without a denominator that is 1; others may be left out."""

_MOST_CHARS: Final = 500
"""Limit of the length of an error's message."""


def main() -> None:
    """Run the job of stdin."""
    given, answers = sys.stdin.buffer, taken_stdout()
    job = json.loads(given.readline())
    sys.path[:] = job["path"]
    sys.dont_write_bytecode = True
    forbid_writes()  # before there are threads
    columns = _read(given).schema
    rows = {name: _read(given) for name in job["relations"]}
    if "queries" in job:
        _run_queries(job, columns, rows, answers)
    else:
        _run_function(job, columns, rows, answers)


def taken_stdout() -> IO[bytes]:
    """Return the original stdout; all text printed from now on, also by a library, is dropped."""
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    return answers


def _read(given: IO[bytes]) -> pa.Table:
    return pa.ipc.open_stream(given).read_all()


def _run_function(
    job: Mapping[str, Any], columns: pa.Schema, rows: Mapping[str, pa.Table], answers: IO[bytes]
) -> None:
    """Write what a function returns, or why it does not."""
    process = os.getpid()
    bound(job["memory_bytes"])
    end_after(job["secs"])
    found = _called(job["function"], columns, rows)
    if os.getpid() == process:  # a copy that the function made of this process does not answer
        _say(answers, found)
    os._exit(0)  # without what the function has left to be done at the end


def _called(entry: str, columns: pa.Schema, rows: Mapping[str, pa.Table]) -> pa.Table | str:
    module, _, name = entry.partition(":")
    try:
        found = getattr(import_module(module), name).function(rows)
        if not isinstance(found, pa.Table):
            return f"it returns {type(found).__name__}; let it return a pyarrow.Table"
        return columns_fault(found.column_names, columns.names) or _answer(found, columns)
    except MemoryError:
        return _NO_MEMORY
    except BaseException as error:  # noqa: BLE001 - it is not our code, and harms no other metric
        return f"{type(error).__name__}: {error}"


_NO_MEMORY: Final = "it needs more memory than it may have"


def _run_queries(
    job: Mapping[str, Any], columns: pa.Schema, rows: Mapping[str, pa.Table], answers: IO[bytes]
) -> None:
    """Write for each query what it returns, or why it does not."""
    import duckdb  # noqa: PLC0415 - functions need no engine

    from tracegrade_queries.engine.bare_engine import bare_engine  # noqa: PLC0415

    con = bare_engine(f"{job['memory_bytes'] >> 20}MiB")
    for name, table in rows.items():
        con.register(name, table)
    bound(job["memory_bytes"])
    for sql in job["queries"]:
        end_after(job["secs"])
        try:
            found: pa.Table | str = _queried(con, sql, columns.names, job["types"])
        except (duckdb.OutOfMemoryException, MemoryError):
            found = _NO_MEMORY
        except (duckdb.Error, RuntimeError) as error:
            found = str(error)
        _say(answers, found)
        end_after(0)


def _queried(con: Any, sql: str, names: Sequence[str], types: Mapping[str, str]) -> pa.Table | str:
    found = con.sql(sql).columns
    if fault := columns_fault(found, names):
        return fault
    filled = ", ".join(f"{_filled(name, types[name], found)} AS {name}" for name in names)
    answer: pa.Table = con.sql(f"SELECT {filled} FROM ({sql}\n)").to_arrow_table()
    return answer


def columns_fault(found: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the fault in the names of an answer's columns; None if they are valid."""
    if missing := [name for name in NEEDED if name not in found]:
        return f"it returns no column {', '.join(missing)}; it may return {', '.join(known)}"
    if others := [name for name in found if name not in known]:
        return f"it returns {', '.join(others)}; it may return {', '.join(known)} and no other"
    if len(found) > len({*found}):
        return "it returns a column twice; name each once"
    return None


def _filled(name: str, kind: str, found: Sequence[str]) -> str:
    if name not in found:
        return "1::DOUBLE" if name == "denominator" else f"NULL::{kind}"
    cast = f"{name}::{kind}"
    return f"({cast})[:{MOST_EVIDENCE}]" if name == "evidence" else cast


def _answer(found: pa.Table, columns: pa.Schema) -> pa.Table:
    return pa.table([_column(found, field) for field in columns], columns)


def _column(found: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    if field.name in found.column_names:
        column = found[field.name]
        if field.name == "evidence":
            lists = [(steps or ())[:MOST_EVIDENCE] for steps in column.to_pylist()]
            return pa.array(lists, field.type)
        return column.cast(field.type)
    filled = 1.0 if field.name == "denominator" else None
    return pa.repeat(pa.scalar(filled, field.type), len(found))


def _say(answers: IO[bytes], found: pa.Table | str) -> None:
    error = " ".join(found.split())[:_MOST_CHARS] if isinstance(found, str) else None
    answers.write(json.dumps({"error": error}).encode() + b"\n")
    if isinstance(found, pa.Table):
        with pa.ipc.new_stream(answers, found.schema) as stream:
            stream.write_table(found)
    answers.flush()


if __name__ == "__main__":
    main()
