"""What `docgen/scale_plan.py` begins with and no other benchmark measures: sizes, a driver's work.

    python -m tests.benchmarks.measure_scale [--runs N] [--spark MASTER]

Time is CPU time, which other work on the machine changes least. With `--spark` the same buckets
are built by processes and by Spark, whose session is up by the second time: the difference is what
a cluster costs beside its work. That takes a Python that has pyspark.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.bench_build import land_captures
from tests.benchmarks.command_line import while_read
from tests.benchmarks.made_lake import make, task_file

from tracegrade_lake import Lake, Table
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome
from tracegrade_queries.engine.connection import NO_LIMITS, connect
from tracegrade_queries.engine.distributed_job import distribute, job_files, outcome_of
from tracegrade_queries.engine.engines import EngineOptions, engine
from tracegrade_queries.engine.executor import Executor
from tracegrade_queries.engine.pinned import pin
from tracegrade_queries.engine.processes import Processes
from tracegrade_queries.engine.replacing import leave_out_traces
from tracegrade_queries.engine.worker import work_off
from tracegrade_queries.schema import STEPS, TRAJECTORIES
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.job.score_bucket import STAGED
from tracegrade_scoring.tasks.specification import usable_specification


class Weighed:
    """Works on buckets by their manifests, and prints how large these and their outcomes are."""

    slots = 1

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what came back."""
        if not buckets:
            return
        with (
            job_files(buckets[0].lake.open()) as files,
            distribute(work, buckets, files) as distributed,
        ):
            for name, bucket in zip(distributed.manifests, buckets, strict=True):
                work_off(distributed.files.location(name))
                sizes = [
                    len(distributed.files.read(each) or b"") for each in (name, outcome_of(name))
                ]
                print(
                    f"{work.__name__}: {len(bucket.traces):,} traces, a manifest of {sizes[0]:,} "
                    f"bytes, an outcome of {sizes[1]:,}"
                )
            yield from distributed.outcomes()


def measure_driver(place: Path, runs: int) -> None:
    """Print what scoring hands out, and what it takes to write rows of a date again."""
    lake = make(place / "made", runs, days=1)
    (place / "tasks.yaml").write_text(task_file(), encoding="utf-8")
    specification, _ = usable_specification(place / "tasks.yaml")
    score(lake, specification, executor=Weighed())
    for _ in range(2):  # the first time loads code
        for table in (STEPS, TRAJECTORIES, *STAGED):
            measure_replacing(lake, table)


def measure_replacing(lake: Lake, table: Table) -> None:
    """Print what it takes to look a table's files through for traces, and to write them again."""
    files = pin(lake, [table.name])
    with connect(lake) as con:
        known = con.sql("FROM trajectories SELECT trace_id WHERE hash(trace_id) % 100 = 0")
        others = con.sql("FROM trajectories SELECT md5(trace_id) AS trace_id LIMIT 1000")
        asked = {
            "written again": known.to_arrow_table(),
            "looked through": others.to_arrow_table(),
        }
    for what, traces in asked.items():
        start = time.process_time()
        made = leave_out_traces(Bucket(files, traces, NO_LIMITS, None))
        secs = time.process_time() - start
        rows = sum(file.rows for file in files.tables[table.name].files)
        size = sum(file.size for file in made.files.get(table.name, ())) / max(made.rows(table), 1)
        print(f"{table.name}: {rows:,} rows {what} in {secs:.2f} s, {size:.0f} bytes each")


def measure_spark(place: Path, spans: int, master: str) -> None:
    """Print how long the same build takes on Spark and on processes, each with two slots."""
    lake = Lake.create(place / "lake")
    land_captures(lake, spans, [""])
    with engine("spark", EngineOptions(print, 2, master)) as spark:
        assert spark
        for name, executor in (("spark", spark), ("spark", spark), ("processes", Processes(2))):
            print(f"{name}: a full build in {timed(lake, executor):.1f} s")


def timed(lake: Lake, executor: Executor) -> float:
    """Return how long a full build takes, in seconds of a clock."""
    start = time.perf_counter()
    build(lake, full=True, executor=executor)
    return time.perf_counter() - start


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=12_000)
    parser.add_argument("--spans", type=int, default=500_000, help="that Spark builds")
    parser.add_argument("--spark", metavar="MASTER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.spark:
            measure_spark(Path(folder), options.spans, options.spark)
        else:
            measure_driver(Path(folder), options.runs)


if __name__ == "__main__":
    with while_read():
        main()
