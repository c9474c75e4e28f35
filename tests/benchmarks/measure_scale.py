"""What `docs/scale_plan.py` begins with and no other benchmark measures: sizes, a driver's work.

    python -m tests.benchmarks.measure_scale [--spans N] [--runs N] [--spark MASTER]

With `--spark` the same buckets are built by processes and by Spark, whose session is up by then:
the difference is what a cluster costs beside its work. That takes a Python that has pyspark.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.bench_build import land_captures
from tests.benchmarks.made_lake import make, task_file
from tests.queries.traces import land as land_request
from tests.queries.traces import request_of, tool

from tracegrade_collector.importing.verdict_rows import add_clean_verdicts
from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.bucket_work import Bucket, Outcome, Work
from tracegrade_queries.engine.engines import EngineOptions, engine
from tracegrade_queries.engine.executor import Executor
from tracegrade_queries.engine.handed_out import handed_out, job_files, outcome_of
from tracegrade_queries.engine.processes import Processes
from tracegrade_queries.engine.worker import work_off
from tracegrade_queries.schema import STEPS
from tracegrade_scoring.job.score import score
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.specification import usable_specification


class Weighed:
    """Works on buckets by their manifests, and prints how large these and their outcomes are."""

    slots = 1

    def run(self, work: Work, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what came back."""
        with (
            job_files(buckets[0].lake.open()) as files,
            handed_out(work, buckets, files) as handed,
        ):
            for name, bucket in zip(handed.manifests, buckets, strict=True):
                work_off(handed.files.place(name))
                sizes = [len(handed.files.read(each) or b"") for each in (name, outcome_of(name))]
                print(
                    f"{work.__name__}: {len(bucket.traces):,} traces, a manifest of {sizes[0]:,} "
                    f"bytes, an outcome of {sizes[1]:,}"
                )
            yield from handed.outcomes()


def table_bytes(lake: Lake, *tables: str) -> int:
    """Return how large the live files of tables are."""
    return sum(file.size for table in tables for file in lake.live_files(table))


def measure_build(lake: Lake, spans: int) -> None:
    """Print sizes of what is landed and built, and how fast a driver rewrites a date."""
    land_captures(lake, spans, [""])
    landed = build(lake, executor=Weighed()).new_spans
    raw, built = table_bytes(lake, RAW_SPANS.name), table_bytes(lake, "steps", "trajectories")
    print(f"{landed:,} spans: {raw / landed:.0f} bytes each landed, {built / landed:.0f} built")
    trace = next(lake.newest_files("trajectories")).read(["trace_id"])["trace_id"][0].as_py()
    late = tool(9, tool_name="late", trace=int(trace, 16))
    land_request(lake, request_of([late]), seq=10**9, collector="late")
    start = time.perf_counter()
    build(lake)
    secs = time.perf_counter() - start
    rows = sum(file.rows for file in lake.live_files(STEPS.name))
    print(f"a late span: {rows:,} steps of its date written again in {secs:.1f} s")


def measure_score(place: Path, runs: int) -> None:
    """Print sizes of what scoring hands out and gets back."""
    lake = make(place, runs, days=1)
    tasks = place.parent / "tasks.yaml"
    tasks.write_text(task_file(), encoding="utf-8")
    specification, _ = usable_specification(tasks)
    score(lake, specification, executor=Weighed())
    scores = table_bytes(lake, *(name for name in lake.tables() if name not in BUILT))
    print(f"{runs:,} trajectories: {scores / runs:.0f} bytes of scores and evidence each")
    late = {
        "trajectory_id": next(lake.newest_files("trajectories")).read()["trajectory_id"][0].as_py()
    }
    late |= {"subject": "success", "sub_goal": None, "injection": None, "value": 0.0}
    add_clean_verdicts(lake, [late | {"label": None, "source": "late", "evidence": None}])
    start = time.perf_counter()
    score(lake, Specification())
    secs = time.perf_counter() - start
    print(f"a verdict: scores of {runs:,} trajectories of its date written again in {secs:.1f} s")


BUILT = {RAW_SPANS.name, "raw_logs", "steps", "trajectories", "verdicts", "task_definitions"}


def measure_spark(lake: Lake, master: str) -> None:
    """Print how long the same build takes on processes and on Spark, each with two slots."""
    with engine("spark", EngineOptions(print, 2, master)) as spark:
        assert spark
        for name, executor in (("spark", spark), ("spark", spark), ("processes", Processes(2))):
            print(f"{name}: a full build in {timed(lake, executor):.1f} s")


def timed(lake: Lake, executor: Executor) -> float:
    """Return how long a full build takes, in seconds."""
    start = time.perf_counter()
    build(lake, full=True, executor=executor)
    return time.perf_counter() - start


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", type=int, default=250_000)
    parser.add_argument("--runs", type=int, default=25_000)
    parser.add_argument("--spark", metavar="MASTER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        measure_build(lake, options.spans)
        if options.spark:
            measure_spark(lake, options.spark)
        else:
            measure_score(Path(folder) / "made", options.runs)


if __name__ == "__main__":
    main()
