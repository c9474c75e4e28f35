"""Prints a digest of each table after captured traces, and τ-bench, were built and scored.

The same on every supported Python, in every locale and time zone, on any number of cores
(docs/metrics.md, section 0.2). `.ci/run` compares versions of Python, a test the rest.

    python -m tests.row_digests [--cores N] [--tau-bench] [CAPTURE...]
"""

import argparse
import hashlib
import os
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import patch

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.tasks import Specification, load
from tracegrade_scoring.tasks.ground_truth import task_file

from .conftest import SHARED_DATA
from .queries.traces import capture, captures, land, land_logs, logs_of

TABLES = (
    *("steps", "trajectories", "agents", "trajectory_scores", "decisions", "sub_goals"),
    *("failures", "failed_calls", "ambiguous_calls", "run_reasons", "release_scores"),
)
OF_THE_DAY = ("date", "trace_received_ns", "input_hash")
"""Columns that say when a trace was received, or are made of that."""


def digests(lake: Lake) -> dict[str, str]:
    """Return a digest of the rows of each table, whatever their order in the lake."""
    found = {}
    with connect(lake, layers=(SCORES,)) as con:
        for name in TABLES:
            table = con.table(name)
            kept = ", ".join(f'"{column}"' for column in table.columns if column not in OF_THE_DAY)
            rows = con.sql(f"SELECT {kept} FROM {name} ORDER BY ALL").fetchall()
            found[name] = f"{hashlib.sha256(repr(rows).encode()).hexdigest()[:16]} {len(rows)}"
    return found


def of_captures(place: Path, names: list[str]) -> dict[str, str]:
    """Return the digests of captured traces that were scored without a task file."""
    lake = Lake.create(place / "captures")
    for number, name in enumerate(names, 1):
        land(lake, capture(name), seq=number)
        land_logs(lake, *logs_of(name), seq=1000 * number)
    score(lake, Specification())
    return digests(lake)


def of_tau_bench(place: Path) -> dict[str, str]:
    """Return the digests of τ-bench's airline runs, scored against its own expected actions."""
    file, tasks = SHARED_DATA / "tau-bench" / "gpt-4o-airline.json", place / "tasks.yaml"
    tasks.write_text(task_file([file], {}, "true", list[str]().append), encoding="utf-8")
    lake = Lake.create(place / "tau")
    paths = {"messages": "traj", "task": "task_id", "trial": "trial", "success": "reward"}
    import_files(lake, [file], list[str]().append, reading=ReadOptions("messages", paths))
    score(lake, load([tasks]).specification)
    return digests(lake)


def cores_are(count: int) -> AbstractContextManager[object]:
    """Let jobs in the block find so many cores."""
    return patch("tracegrade_queries.engine.machine.cores", return_value=count)


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captures", nargs="*", default=captures())
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--tau-bench", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, cores_are(given.cores):
        found = {"captures": of_captures(Path(made), given.captures)}
        if given.tau_bench and SHARED_DATA.is_dir():
            found["tau-bench"] = of_tau_bench(Path(made))
    for source, tables in found.items():
        for table, digest in tables.items():
            print(source, table, digest)  # noqa: T201 - that is what it is for


if __name__ == "__main__":
    main()
