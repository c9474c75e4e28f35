"""Local processes that work on buckets, for machines with more cores than one process can use.

They end with the job in any case: each holds the reading end of a pipe. Only the job's process has
the other end, which closes when that process ends.
"""

import atexit
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome
from tracegrade_queries.engine.executor import SLOT_LIMITS, with_limits
from tracegrade_queries.errors import WorkerLost


class Processes:
    """New processes that each work on one bucket after another.

    New Python processes import the program's main module again, so a script that uses them must
    begin with `if __name__ == "__main__":`.
    """

    def __init__(self, slots: int) -> None:
        """Work on so many buckets at a time."""
        self.slots = slots

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what each bucket gave as it comes; an error ends the work on all others.

        Raises:
            Exception: Whatever the work on one of them raised.
            WorkerLost: A process was killed.
        """
        context = multiprocessing.get_context("spawn")
        others, own = context.Pipe(duplex=False)
        with (
            others,
            own,
            ProcessPoolExecutor(self.slots, context, _end_with_job, (others,)) as pool,
        ):
            try:
                yield from _results(_submitted(pool, work, with_limits(buckets, SLOT_LIMITS)))
            except BaseException:
                own.close()
                pool.shutdown(wait=True, cancel_futures=True)
                raise


def _submitted(
    pool: ProcessPoolExecutor, work: BucketFunction, buckets: Sequence[Bucket[Any]]
) -> list[Future[Outcome]]:
    with no_interrupts():
        return [pool.submit(work, bucket) for bucket in buckets]


def _results(futures: Sequence[Future[Outcome]]) -> Iterator[Outcome]:
    try:
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool as error:
        msg = (
            "a process that worked on a bucket was killed, maybe for want of memory; nothing was "
            "committed, run this again with fewer --slots or --engine threads"
        )
        raise WorkerLost(msg) from error


@contextmanager
def no_interrupts() -> Iterator[None]:
    """Let processes that are started in the block ignore Ctrl-C: the job ends them.

    Here the signal takes effect at the end of the block. A mask alone does not suffice: another
    thread would take the signal. The main thread would then leave a process that has started but
    has not received its work.
    """
    interrupts: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    holds = threading.current_thread() is threading.main_thread() and handler is not None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    if holds:
        signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if holds:
            signal.signal(signal.SIGINT, handler)
        if interrupts:
            signal.raise_signal(signal.SIGINT)


def _end_with_job(job: Connection) -> None:
    ended, ask = multiprocessing.Pipe(duplex=False)
    watcher = threading.Thread(target=_exit_when_closed, args=(job, ended), daemon=True)
    watcher.start()

    def stop() -> None:
        ask.close()
        watcher.join()

    # A thread that still runs keeps its references, and DuckDB's binding reports that as an error.
    atexit.register(stop)


def _exit_when_closed(job: Connection, ended: Connection) -> None:
    if job in wait([job, ended]):
        os._exit(1)
