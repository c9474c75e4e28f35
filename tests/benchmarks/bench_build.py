"""How fast raw spans become steps: real frameworks' captured traces, each copied under new ids.

Run by hand or by `make bench`; `--spans` and `--only` set how many of what: ten million with
`--spans 10000000`. No two copies of one chunk say the same, so that no text is read once for all.
Landing is not timed here; `bench_collector.py` does that.

Captured runs have two or three calls of a model. `--history 5 20 50 200` builds runs of so many
calls, each of which sends all that was said before, in the forms of three instrumentations; a run
of `make bench` does both.
"""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from tests.benchmarks.command_line import while_read
from tests.benchmarks.histories import FORMS, request

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.rows.rows import span_rows
from tracegrade_collector.rows.sources import Record
from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.build.build import build

CAPTURES = Path(__file__).parents[1] / "queries" / "captures"
SPANS = 100_000
CHUNK_SPANS = 50_000
"""Spans that are read from the captures; more are these under other ids, received later."""
HISTORY = (13,)
HISTORY_SPANS = 40_000
COMMITTED_CALLS = 2_000
RECEIVED_NS = 1_763_762_400_000_000_000


def copied(text: str, copy: int) -> bytes:
    """Return a captured request as of another trace, which is about a city of another name."""
    renamed = re.sub(
        r'("traceId": ?")[0-9a-f]{8}', lambda found: f"{found[1]}{copy + 1:08x}", text
    )
    return renamed.replace("Paris", f"Paris {copy}").encode()


def read(texts: Sequence[str], copies: int) -> pa.Table:
    """Return the rows that these copies of the captures land as."""
    bodies = [copied(text, copy) for copy in range(copies) for text in texts]
    records = [
        Record(seq, RECEIVED_NS, Signal.TRACES, Encoding.JSON, "", body)
        for seq, body in enumerate(bodies, 1)
    ]
    return span_rows(records, "bench")


def land(lake: Lake, rows: pa.Table, chunk: int) -> None:
    """Land the rows under the ids of this chunk, received a second after the one before."""
    changed = {
        "trace_id": pc.utf8_replace_slice(rows["trace_id"], 8, 12, f"{chunk:04x}"),
        "received_ns": pc.add(rows["received_ns"], chunk * 1_000_000_000),
        "wal_seq": pc.add(rows["wal_seq"], chunk * len(rows)),
    }
    for name, column in changed.items():
        rows = rows.set_column(rows.column_names.index(name), rows.field(name), column)
    lake.append(RAW_SPANS, rows)


def land_captures(lake: Lake, spans: int, only: Sequence[str]) -> None:
    """Land copies of the captures that have one of these names."""
    paths = sorted(CAPTURES.glob("spans/*/*.json"))
    texts = [path.read_text() for path in paths if any(name in path.name for name in only)]
    rows = read(texts, -(-min(spans, CHUNK_SPANS) // len(read(texts, 1))))
    for chunk in range(-(-spans // len(rows))):
        land(lake, rows, chunk)


def land_histories(lake: Lake, spans: int, calls: int, forms: Sequence[str]) -> None:
    """Land runs of so many calls of a model, about as many of each form."""
    runs = max(1, spans // (2 * calls))
    size = max(1, COMMITTED_CALLS // calls)
    for first in range(0, runs, size):
        records = [
            Record(run + 1, RECEIVED_NS + run, Signal.TRACES, Encoding.JSON, "", body)
            for run in range(first, min(runs, first + size))
            for body in [request(forms[run % len(forms)], run, calls)]
        ]
        lake.append(RAW_SPANS, span_rows(records, "bench"))


def measure(title: str, land_all: Callable[[Lake], None]) -> None:
    """Build a lake in a process of its own, and print a line."""
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        land_all(lake)
        command = [sys.executable, "-m", __spec__.name, "--lake", folder, title]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        print(done.stdout, end="", flush=True)


def build_lake(folder: str, title: str) -> None:
    """Build a lake, and print what it took."""
    lake = Lake.open(Path(folder) / "lake")
    start_secs, start_cpu = time.perf_counter(), time.process_time()
    built = build(lake)
    secs, cpu = time.perf_counter() - start_secs, time.process_time() - start_cpu
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{title}: {built.new_spans:,} spans of {built.traces:,} traces became {built.steps:,} "
        f"steps in {secs:.1f} s: {built.new_spans / secs:,.0f} spans/s; {cpu:.1f} s of CPU time, "
        f"{cpu / built.new_spans * 1e6:.0f} us a span; at most {peak_mb:,} MB resident",
        flush=True,
    )


def main() -> None:
    """Print one line for the captures, and one for each length of a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", type=int, help="at least so many")
    parser.add_argument("--only", nargs="*", default=[""], help="captures with one of these names")
    parser.add_argument("--history", nargs="+", type=int, default=[], help="calls of a run")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=[*FORMS], help="of histories")
    parser.add_argument("--lake", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.lake:
        build_lake(*options.lake)
        return
    spans = options.spans or HISTORY_SPANS
    if not options.history:
        land_all = partial(land_captures, spans=options.spans or SPANS, only=options.only)
        measure("captures", land_all)
        spans = min(spans, HISTORY_SPANS)
    for calls in options.history or HISTORY:
        land_all = partial(land_histories, spans=spans, calls=calls, forms=options.forms)
        measure(f"{calls} calls a run", land_all)


if __name__ == "__main__":
    with while_read():
        main()
