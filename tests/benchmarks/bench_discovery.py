"""What it costs to find out what is new, by how much the lake holds.

    python -m tests.benchmarks.bench_discovery [--spans N...] [--runs N...]

Lakes of `--spans` spans, eight of each trace, thirty days of two collectors. Nothing is built of
them but what builds note for the next one, since finding what is new reads no steps. Printed is
the CPU time of a build that finds nothing, of finding a thousand new spans of which a tenth is of
traces of all days, and of reading everything, as a build without notes does.

With `--runs`, of lakes of so many scored trajectories (`made_lake.py`): of a whole `score` that
finds nothing, of one after a verdict on a single run, and of one without notes.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
from tests.benchmarks.command_line import while_read
from tests.benchmarks.made_lake import make, task_file

from tracegrade_collector.importing.verdict_rows import add_clean_verdicts
from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.build.discovery import discovered
from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome
from tracegrade_queries.engine.connection import NO_LIMITS, connect
from tracegrade_queries.engine.table_views import duckdb_type
from tracegrade_queries.schema import BUILT_FILES, PRICED_DATES
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.noted_files import SCORED_FILES
from tracegrade_scoring.tasks.specification import usable_specification

DAYS: Final = 30
SPANS: Final = (1_000_000, 10_000_000)
NEW_SPANS: Final = 1_000

_ROWS: Final = """
  SELECT
    md5('trace' || i // 8 * $step) AS trace_id, substr(md5('span' || i), 1, 16) AS span_id,
    '' AS trace_state, 1 AS flags, 'GET' AS name, 3 AS kind, i AS start_ns, i + 1 AS end_ns,
    MAP {'http.request.method': 'GET'} AS attributes, 's' AS attribute_types,
    [] AS events, [] AS links, 'shop' AS service_name, 'c' || ($day % 2) AS collector_id,
    $first::BIGINT + i // 100 AS wal_seq,
    1764547200000000000 + $day * 86400000000000 + i AS received_ns,
    md5('span' || i) AS content_hash, FALSE AS resent,
    DATE '2025-12-01' + $day::INTEGER AS date
  FROM range($first::BIGINT, $last::BIGINT) AS numbers (i)
"""


class Nobody:
    """Builds nothing, so that a build notes what it found and that is all."""

    slots = 2

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield nothing."""
        return iter(())


def spans(day: int, first: int, last: int, step: int = 1) -> pa.Table:
    """Return spans of these numbers, received on that day, of every `step`th trace."""
    with duckdb.connect() as con:
        numbers = {"day": day, "first": first, "last": last, "step": step}
        found = con.sql(_ROWS, params=numbers)
        columns = ", ".join(
            f"{c.name if c.name in found.columns else 'NULL'}::{duckdb_type(c.type)} AS {c.name}"
            for c in RAW_SPANS.columns
        )
        return found.select(columns).to_arrow_table().cast(RAW_SPANS.arrow())


def fill(lake: Lake, total: int) -> None:
    """Land the spans, and note that they are built."""
    for day in range(DAYS):
        lake.append(RAW_SPANS, spans(day, day * total // DAYS, (day + 1) * total // DAYS))
    build(lake, executor=Nobody())


def land_new(lake: Lake, total: int) -> None:
    """Land spans of which nine in ten are of new traces, and the others of those of all days."""
    late, first = NEW_SPANS // 10, total + 1_000_000
    lake.append(RAW_SPANS, spans(DAYS, first, first + NEW_SPANS - late))
    late_ones = spans(DAYS, 0, late, step=max(1, total // late))
    numbers = pa.array([2 * first] * len(late_ones), pa.int64())
    place = late_ones.column_names.index("wal_seq")
    lake.append(RAW_SPANS, late_ones.set_column(place, late_ones.schema.field(place), numbers))


def cpu(work: Callable[[], object]) -> float:
    """Return the seconds of CPU that something takes."""
    before = time.process_time()
    work()
    return time.process_time() - before


def find(lake: Lake) -> None:
    """Find what is to be built, and build nothing."""
    with discovered(lake, NO_LIMITS):
        pass


def measure(lake: Lake, total: int) -> str:
    """Return what is found out at which cost, in a line."""
    fill(lake, total)
    nothing = cpu(lambda: build(lake))
    land_new(lake, total)
    something = cpu(lambda: find(lake))
    lake.drop(BUILT_FILES.name)
    everything = cpu(lambda: find(lake))
    return (
        f"{total:,} spans: nothing new {nothing:.2f} s of CPU, {NEW_SPANS:,} new spans "
        f"{something:.2f} s, everything read {everything:.2f} s"
    )


def measure_scoring(place: Path, runs: int) -> str:
    """Return what it costs to find out what is to be scored, in a line."""
    lake = make(place / "made", runs, days=DAYS)
    (place / "tasks.yaml").write_text(task_file(), encoding="utf-8")
    specification, _ = usable_specification(place / "tasks.yaml")
    score(lake, specification)
    nothing = cpu(lambda: score(lake, specification))
    judge_one(lake)
    verdict = cpu(lambda: score(lake, specification))
    for name in (SCORED_FILES.name, PRICED_DATES.name):
        lake.drop(name)
    everything = cpu(lambda: score(lake, specification))
    return (
        f"{runs:,} trajectories: nothing new {nothing:.2f} s of CPU, one verdict {verdict:.2f} s, "
        f"nothing new and no notes {everything:.2f} s"
    )


def judge_one(lake: Lake) -> None:
    """Add a verdict on one run."""
    with connect(lake) as con:
        ((run,),) = con.sql("SELECT min(trajectory_id) FROM trajectories").fetchall()
    named = {"trajectory_id": run, "label": None, "source": "human", "value": 1.0}
    about = {"subject": "success", "sub_goal": None, "kill_point": None, "evidence": None}
    add_clean_verdicts(lake, [{**named, **about}])


def main() -> None:
    """Print a line for each lake."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", nargs="*", type=int, default=SPANS, help="that lakes hold")
    parser.add_argument("--runs", nargs="*", type=int, default=(), help="that lakes hold")
    options = parser.parse_args()
    for total in options.spans:
        with tempfile.TemporaryDirectory() as folder:
            print(measure(Lake.create(Path(folder) / "lake"), total), flush=True)
    for total in options.runs:
        with tempfile.TemporaryDirectory() as folder:
            print(measure_scoring(Path(folder), total), flush=True)


if __name__ == "__main__":
    with while_read():
        main()
