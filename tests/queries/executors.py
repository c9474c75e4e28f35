"""Ways to work on buckets that a job must not notice: its rows are the same."""

from collections.abc import Iterator, Sequence
from typing import Any

from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome
from tracegrade_queries.engine.distributed_job import distribute, job_files
from tracegrade_queries.engine.processes import Processes
from tracegrade_queries.engine.worker import work_off


class Backwards:
    """The last bucket first."""

    slots = 2

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what they gave."""
        return map(work, reversed(buckets))


class Twice:
    """Each bucket is worked on again after its first outcome was lost."""

    slots = 2

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what the second time gave."""
        for bucket in buckets:
            work(bucket)
            yield work(bucket)


class InTheLake:
    """Buckets and outcomes as files in the lake; each manifest is worked off twice."""

    slots = 2

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what was read there."""
        with (
            job_files(buckets[0].lake.open()) as files,
            distribute(work, buckets, files) as distributed,
        ):
            for name in (*distributed.manifests, *distributed.manifests):
                work_off(distributed.files.location(name))
            yield from distributed.outcomes()


EXECUTORS = (Backwards(), InTheLake(), Processes(1), Twice())
