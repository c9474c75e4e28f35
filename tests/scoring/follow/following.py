"""A real follower in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import PATIENCE_SECS

COMMAND = [str(Path(sys.executable).with_name("tracegrade")), "score", "--follow"]


class FollowerProcess:
    """A running `tracegrade score --follow`."""

    def __init__(self, lake: Path, *options: str) -> None:
        """Start it; it may not have begun to score yet."""
        command = [*COMMAND, "--lake", str(lake), *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def stop(self) -> tuple[int, str]:
        """Ask it to end; return its exit code and what it printed."""
        self.process.terminate()
        _, printed = self.process.communicate(timeout=PATIENCE_SECS)
        return self.process.returncode, printed

    def kill(self) -> None:
        """End it without notice."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def following(lake: Path, *options: str) -> Iterator[FollowerProcess]:
    """Run a follower during the block; nothing of it is left afterwards."""
    follower = FollowerProcess(lake, *options)
    try:
        yield follower
    finally:
        if follower.process.poll() is None:
            follower.kill()
