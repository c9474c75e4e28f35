"""What each operator of a build's queries takes, the dearest first.

    python -m tests.benchmarks.measure_operators [--spans N] [--only NAME …] [--history CALLS]

Finds what a plan does twice or carries along for nothing, which the time of a whole query hides.
All spans are one bucket, worked on by one thread. Each query that makes a table runs twice, first
within EXPLAIN ANALYZE; times are of that run, in microseconds a span. Captures unless `--history`
asks for runs of so many calls.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb
from tests.benchmarks.bench_build import SPANS, land_captures, land_histories
from tests.benchmarks.command_line import while_read
from tests.benchmarks.histories import FORMS
from tests.queries.traces import take_all
from tests.recording import Recorder

from tracegrade_lake import Lake
from tracegrade_queries.build.split import split_into_steps
from tracegrade_queries.engine.connection import Limits, connect_whole

_MAKING: Final = re.compile(r"(?:--.*\n|\s)*(?:CREATE OR REPLACE TEMP TABLE|INSERT INTO) (\w+)")


class Operator(NamedTuple):
    """One operator of one query."""

    secs: float
    made: str
    """What the query makes."""
    kind: str
    rows: int
    about: str
    """Its columns, conditions and filters."""


class Explaining(Recorder):
    """A connection that notes the operators of each query that makes a table."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        """Of queries that this connection runs."""
        super().__init__(con)
        self.operators: list[Operator] = []

    def note(self, sql: str) -> None:
        """Run a query, note its operators, and take back what it made."""
        making = _MAKING.match(sql)
        if not making:
            return
        self._con.execute("BEGIN")
        ((_, told),) = self._con.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchall()
        self._con.execute("ROLLBACK")
        for plan in json.loads(told).get("operator", ()):
            self.operators.extend(operators(plan, making[1]))


def operators(node: Mapping[str, Any], made: str) -> Iterator[Operator]:
    """Yield an operator of a plan, and those below it."""
    about = " ".join(str(node["extra_info"]).split())
    yield Operator(node["timing"], made, node["type"], node["intermediate_rows"], about)
    for below in node.get("children", ()):
        yield from operators(below, made)


def measured(lake: Lake) -> tuple[list[Operator], int]:
    """Return the operators of the queries that split a lake's spans, and how many spans it has."""
    con, _ = connect_whole(lake, limits=Limits(threads=1))
    take_all(con)
    explaining = Explaining(con)
    split_into_steps(explaining.con)
    ((spans,),) = con.execute("SELECT sum(records)::BIGINT FROM bucket_traces").fetchall()
    return explaining.operators, spans


def main() -> None:
    """Print the dearest operators."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", type=int, default=SPANS, help="at least so many")
    parser.add_argument("--only", nargs="*", default=[""], help="captures with one of these names")
    parser.add_argument("--history", type=int, help="calls of a run")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=[*FORMS], help="of histories")
    parser.add_argument("--most", type=int, default=40, help="operators to print")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        if options.history:
            land_histories(lake, options.spans, options.history, options.forms)
        else:
            land_captures(lake, options.spans, options.only)
        found, spans = measured(lake)
    for secs, made, kind, rows, about in sorted(found, reverse=True)[: options.most]:
        print(f"{secs / spans * 1e6:7.2f} us {made} {kind}, {rows:,} rows: {about[:300]}")


if __name__ == "__main__":
    with while_read():
        main()
