"""What landing costs, stage by stage, beside the slow way; and how fast one lander lands a log.

Times are those of the processor (this process alone), so that other work on the machine hardly
changes them. Run by hand or by `make bench`; takes about 20 seconds.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tests.benchmarks.load import Body

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal, decode, reject_invalid
from tracegrade_collector.land import landed_rows
from tracegrade_collector.land.landed_rows import LandedRows
from tracegrade_collector.land.lander import Lander
from tracegrade_collector.log.wal import Entry, read_segment, record_header
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.item_columns import span_columns
from tracegrade_collector.rows.memory import use_one_allocator
from tracegrade_collector.rows.row_loop import span_rows as rows_by_loop
from tracegrade_collector.rows.rows import span_rows
from tracegrade_collector.rows.sources import Record
from tracegrade_collector.rows.wire import item_columns
from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_lake.staging import parquet_options

SPANS = 512  # per request
REQUESTS = 42  # 16 MB, a batch of the lander
SEGMENTS = 40
REPEATS = 5
LOOP_REPEATS = 1
RECEIVED_NS = 1_763_762_400_000_000_000


def bodies(first: int, count: int) -> list[bytes]:
    """Return requests of agent spans, none of which has the ids of another."""
    template = Body(SPANS, "/", 0, {})
    firsts = range(first * SPANS, (first + count) * SPANS, SPANS)
    return [bytes(template.numbered(each)).partition(b"\r\n\r\n")[2] for each in firsts]


def cpu_secs(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the least processor time that the work took."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def print_stages(folder: Path) -> None:
    """Print one line per stage of landing."""
    some = bodies(0, REQUESTS)
    records = [
        Record(seq, RECEIVED_NS, Signal.TRACES, Encoding.PROTOBUF, "", body)
        for seq, body in enumerate(some, 1)
    ]
    segment = folder / "stages.wal"
    write_segment(segment, 1, some)
    decoded = item_columns(some, Signal.TRACES)
    rows = span_rows(records, "bench")
    redactor = Redactor.from_options(CollectorConfig(), folder)
    landed = LandedRows(CollectorConfig().resent_rows, landed_rows.row_positions)
    stages: dict[str, Callable[[], object]] = {
        "check in the receiver": lambda: [check(body) for body in some],
        "read the log": lambda: read(segment),
        "make rows": lambda: span_rows(records, "bench"),
        "  of it decode": lambda: item_columns(some, Signal.TRACES),
        "  of it columns": lambda: span_columns(decoded),
        "redact": lambda: redactor.redact_rows(rows),
        "mark resent": lambda: landed.mark(rows),
        "write Parquet": lambda: write(rows),
    }
    print(f"microseconds of processor per span ({len(some[0]) / SPANS:.0f} bytes)")
    for name, work in stages.items():
        print(f"  {name:<24} {cpu_secs(work) * 1e6 / rows.num_rows:6.2f}")
    slow = cpu_secs(lambda: rows_by_loop(records, "bench"), LOOP_REPEATS)
    print(f"  {'rows message by message':<24} {slow * 1e6 / rows.num_rows:6.2f}")


def check(body: bytes) -> object:
    """Do what the receiver does with a request before it logs it."""
    return reject_invalid(decode(body, Signal.TRACES, Encoding.PROTOBUF))


def read(segment: Path) -> list[object]:
    """Return the records of a segment."""
    with open(segment, "rb") as file:
        return list(read_segment(file))


def write(rows: pa.Table) -> None:
    """Write rows as a file of the lake, in memory."""
    rows = rows.drop_columns(["date"])
    pq.write_table(rows, pa.BufferOutputStream(), **parquet_options(rows.schema, rows.num_rows))


def write_segment(path: Path, first_seq: int, some: list[bytes]) -> None:
    """Write requests as the receiver logs them."""
    with open(path, "wb") as file:
        for seq, body in enumerate(some, first_seq):
            entry = Entry(
                RECEIVED_NS, Signal.TRACES, Encoding.PROTOBUF, "", False, body, items=SPANS
            )
            file.write(record_header(entry, seq) + body)


def print_whole(lake: Path) -> None:
    """Print what one lander, in a process of its own, takes for a log of many segments."""
    log = lake / "wal" / "c00000000"
    log.mkdir(parents=True)
    for number in range(SEGMENTS):
        first = number * REQUESTS
        write_segment(log / f"{first + 1:020d}.wal", first + 1, bodies(first, REQUESTS))
    (log / f"{SEGMENTS * REQUESTS + 1:020d}.wal").touch()  # the one that a receiver would write
    command = [sys.executable, "-m", "tests.benchmarks.bench_landing", str(lake)]
    subprocess.run(command, check=True)
    spans = SEGMENTS * REQUESTS * SPANS
    landed = sum(file.rows for file in Lake.open(str(lake)).live_files(RAW_SPANS.name))
    print(f"  landed {landed:,} of {spans:,}")


def land(lake: Path) -> None:
    """Land the log of a lake in this process, and print what it took."""
    use_one_allocator()
    folder = WalFolder.claim(lake)
    lander = Lander(Lake.create(str(lake)), folder, CollectorConfig())
    idle_mb = memory_mb("VmRSS")
    started, wall = time.process_time(), time.perf_counter()
    while lander.land_round():
        pass
    cpu, wall = time.process_time() - started, time.perf_counter() - wall
    spans = SEGMENTS * REQUESTS * SPANS
    print(f"a whole lander, {SEGMENTS} segments of 16 MB:")
    print(f"  {spans / cpu:,.0f} spans/s of processor, {spans / wall:,.0f} spans/s by the clock")
    peak_mb, now_mb = memory_mb("VmHWM"), memory_mb("VmRSS")
    print(f"  memory {idle_mb} MB before, {peak_mb} MB at most, {now_mb} MB after")


def memory_mb(kind: str) -> int:
    """Return a number of `/proc/self/status`; getrusage would count the parent's memory, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (line for line in lines if line.startswith(kind))
    return int(found.split()[1]) >> 10


if __name__ == "__main__":
    if len(sys.argv) > 1:
        land(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            print_stages(Path(temporary))
            print_whole(Path(temporary) / "lake")
