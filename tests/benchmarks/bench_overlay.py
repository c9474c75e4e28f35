"""What restoring a large folder for a trial costs: as a copy, and as an overlay.

Run by hand or by `make bench`; `--files` says how many. Each round restores the folder, which is
proved by reading all of it, writes one file, sees what changed, and removes everything. The table
shows medians of rounds.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.benchmarks.command_line import while_read

from tracegrade_harness.parts.servers import namespace

ROUNDS: Final = 5
FILE_BYTES: Final = 1000
FOLDERS: Final = 100
STEPS: Final = ("restore", "of it proof", "see one change", "remove")


def make(folder: Path, files: int) -> None:
    """Write a folder with so many files."""
    for each in range(files):
        path = folder / f"{each % FOLDERS}" / f"{each}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{each} ".ljust(FILE_BYTES, "x"))


def rounds(folder: Path, *, overlay: bool) -> Iterator[list[float]]:
    """Yield what the steps of each round took, in seconds."""
    from tracegrade_harness.loading.model import suite_classes  # noqa: PLC0415
    from tracegrade_harness.parts.environment import (  # noqa: PLC0415 - starts threads
        EnvironmentTemplate,
    )
    from tracegrade_harness.parts.folders.folders import removed  # noqa: PLC0415

    part = {"from": "large", "at": "data", "overlay": overlay}
    declared = suite_classes().environment.model_validate({"files": {"data": part}})
    template = EnvironmentTemplate(declared, folder)
    template.freeze(folder / "frozen")
    for _ in range(ROUNDS):
        times = [time.perf_counter()]
        environment = template.open(folder / "trial")
        times.append(time.perf_counter())
        environment.difference()
        times.append(time.perf_counter())
        (folder / "trial/data/0/0").write_text("other")
        environment.difference()
        times.append(time.perf_counter())
        environment.close()
        removed(folder / "trial")
        times.append(time.perf_counter())
        yield [after - before for before, after in pairwise(times)]


def medians(rows: Iterable[list[float]]) -> list[float]:
    """Return the median of each column."""
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    files = parser.parse_args().files
    namespace.enter()
    if reason := namespace.why_not():
        sys.exit(f"bench_overlay: {reason}")
    with tempfile.TemporaryDirectory() as name:
        make(Path(name, "large"), files)
        columns = {
            kind: medians(rounds(Path(name), overlay=kind == "overlay"))
            for kind in ("copy", "overlay")
        }
    print(f"\n{files} files, ms    {'copy':>10}{'overlay':>10}")
    for i, step in enumerate(STEPS):
        print(f"  {step:<16}" + "".join(f"{columns[kind][i] * 1e3:10.0f}" for kind in columns))


if __name__ == "__main__":
    with while_read():
        main()
