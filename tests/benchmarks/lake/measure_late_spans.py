"""What late spans of a few runs cost the tables that builds and scoring runs write.

    python -m tests.benchmarks.lake.measure_late_spans [--runs N] [--days N] [--late N] [--times N]

A lake of `--days` dates with `--runs` runs each is built, scored and compacted. Then a span of one
run of each of `--late` dates arrives, and the lake is scored, `--times` times. Printed are the CPU
time of each scoring run, the files that it wrote and replaced, and the size of all replaced files
that are kept if such a run takes place each hour.
"""

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from tests.benchmarks.bench_discovery import cpu
from tests.benchmarks.command_line import while_read
from tests.benchmarks.made_lake import make, task_file

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
from tracegrade_lake.maintenance.replaced_files import KEEP_HOURS, PAUSE_HOURS
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.schema import BUILT, BUILT_TRACES
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.schema import SCORE_TABLES
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.specification import usable_specification

WRITTEN: Final = tuple(table.name for table in (*BUILT, BUILT_TRACES, *SCORE_TABLES))
"""The tables that a scoring run writes."""

_ROOTS: Final = """
  SELECT * FROM raw_spans
  WHERE date = $date AND parent_span_id IS NULL
  ORDER BY hash(trace_id || $number) LIMIT 1
"""


def prepare(place: Path, runs: int, days: int) -> tuple[Lake, Specification]:
    """Return a lake that was built from its spans, scored and compacted."""
    lake = make(place / "made", runs * days, days)
    (place / "tasks.yaml").write_text(task_file(), encoding="utf-8")
    specification, _ = usable_specification(place / "tasks.yaml")
    build(lake, full=True)
    score(lake, specification)
    compact(lake, CompactOptions(min_age_secs=0), lambda _: None)
    score(lake, specification)
    return lake, specification


def land_late(lake: Lake, dates: Sequence[str], number: int) -> None:
    """Let one more span of one run of each date arrive now."""
    with connect(lake) as con:
        roots = [
            con.sql(_ROOTS, params={"date": date, "number": str(number)}).to_arrow_table()
            for date in dates
        ]
    rows = pa.concat_tables(roots).cast(RAW_SPANS.arrow()).to_pylist()
    for row in rows:
        row |= {
            "parent_span_id": row["span_id"],
            "span_id": f"{number:016x}",
            "name": "POST",
            "attributes": [("http.request.method", "POST")],
            "attribute_types": "s",
            "content_hash": f"{number:032x}",
            "collector_id": "late",
            "wal_seq": number,
            "received_ns": time.time_ns(),
        }
    lake.append(RAW_SPANS, pa.Table.from_pylist(rows, RAW_SPANS.arrow()))


def live(lake: Lake) -> dict[tuple[str, str], int]:
    """Return the sizes of the files that the tables consist of."""
    return {(name, file.path): file.size for name in WRITTEN for file in lake.live_files(name)}


def measure(lake: Lake, specification: Specification, dates: Sequence[str], number: int) -> None:
    """Print what one late span of each date costs, by table and in sum."""
    land_late(lake, dates, number)
    before = live(lake)
    secs = cpu(lambda: score(lake, specification))
    after = live(lake)
    written = {key: size for key, size in after.items() if key not in before}
    replaced = {key: size for key, size in before.items() if key not in after}
    for name in WRITTEN:
        made, left = (described(files, name) for files in (written, replaced))
        print(f"  {name}: {made} written, {left} replaced")
    print(
        f"{len(dates)} late spans: {secs:.1f} s of CPU, {described(written)} written, "
        f"{described(replaced)} replaced, of {described(after)}; with one such run an hour "
        f"at most {(KEEP_HOURS + PAUSE_HOURS) * sum(replaced.values()) / 1e6:.1f} MB are kept",
        flush=True,
    )


def described(files: Mapping[tuple[str, str], int], name: str | None = None) -> str:
    """Return the number and size of the files of a table; None for all."""
    sizes = [size for (table, _), size in files.items() if name in {None, table}]
    return f"{len(sizes)} files of {sum(sizes) / 1e6:.2f} MB"


def main() -> None:
    """Print what each scoring run took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300, help="of each date")
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--late", type=int, default=3, help="dates of late spans")
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake, specification = prepare(Path(folder), options.runs, options.days)
        dates = sorted({file.date or "" for file in lake.live_files(RAW_SPANS.name)})
        for number in range(1, options.times + 1):
            measure(lake, specification, dates[: options.late], number)


if __name__ == "__main__":
    with while_read():
        main()
