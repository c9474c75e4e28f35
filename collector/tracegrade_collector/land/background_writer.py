"""Runs work in a second thread, so files are written while rows are made.

Compressing and syncing a file takes about as long as making its rows, and needs no Python.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Final, TypeVar

T = TypeVar("T")

_THREAD: Final = ThreadPoolExecutor(1, "files")
_last: list[Future[Any]] = []


def run_in_background(work: Callable[[], T]) -> Future[T]:
    """Wait for the previous work to end, start this one, and return its future.

    So at most one piece of work is in progress, which bounds the memory, and a retry after a
    failure never meets a file that the failed attempt is still writing.
    """
    wait(_last)
    future = _THREAD.submit(work)
    _last[:] = [future]
    return future
