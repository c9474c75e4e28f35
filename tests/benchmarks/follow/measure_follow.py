"""How long after its last span a run has visible scores, and what following costs.

    python -m tests.benchmarks.follow.measure_follow [MINUTES]

Runs a collector and `tracegrade score --follow --every 15s`, sends two runs a second for so many
minutes (3), each in two requests, and looks four times a second which runs have scores. Then
nothing is sent for a minute. Prints a table for docs/internals/measurements.md.
"""

import sys
import tempfile
import time
from pathlib import Path

from tests.collector.running import JSON, collecting, processor_secs
from tests.queries.traces import agent, request_of, tool
from tests.scoring.follow.following import following

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES

RUNS_A_SECOND = 2
IDLE_SECS = 60
LOOK_SECS = 0.25


def scored_traces(lake: Lake) -> set[str]:
    """Return the ids of the traces that have scores."""
    with connect(lake, layers=(SCORES,)) as con:
        rows = con.sql("SELECT split_part(trajectory_id, '-', 1) FROM trajectory_scores")
        return {trace for (trace,) in rows.fetchall()}


def measure(folder: Path, minutes: float) -> None:
    """Send, look, and print."""
    lake = Lake.create(folder / "lake")
    sent: dict[str, float] = {}
    seen: dict[str, float] = {}
    with collecting(lake.root) as collector, following(lake.root, "--every", "15s") as follower:
        begun, version = time.monotonic(), None
        of_second = 0
        while time.monotonic() < begun + 60 * minutes or len(seen) < len(sent):
            now = time.monotonic()
            if now >= begun + of_second / RUNS_A_SECOND and now < begun + 60 * minutes:
                of_second += 1
                look = tool(2, 1, tool_name="look", trace=of_second, at=1)
                collector.post("/v1/traces", request_of([look]), JSON)
                root = agent(1, trace=of_second, tracegrade__task__id="refund")
                collector.post("/v1/traces", request_of([root]), JSON)
                sent[f"{of_second:032x}"] = time.monotonic()
            if (newest := lake.version("trajectory_scores")) != version:
                version = newest
                for trace in scored_traces(lake) - set(seen):
                    seen[trace] = time.monotonic()
            time.sleep(LOOK_SECS)
        busy, busy_secs = processor_secs(follower.process.pid), time.monotonic() - begun
        time.sleep(5)
        before = processor_secs(follower.process.pid)
        time.sleep(IDLE_SECS)
        idle = processor_secs(follower.process.pid) - before
        follower.stop()
    secs = sorted(seen[trace] - sent[trace] for trace in sent)
    files = {name: len(lake.live_files(name)) for name in lake.tables()}
    print(f"runs {len(sent)}, last span to visible score: p50 {secs[len(secs) // 2]:.1f} s, "
          f"p95 {secs[len(secs) * 95 // 100]:.1f} s, longest {secs[-1]:.1f} s")  # fmt: skip
    print(f"processor of the follower: {100 * busy / busy_secs:.1f} % of a core while runs come, "
          f"{100 * idle / IDLE_SECS:.2f} % of a core at rest")  # fmt: skip
    print(f"most files of a table: {max(files.values())} ({max(files, key=lambda n: files[n])})")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        measure(Path(place), float(sys.argv[1]) if sys.argv[1:] else 3.0)
