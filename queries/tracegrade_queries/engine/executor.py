"""Who works on the buckets of a job: threads of this process.

Anything else that can call a function in another place fits the same interface.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from tracegrade_queries.engine.bucket_work import Bucket, Outcome, Work, end_open


class Executor(Protocol):
    """Has a function called for each bucket."""

    @property
    def slots(self) -> int:
        """How many buckets are worked on at a time."""

    def run(self, work: Work, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what each bucket gave, in any order.

        Raises:
            Exception: Whatever the work on one of them raised.
        """


class Threads:
    """Threads of this process, each with an engine of its bucket's own."""

    def __init__(self, slots: int) -> None:
        """Work on so many buckets at a time."""
        self.slots = slots

    def run(self, work: Work, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what each bucket gave, in their order; an error ends the work on all others."""
        with ThreadPoolExecutor(self.slots) as pool:
            try:
                yield from pool.map(work, buckets)
            except BaseException:
                end_open()
                raise
