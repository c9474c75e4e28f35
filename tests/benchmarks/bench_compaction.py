"""What compacting a date costs, how much memory it takes, and what readers gain by it.

Run by hand or by `make bench`; takes about a minute. Times of the compaction are those of the
processor, in a process of its own; look-ups are timed side by side on the files before and after.
"""

import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
from tests.benchmarks.command_line import while_read
from tests.benchmarks.load import Body

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.rows.rows import span_rows
from tracegrade_collector.rows.sources import Record
from tracegrade_lake import RAW_SPANS, Lake

FILES = 40
REQUESTS = 40  # per file
SPANS = 512  # per request
REPEATS = 15

COMPACT = """
import json, sys, time
import pyarrow as pa
from tracegrade_lake import Lake
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
pa.set_cpu_count(1)  # both as in `maintenance.py`
pa.set_memory_pool(pa.system_memory_pool())
options = CompactOptions(min_age_secs=0)
started = time.process_time()
done = compact(Lake.open(sys.argv[1]), options, lambda _: None)
cpu = time.process_time() - started
status = open("/proc/self/status").read()  # getrusage would tell the peak of who started us
peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps({"cpu": cpu, "peak": peak, **done._asdict()}))
"""


def fill(lake: Lake) -> None:
    """Land files of a date that is over, each with some traces of its own."""
    template = Body(SPANS, "/", 0, {})
    day = datetime.now(UTC) - timedelta(days=3)
    received_ns = int(day.timestamp()) * 10**9
    for file in range(FILES):
        records = [
            Record(
                seq, received_ns + seq, Signal.TRACES, Encoding.PROTOBUF, "", body(template, seq)
            )
            for seq in range(file * REQUESTS + 1, (file + 1) * REQUESTS + 1)
        ]
        rows = span_rows(records, "c1")
        staged = lake.stage(RAW_SPANS, rows, f"c1-{records[0].seq:020d}")
        lake.add_files(RAW_SPANS, staged, "c1/traces", records[-1].seq)


def body(template: Body, number: int) -> bytes:
    """Return one request's OTLP bytes."""
    return bytes(template.numbered(number * SPANS)).partition(b"\r\n\r\n")[2]


def compacted(lake: Lake) -> dict[str, float]:
    """Compact in a process of its own, and return what it measured and did."""
    command = [sys.executable, "-c", COMPACT, str(lake.root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def trace_in(files: list[str]) -> str:
    """Return the id of a trace in the middle."""
    query = "SELECT trace_id FROM read_parquet($files) LIMIT 1 OFFSET $middle"
    middle = FILES * REQUESTS * SPANS // 2
    found = duckdb.execute(query, {"files": files, "middle": middle}).fetchall()
    return str(found[0][0])


def look_up_ms(files: dict[str, list[str]], trace: str) -> dict[str, float]:
    """Return the median time to read one trace from each set of files, taken in turn."""
    query = "SELECT * FROM read_parquet($files) WHERE trace_id = $trace"
    times: dict[str, list[float]] = {name: [] for name in files}
    for _ in range(REPEATS):
        for name, paths in files.items():
            started = time.perf_counter()
            assert duckdb.execute(query, {"files": paths, "trace": trace}).fetchall()
            times[name].append((time.perf_counter() - started) * 1000)
    return {name: sorted(found)[REPEATS // 2] for name, found in times.items()}


def main() -> None:
    """Print the table."""
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder))
        fill(lake)
        before = lake.files("raw_spans")
        done = compacted(lake)
        after = lake.files("raw_spans")
        times = look_up_ms({"before": before, "after": after}, trace_in(before))
    sizes = [done[f"bytes_{when}"] / 1e6 for when in ("before", "after")]
    print(f"{done['rows']:,.0f} spans, {len(before)} files → {len(after)}")
    print(f"size                {sizes[0]:.1f} MB → {sizes[1]:.1f} MB")
    print(f"spans per s of CPU  {done['rows'] / done['cpu']:,.0f}")
    print(f"peak memory         {done['peak']:.0f} MB")
    print(f"reading a trace     {times['before']:.1f} ms → {times['after']:.1f} ms")


if __name__ == "__main__":
    with while_read():
        main()
