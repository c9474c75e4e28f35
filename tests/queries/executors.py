"""Ways to work on buckets that a job must not notice: its rows are the same."""

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from tracegrade_queries.engine.bucket_work import Bucket, Outcome, Work


class Elsewhere:
    """Each bucket in a process that has nothing of this one's but the bucket."""

    slots = 2

    def run(self, work: Work, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what came back."""
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            yield from pool.map(work, buckets)


class Backwards:
    """The last bucket first."""

    slots = 2

    def run(self, work: Work, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what they gave."""
        return map(work, reversed(buckets))


class Twice:
    """Each bucket is worked on again after its first outcome was lost."""

    slots = 2

    def run(self, work: Work, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what the second time gave."""
        for bucket in buckets:
            work(bucket)
            yield work(bucket)


EXECUTORS = (Backwards(), Elsewhere(), Twice())
