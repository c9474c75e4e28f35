"""What commits cost while many collectors commit to one table, each as fast as it can.

    python -m tests.benchmarks.measure_writers [COMMITS]

Lets 1, 4 and 16 processes share so many commits (128) of one small file each: to a table in a
folder, then on the tests' S3 server, which shares the machine with them.
"""

import os
import sys
import tempfile
from pathlib import Path

from tests.lake.stores import BUCKET, put_environment, s3_server
from tests.lake.writers import write

COMMITS = 128
WRITERS = (1, 4, 16)


def measure(place: str, state: Path, commits: int) -> None:
    """Print a line for each number of writers."""
    for writers in WRITERS:
        done = write(f"{place}/{writers}", state / str(writers), writers, commits // writers)
        rate, calls = len(done.secs) / done.took_secs, len(done.secs)
        half, slow, last = done.secs[calls // 2], done.secs[calls * 95 // 100], done.secs[-1]
        print(
            f"{writers:>8} {rate:>10.1f} {half:>8.2f} {slow:>8.2f} {last:>8.2f} "
            f"{len(done.errors):>7}",
            flush=True,
        )


def main(commits: int) -> None:
    """Measure both places."""
    print(f"{'writers':>8} {'commits/s':>10} {'p50 s':>8} {'p95 s':>8} {'max s':>8} {'errors':>7}")
    with tempfile.TemporaryDirectory() as folder:
        measure(folder, Path(folder, "state"), commits)
        with s3_server() as store:
            put_environment(store, os.environ.__setitem__)
            os.environ["AWS_ENDPOINT_URL"] = f"http://{store.backend}"  # not through the proxy
            measure(f"s3://{BUCKET}/writers", Path(folder, "s3"), commits)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else COMMITS)
