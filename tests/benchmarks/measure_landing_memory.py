"""Peak memory of a lander whose requests hold as much as they may: it must stay below 1 GB.

    python -m tests.benchmarks.measure_landing_memory [REQUESTS]

A request is a span of 1.9 million empty attributes, or events, or links, in under 4 MB; or half as
many objects as JSON. Each kind lands in a process of its own, by the options as they are.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.benchmarks.bench_landing import memory_mb
from tests.collector.encoding.wire_bytes import field

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.land.lander import Lander
from tracegrade_collector.log.wal import Entry, record_header
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.rows.memory import use_one_allocator
from tracegrade_lake import RAW_SPANS, Lake

REQUESTS: Final = 83
VALUES: Final = 1_900_000
IDS: Final = field(1, b"t" * 16) + field(2, b"s" * 8)


def attributes(key: bytes) -> bytes:
    """Return a request with one span of many attributes without a value."""
    entry = field(9, field(1, key) if key else b"")
    return field(1, field(2, field(2, IDS + entry * (4 * VALUES // (len(entry) + 2)))))


def members(number: int) -> bytes:
    """Return a request with one span of many empty events (11) or links (13)."""
    return field(1, field(2, field(2, IDS + field(number, b"") * VALUES)))


def json() -> bytes:
    """Return a request of one span with many attributes, as JSON."""
    span = b'{"traceId":"%s","spanId":"%s","attributes":[' % (b"74" * 16, b"73" * 8)
    span += b",".join([b"{}"] * (VALUES // 2)) + b"]}"
    return b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + span + b"]}]}]}"


KINDS: Final = {
    "empty attributes": lambda: attributes(b""),
    "named attributes": lambda: attributes(b"k"),
    "events": lambda: members(11),
    "links": lambda: members(13),
    "JSON": json,
}


def land(kind: str, requests: int, root: Path) -> None:
    """Land so many requests of a kind in this process, and print what it took."""
    use_one_allocator()
    body = KINDS[kind]()
    encoding = Encoding.JSON if kind == "JSON" else Encoding.PROTOBUF
    entry = Entry(time.time_ns(), Signal.TRACES, encoding, "", False, body, items=1)
    log = root / "wal" / "c00000000"
    log.mkdir(parents=True)
    for seq in range(1, requests + 1):
        (log / f"{seq:020d}.wal").write_bytes(record_header(entry, seq) + body)
    (log / f"{requests + 1:020d}.wal").touch()  # the one that a receiver would write
    lander = Lander(Lake.create(root), WalFolder.claim(root), CollectorConfig())
    idle_mb = memory_mb("VmRSS")
    while lander.land_round():
        pass
    landed = sum(file.rows for file in Lake.open(root).live_files(RAW_SPANS.name))
    size = f"{len(body) / 1e6:.1f} MB each"
    print(f"{kind:<18} {size:>12} {idle_mb:>8} {memory_mb('VmHWM'):>8} {landed:>8}", flush=True)


def main(arguments: list[str]) -> None:
    """Measure each kind, or the one that is named, in this process."""
    if len(arguments) > 1:
        land(arguments[0], int(arguments[1]), Path(arguments[2]))
        return
    requests = arguments[0] if arguments else str(REQUESTS)
    print(f"{requests + ' requests of':<18} {'':>12} {'MB idle':>8} {'MB peak':>8} {'landed':>8}")
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            module = "tests.benchmarks.measure_landing_memory"
            subprocess.run([sys.executable, "-m", module, kind, requests, folder], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
