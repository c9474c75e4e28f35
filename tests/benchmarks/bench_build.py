"""How fast raw spans become steps: real frameworks' captured traces, each copied under new ids.

Run by hand or by `make bench`; `--copies` and `--only` set how much of what. Landing is not timed
here; `bench_collector.py` does that.
"""

import argparse
import re
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.lake import RAW_SPANS, Lake
from tracegrade_collector.rows.rows import span_rows
from tracegrade_collector.rows.sources import Record
from tracegrade_queries.build import build

CAPTURES = Path(__file__).parents[1] / "queries" / "captures"
COPIES = 900  # about 100,000 spans
RECEIVED_NS = 1_763_762_400_000_000_000


def copied(text: str, copy: int) -> bytes:
    """Return a captured request whose trace ids are those of one copy."""
    renamed = re.sub(
        r'("traceId": ?")[0-9a-f]{8}', lambda found: f"{found[1]}{copy + 1:08x}", text
    )
    return renamed.encode()


def land(lake: Lake, texts: Sequence[str], copies: range) -> None:
    """Land these copies of the captures, received a second after those before."""
    bodies = [copied(text, copy) for copy in copies for text in texts]
    received_ns = RECEIVED_NS + copies.start * 1_000_000_000
    records = [
        Record(seq, received_ns, Signal.TRACES, Encoding.JSON, "", body)
        for seq, body in enumerate(bodies, 1 + copies.start * len(texts))
    ]
    lake.append(RAW_SPANS, span_rows(records, "bench"))


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=COPIES, help="of each captured trace")
    parser.add_argument("--only", nargs="*", default=[""], help="captures with one of these names")
    options = parser.parse_args()
    paths = sorted(CAPTURES.glob("*.json"))
    texts = [path.read_text() for path in paths if any(name in path.name for name in options.only)]
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        for start in range(0, options.copies, COPIES):
            land(lake, texts, range(start, min(start + COPIES, options.copies)))
        start_secs, start_cpu = time.perf_counter(), time.process_time()
        built = build(lake)
        secs, cpu = time.perf_counter() - start_secs, time.process_time() - start_cpu
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{built.new_spans:,} spans of {built.traces:,} traces became {built.steps:,} steps "
        f"in {secs:.1f} s: {built.new_spans / secs:,.0f} spans/s; "
        f"{built.new_spans / cpu:,.0f} spans/s of CPU time, at most {peak_mb:,} MB"
    )


if __name__ == "__main__":
    main()
