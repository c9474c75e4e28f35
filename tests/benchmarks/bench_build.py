"""How fast raw spans become steps: real frameworks' captured traces, each copied under new ids.

Run by hand or by `make bench`. Landing is not timed here; `bench_collector.py` does that.
"""

import re
import tempfile
import time
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


def main() -> None:
    """Print one line."""
    texts = [path.read_text() for path in sorted(CAPTURES.glob("*.json"))]
    bodies = [copied(text, copy) for copy in range(COPIES) for text in texts]
    records = [
        Record(seq, RECEIVED_NS, Signal.TRACES, Encoding.JSON, "", body)
        for seq, body in enumerate(bodies, 1)
    ]
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        lake.append(RAW_SPANS, span_rows(records, "bench"))
        start = time.perf_counter()
        built = build(lake)
        secs = time.perf_counter() - start
    print(
        f"{built.new_spans:,} spans of {built.traces:,} traces became {built.steps:,} steps "
        f"in {secs:.1f} s: {built.new_spans / secs:,.0f} spans/s"
    )


if __name__ == "__main__":
    main()
