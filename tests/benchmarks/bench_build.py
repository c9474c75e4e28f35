"""How fast raw spans become steps: real frameworks' captured traces, each copied under new ids.

Run by hand or by `make bench`; `--spans` and `--only` set how many of what: ten million with
`--spans 10000000`. No two copies of one chunk say the same, so that no text is read once for all.
Landing is not timed here; `bench_collector.py` does that.
"""

import argparse
import re
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.rows.rows import span_rows
from tracegrade_collector.rows.sources import Record
from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.build.build import build

CAPTURES = Path(__file__).parents[1] / "queries" / "captures"
SPANS = 100_000
CHUNK_SPANS = 50_000
"""Spans that are read from the captures; more are these under other ids, received later."""
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


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", type=int, default=SPANS, help="at least so many")
    parser.add_argument("--only", nargs="*", default=[""], help="captures with one of these names")
    options = parser.parse_args()
    paths = sorted(CAPTURES.glob("spans/*/*.json"))
    texts = [path.read_text() for path in paths if any(name in path.name for name in options.only)]
    copies = -(-min(options.spans, CHUNK_SPANS) // len(read(texts, 1)))
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        rows = read(texts, copies)
        for chunk in range(-(-options.spans // len(rows))):
            land(lake, rows, chunk)
        del rows
        start_secs, start_cpu = time.perf_counter(), time.process_time()
        built = build(lake)
        secs, cpu = time.perf_counter() - start_secs, time.process_time() - start_cpu
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{built.new_spans:,} spans of {built.traces:,} traces became {built.steps:,} steps "
        f"in {secs:.1f} s: {built.new_spans / secs:,.0f} spans/s; {cpu:.1f} s of CPU time, "
        f"{built.new_spans / cpu:,.0f} spans a second of it; at most {peak_mb:,} MB resident"
    )


if __name__ == "__main__":
    main()
