"""What each operator of a build's queries takes, the dearest first.

    python -m tests.benchmarks.measure_operators [--spans N] [--only NAME …] [--history CALLS]

Finds what a plan does twice or carries along for nothing, which the time of a whole query hides.
Each query that makes a table runs twice, first within EXPLAIN ANALYZE and in one thread; times are
in microseconds a span. Captures unless `--history` asks for runs of so many calls.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias
from unittest.mock import patch

import duckdb
from tests.benchmarks.bench_build import SPANS, land_captures, land_histories
from tests.benchmarks.histories import FORMS

from tracegrade_lake import Lake
from tracegrade_queries.build import passes
from tracegrade_queries.build.build import build
from tracegrade_queries.engine import relations
from tracegrade_queries.engine.executor import Threads

_MAKING: Final = re.compile(r"(?:--.*\n|\s)*(?:CREATE OR REPLACE TEMP TABLE|INSERT INTO) (\w+)")

Run: TypeAlias = Callable[..., None]


class Operator(NamedTuple):
    """One operator of one query."""

    secs: float
    made: str
    """What the query makes."""
    kind: str
    rows: int
    about: str
    """Its columns, conditions and filters."""


def operators(node: Mapping[str, Any], made: str) -> Iterator[Operator]:
    """Yield an operator of a plan, and those below it."""
    about = " ".join(str(node["extra_info"]).split())
    yield Operator(node["timing"], made, node["type"], node["intermediate_rows"], about)
    for below in node.get("children", ()):
        yield from operators(below, made)


def explaining(found: list[Operator]) -> Run:
    """Return what runs statements as `statements.run` does, and notes their operators."""

    def explained(
        con: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, object] | None = None
    ) -> None:
        for statement in con.extract_statements(text):
            making = _MAKING.match(statement.query)
            if making and not parameters:
                found.extend(explain(con, statement.query, making[1]))
            con.execute(statement, parameters)

    return explained


def explain(con: duckdb.DuckDBPyConnection, query: str, made: str) -> Iterator[Operator]:
    """Run a query, take back what it made, and yield its operators."""
    con.execute("BEGIN")
    ((_, told),) = con.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}").fetchall()
    con.execute("ROLLBACK")
    for plan in json.loads(told).get("operator", ()):
        yield from operators(plan, made)


def main() -> None:
    """Print the dearest operators of one build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", type=int, default=SPANS, help="at least so many")
    parser.add_argument("--only", nargs="*", default=[""], help="captures with one of these names")
    parser.add_argument("--history", type=int, help="calls of a run")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=[*FORMS], help="of histories")
    parser.add_argument("--most", type=int, default=40, help="operators to print")
    options = parser.parse_args()
    found: list[Operator] = []
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        if options.history:
            land_histories(lake, options.spans, options.history, options.forms)
        else:
            land_captures(lake, options.spans, options.only)
        run = explaining(found)
        with patch.object(passes, "run", run), patch.object(relations, "run", run):
            spans = build(lake, executor=Threads(1)).new_spans
    for secs, made, kind, rows, about in sorted(found, reverse=True)[: options.most]:
        print(f"{secs / spans * 1e6:7.2f} us {made} {kind}, {rows:,} rows: {about[:300]}")


if __name__ == "__main__":
    main()
