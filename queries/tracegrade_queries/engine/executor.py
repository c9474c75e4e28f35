"""The interface that runs the buckets of a job, and its default: threads of this process.

Anything else that can call a function in another place fits the same interface.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol

from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome, end_open
from tracegrade_queries.engine.connection import Limits

SLOT_MB: Final = 2_500
"""Memory for a bucket in a process of its own. Its engine spills beyond; the rest of the process
takes less than that again.
"""

SLOT_LIMITS: Final = Limits(f"{SLOT_MB}MB", threads=1)
"""Limits of a bucket's engine on a machine shared with others, or on another machine."""


class Executor(Protocol):
    """Has a function called for each bucket."""

    @property
    def slots(self) -> int:
        """Number of buckets that run at the same time."""

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what each bucket gave, in any order.

        Raises:
            Exception: Whatever the work on one of them raised.
        """


class Threads:
    """Threads of this process, each with an engine of its bucket's own."""

    def __init__(self, slots: int) -> None:
        """Work on so many buckets at a time."""
        self.slots = slots

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what each bucket gave, in their order; an error ends the work on all others."""
        with ThreadPoolExecutor(self.slots) as pool:
            try:
                yield from pool.map(work, buckets)
            except BaseException:
                end_open()
                raise


def with_limits(buckets: Sequence[Bucket[Any]], limits: Limits) -> list[Bucket[Any]]:
    """Return the buckets, each with these limits of its engine."""
    return [bucket._replace(limits=limits) for bucket in buckets]
