"""Writes files in a second thread, one at a time, while the next rows are made.

Compressing and syncing a file takes about as long as making its rows, and needs no Python.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Final, TypeVar

T = TypeVar("T")

_THREAD: Final = ThreadPoolExecutor(1, "files")
_last: list[Future[Any]] = []


def run_in_background(work: Callable[[], T]) -> Future[T]:
    """Wait until the work before has ended, begin this, and return where its result will be.

    So at most one is under way, which bounds the memory, and who begins anew after a failure
    never meets a file that an earlier try is still writing.
    """
    wait(_last)
    future = _THREAD.submit(work)
    _last[:] = [future]
    return future
