"""Measures what a trial in a container image costs: unpacking it once, and restoring it per trial.

Run by hand; `--mib` says how large the image is. The image is an archive of
files with random content. Each round opens a trial, reads a file through its root file system,
writes one, and removes everything. The table shows medians of rounds.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.benchmarks.bench_overlay import medians
from tests.benchmarks.command_line import while_read
from tests.harness.images.making import archived, entry, layer, layout, plain

from tracegrade_harness.parts.servers import namespace

ROUNDS: Final = 5
FILE_BYTES: Final = 64 * 1024
LAYERS: Final = 8
STEPS: Final = ("restore", "read and write", "remove")


def make(folder: Path, mib: int) -> str:
    """Write an archive of an image, and return its digest."""
    numbers = random.Random(0)  # noqa: S311 - content that does not compress
    files = mib * 1024 * 1024 // FILE_BYTES
    layers = [
        layer(
            *(
                entry(f"srv/{each % 100}/{each}", numbers.randbytes(FILE_BYTES))
                for each in range(start, files, LAYERS)
            )
        )
        for start in range(LAYERS)
    ]
    digest = layout(folder / "layout", layers, pack=plain)
    archived(folder / "layout", folder / "image.tar")
    return digest


def rounds(folder: Path, digest: str) -> Iterator[list[float]]:
    """Yield the time of unpacking, and then what the steps of each round took, in seconds."""
    from tracegrade_harness.loading.model import suite_classes  # noqa: PLC0415
    from tracegrade_harness.parts.environment import (  # noqa: PLC0415 - starts threads
        EnvironmentTemplate,
    )
    from tracegrade_harness.parts.folders.folders import removed  # noqa: PLC0415

    image = {"path": "image.tar", "digest": digest}
    declared = suite_classes().environment.model_validate({"image": image})
    template = EnvironmentTemplate(declared, folder)
    began = time.perf_counter()
    template.freeze(folder / "frozen")
    yield [time.perf_counter() - began]
    for _ in range(ROUNDS):
        times = [time.perf_counter()]
        environment = template.open(folder / "trial")
        times.append(time.perf_counter())
        world = environment.world
        assert world is not None
        assert len((world.root / "srv/0/0").read_bytes()) == FILE_BYTES
        (world.root / "srv/0/0").write_text("other")
        times.append(time.perf_counter())
        environment.close()
        removed(folder / "trial")
        times.append(time.perf_counter())
        yield [after - before for before, after in pairwise(times)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=1024)
    mib = parser.parse_args().mib
    namespace.enter()
    if reason := namespace.why_not():
        sys.exit(f"measure_image: {reason}")
    with tempfile.TemporaryDirectory() as name:
        (first,), *others = rounds(Path(name), make(Path(name), mib))
        columns = medians(others)
    print(f"\nan image of {mib} MiB, {'unpacked once':<16}{first * 1e3:10.0f} ms")
    for step, seconds in zip(STEPS, columns, strict=True):
        print(f"  each trial: {step:<16}{seconds * 1e3:10.1f} ms")


if __name__ == "__main__":
    with while_read():
        main()
