"""The Spark session of a job: the active one, else one that is started when it is needed."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

from pyspark.sql import SparkSession

from tracegrade_queries.errors import BadEngine

_STDOUT: Final = 1
_STDERR: Final = 2


class Session:
    """A session that is started at its first use; ended with the block if it was started here."""

    def __init__(self, master: str | None, note: Callable[[str], object]) -> None:
        """Look for an active session.

        Args:
            master: URL of the cluster; None for the active session, else the configured one.
            note: Gets a line before a session is started, which takes seconds.

        Raises:
            BadEngine: There is an active session, and a master was named.
        """
        self._active = SparkSession.getActiveSession()
        self._master = master
        self._note = note
        self._own: SparkSession | None = None
        if self._active and master:
            msg = f"a Spark session is active, so --master {master} has no effect; leave it out"
            raise BadEngine(msg)

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Stop what was started."""
        if self._own:
            self._own.stop()

    def slots(self) -> int:
        """Return how many tasks the active session runs at a time.

        Raises:
            BadEngine: There is none, or it does not tell.
        """
        if self._active:
            parallelism = self._active.conf.get("spark.sql.leafNodeDefaultParallelism", None)
            return int(parallelism or self._active.sparkContext.defaultParallelism)
        msg = "it is unknown how many buckets the cluster scores at a time; give --slots"
        raise BadEngine(msg)

    def started(self) -> SparkSession:
        """Return the session."""
        if not self._active and not self._own:
            self._note(f"starting Spark on {self._master or 'its configured master'}")
            self._own = _start(self._master)
        found = self._active or self._own
        assert found  # noqa: S101 - one of both is there now
        return found


def _start(master: str | None) -> SparkSession:
    # Executors run the interpreter of this path unless the environment or Spark's files name one.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("tracegrade")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    with _stdout_to_stderr():
        return (builder.master(master) if master else builder).getOrCreate()


@contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Let processes that start in the block write to stderr alone: stdout is for summaries."""
    sys.stdout.flush()
    before = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(before, _STDOUT)
        os.close(before)
