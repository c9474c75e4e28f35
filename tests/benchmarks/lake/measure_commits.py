"""Memory and time of a lander over thousands of tiny commits: both must stay flat.

    python -m tests.benchmarks.lake.measure_commits [COMMITS]

Each commit lands one request of ten spans, in a lander of its own process that never ends. Prints
the resident memory and the time of a commit at ten points of the way.
"""

import asyncio
import shutil
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from tests.collector.running import trace_body

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.land.lander import Lander
from tracegrade_collector.log.wal import Entry
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.log.wal_writer import WalWriter
from tracegrade_lake import Lake

COMMITS = 5_000
STAGES = 10


async def measure(root: Path, commits: int) -> None:
    """Land so many requests, each by a commit of its own, and print what it costs."""
    lake = Lake.create(root)
    with closing(WalFolder.claim(lake.state)) as folder:
        writer = WalWriter(folder, folder.recover(), max_bytes=1, max_age_secs=60.0)
        lander = Lander(lake, folder, CollectorConfig())
        print(f"{'commits':>8} {'MB':>7} {'ms per commit':>14}")
        for stage in range(1, STAGES + 1):
            started = time.monotonic()
            for number in range(commits // STAGES):
                await writer.append(_entry(stage * commits + number))
                await land(lander)
            per_commit_ms = (time.monotonic() - started) / (commits // STAGES) * 1000
            print(f"{stage * commits // STAGES:>8} {resident_mb():>7.1f} {per_commit_ms:>14.1f}")
        await writer.close()


async def land(lander: Lander) -> None:
    """Land one round, as soon as the writer has sealed its segment."""
    while not lander.land_round():
        await asyncio.sleep(0.001)


def _entry(trace: int) -> Entry:
    body = trace_body(*range(1, 11), trace_id=trace)
    return Entry(time.time_ns(), Signal.TRACES, Encoding.PROTOBUF, "", False, body, 10)


def resident_mb() -> float:
    """Return the resident memory of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp())
    try:
        asyncio.run(measure(folder, int(sys.argv[1]) if sys.argv[1:] else COMMITS))
    finally:
        shutil.rmtree(folder)
