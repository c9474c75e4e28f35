"""Runs an analyst's query over a lake and prints its rows, for people or for programs."""

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import duckdb
import orjson
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from tracegrade.terminal.visible import echo, visible_text
from tracegrade_lake import Lake
from tracegrade_queries.build.discovery import unbuilt_spans
from tracegrade_queries.engine import layers
from tracegrade_queries.engine.comments import comment
from tracegrade_queries.engine.connection import Limits, connect_whole, open_lake, spill_folder
from tracegrade_queries.engine.csv_cells import as_json, flat, guarded
from tracegrade_queries.engine.no_writes import WITHOUT, forbid_writes, landlock_version
from tracegrade_queries.engine.selects import only_reads
from tracegrade_queries.engine.stoppable import run, too_much_memory, watch
from tracegrade_queries.errors import QueriesError, QueryFailed, QueryStopped

MEMORY_LIMIT: Final = "40%"
"""Share of the machine's memory: other programs run there too."""

MEMORY: Final = re.compile(
    r"(?=.*[1-9])(\d+(\.\d+)?\s*[KMGT]i?B|(\d{1,2}(\.\d+)?|100(\.0+)?)\s*%)", re.IGNORECASE
)
"""Pattern of a limit."""

FORMATS: Final = ("table", "csv", "json", "parquet")

BUILT: Final = re.compile(r"\b(steps|trajectories)\b", re.IGNORECASE)
"""The tables built from spans that a query may read."""


CATALOG: Final = re.compile(r"\b(duckdb_\w+|information_schema|comment)\b", re.IGNORECASE)
"""Names in a query that reads comments of tables; other queries do not wait for them."""


class Question(NamedTuple):
    """The query to run: one of the first two fields."""

    query: str | None
    """SQL text; `-` for the text on standard input."""
    saved: str | None
    """Name of a saved query."""
    params: tuple[str, ...] = ()
    """`name=value`, one for each $name of the query."""


def print_saved() -> None:
    """Print a line for every saved query: its name, its result, the values that it needs."""
    for name, (summary, parameters) in layers.saved().items():
        needed = "".join(f"\t--param {each}=VALUE" for each in parameters)
        sys.stdout.write(f"{name}\t{summary}{needed}\n")


class Output(NamedTuple):
    """The format of printed rows."""

    format: str = "table"
    """One of `FORMATS`."""
    guard: bool = True
    """In CSV, an apostrophe precedes text that a spreadsheet would take for a formula."""


class QueryLimits(NamedTuple):
    """Limits of a query."""

    memory: str = MEMORY_LIMIT
    """Memory of the engine before it spills, as `4GB` or `40%` of the machine's."""
    timeout_secs: float | None = None
    """None: any time."""


TABLE: Final = Output()
NO_TIMEOUT: Final = QueryLimits()


def print_rows(
    question: Question,
    *,
    lake: str | None,
    output: Output = TABLE,
    limits: QueryLimits = NO_TIMEOUT,
) -> None:
    """Print the rows of the answer to stdout.

    Raises:
        QueryFailed: The SQL, a parameter, the format or a limit cannot be used.
        QueryStopped: The query takes longer, or more memory, than it may.
        LakeMissing: There is no lake at this path.
        LakeUnreachable: Its object store does not answer.
    """
    if output.format not in FORMATS:
        msg = f"unknown format '{output.format}'; known: {', '.join(FORMATS)}"
        raise QueryFailed(msg)
    _check(limits)
    if lake is None:
        msg = "no lake is given; pass --lake DIR or set TRACEGRADE_LAKE"
        raise QueryFailed(msg)
    opened = open_lake(lake, _note)
    spill = _spill(opened)
    if not landlock_version():
        _say_once(WITHOUT, spill)
    with connect_whole(opened, limits=Limits(limits.memory, confined=True))[0] as con:
        try:
            text = _text(question)
            if CATALOG.search(text):
                comment(con)
            answer = partial(_answer, con, text, question.params, output)
            run(con, partial(_restricted, spill, answer), watch(con, limits.timeout_secs))
        except QueryFailed:
            opened.tables()  # fails too, with the reason, if the store is unreachable
            raise
        if opened.is_local and BUILT.search(text):
            _note_unbuilt(opened, Limits(limits.memory))


def _check(limits: QueryLimits) -> None:
    if not MEMORY.fullmatch(limits.memory):
        msg = f"--memory-limit '{limits.memory}' is not an amount; give it as 4GB, 512MB or 40%"
        raise QueryFailed(msg)
    if limits.timeout_secs is not None and not limits.timeout_secs > 0:
        msg = f"--timeout {limits.timeout_secs:g} is not a time; give seconds, more than 0"
        raise QueryFailed(msg)


def _spill(lake: Lake) -> Path:
    """Return the folder in which the engine may write; it is made, if this user can."""
    folder = spill_folder(lake)
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _say_once(line: str, spill: Path) -> None:
    """Say what holds for every query over a lake with the first of them."""
    with contextlib.suppress(OSError):  # already noted, or the note cannot be written
        (spill / "said-that-nothing-forbids-writing").touch(exist_ok=False)
        _note(line)


def _restricted(spill: Path, answer: Callable[[], None]) -> None:
    """Answer in this thread, which works for the engine and so writes nowhere else either."""
    forbid_writes([spill])
    answer()


def _answer(
    con: duckdb.DuckDBPyConnection, text: str, params: Sequence[str], output: Output
) -> None:
    _print(_ask(con, text, params), output)


def _note_unbuilt(lake: Lake, limits: Limits) -> None:
    """Note that rows are missing from the output: only scoring builds steps."""
    if unbuilt := unbuilt_spans(lake, limits):
        _note(
            f"spans not in steps and trajectories yet: {unbuilt}; "
            f"run `tracegrade score --lake {shlex.quote(lake.location)}`"
        )


def _note(line: str) -> None:
    echo(line, err=True)


def _ask(
    con: duckdb.DuckDBPyConnection, query: str, given: Sequence[str]
) -> duckdb.DuckDBPyRelation:
    params = dict(_parameter(param) for param in given)
    try:
        text = only_reads(con, query)
        return con.sql(text, params=params) if params else con.sql(text)
    except (duckdb.Error, RuntimeError) as error:
        raise _refused(error) from error


def _options(names: Sequence[str]) -> str:
    """Return how to give values on the command line."""
    return "give it with " + " ".join(f"--param {name}=VALUE" for name in names)


def way_out(error: str, how_to_give: Callable[[Sequence[str]], str] = _options) -> str:
    """Return the engine's error, or the way to supply a missing value.

    Args:
        error: Of the engine.
        how_to_give: Returns how the caller gives values of those names.
    """
    if missing := re.search(r"not provided for the following parameters: (.+)", error):
        names = sorted(name.strip() for name in missing[1].split(","))
        return f"the query needs a value for ${', $'.join(names)}; {how_to_give(names)}"
    if excess := re.search(r"identifiers of the excess parameters: (.+)", error):
        return f"the query has no ${excess[1].replace(', ', ', $')}; leave it out"
    if "Expected 0, got" in error:
        return "the query takes no values; leave them out"
    table = re.search(r"Table with name (\w+) does not exist", error)
    name = table[1] if table else None
    for layer in layers.higher_layers():
        if name in layer.names():
            return f"there is no table '{name}' in this lake, since {layer.why_absent}"
    return error


def _text(question: Question) -> str:
    if (question.query is None) == (question.saved is None):
        msg = "give either a query or --saved NAME; `tracegrade sql --list` shows the saved ones"
        raise QueryFailed(msg)
    if question.query == "-":
        return _standard_input()
    return layers.find_query(question.saved) if question.saved else str(question.query)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"the query on standard input is not UTF-8 at byte {error.start}; save it as UTF-8"
        raise QueryFailed(msg) from error


def _parameter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        msg = f"parameter '{text}' is not name=value"
        raise QueryFailed(msg)
    return name.removeprefix("$"), value


def _print(answer: duckdb.DuckDBPyRelation, output: Output) -> None:
    try:
        if output.format == "table":
            if isinstance(sys.stdout, io.TextIOWrapper):  # frames of tables are not in ASCII
                sys.stdout.reconfigure(errors="replace")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):  # it prints, and returns no text
                answer.show(max_width=10_000, max_rows=10_000)
            sys.stdout.write(visible_text(printed.getvalue()))
            return
        rows = answer.to_arrow_table()
    except duckdb.Error as error:
        raise _refused(error) from error
    if output.format == "csv":
        cells = flat(rows)
        pa_csv.write_csv(guarded(cells) if output.guard else cells, sys.stdout.buffer)
    elif output.format == "json":
        found = rows.to_pylist(maps_as_pydicts="lossy")
        sys.stdout.buffer.write(orjson.dumps(found, default=as_json) + b"\n")
    else:
        pq.write_table(rows, sys.stdout.buffer)


def _refused(error: Exception) -> QueriesError:
    """Return the message for an error of the engine."""
    if isinstance(error, duckdb.OutOfMemoryException):
        limit = re.search(r"/([^/)]+) used\)", str(error))
        return QueryStopped(too_much_memory(limit[1] if limit else "the engine"))
    return QueryFailed(way_out(str(error)))
