"""Buckets of a job as files in the lake, for any worker to process, and their outcomes.

A bucket is `_tasks/RUN/manifest-000000.json` of the lake, with its outcome `outcome-000000.json`
in the same folder. Any worker may process it, anywhere and repeatedly. An outcome counts once it
is complete, and its files are checked against it before they are committed.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final

from tracegrade_lake import Lake
from tracegrade_lake.job_files import JobFiles, new_job_files
from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome
from tracegrade_queries.engine.executor import SLOT_LIMITS, Threads, with_limits
from tracegrade_queries.engine.manifest import read_outcome, write_manifest
from tracegrade_queries.errors import WorkerLost

MANIFEST: Final = "manifest-"
OUTCOME: Final = "outcome-"

POLL_SECS: Final = 0.5
"""Between two looks for outcomes: a bucket takes ten times as long or more."""

PATIENCE_SECS: Final = 3_600.0
"""Without any outcome, after which a job gives up: a bucket takes a minute at most."""


def manifest_name(number: int) -> str:
    """Return the name of the manifest of the bucket with that number, from 0."""
    return f"{MANIFEST}{number:06d}.json"


def outcome_of(manifest: str) -> str:
    """Return the name of the outcome that belongs to a manifest."""
    return OUTCOME + manifest.removeprefix(MANIFEST)


@dataclass(frozen=True)
class DistributedJob:
    """The buckets of a job, written to the lake."""

    files: JobFiles
    manifests: Sequence[str]
    """Their names."""

    def outcomes(
        self, is_over: Callable[[], bool] = lambda: False, patience_secs: float = PATIENCE_SECS
    ) -> Iterator[Outcome]:
        """Yield each outcome once, as they come.

        Args:
            is_over: Returns whether all workers have ended; may raise what ended them.
            patience_secs: How long to wait for the next one.

        Raises:
            ManifestUnfit: An outcome is not as a worker writes it.
            StagedFileUnfit: A file of one is not there, or another one.
            VersionsDiffer: A worker has other versions than this process.
            WorkerLost: None will come any more, or none came for so long.
        """
        missing = {outcome_of(name) for name in self.manifests}
        last = time.monotonic()
        while missing:
            over = is_over()
            found = sorted(missing & self.files.names())
            for name in found:
                yield self._read(name)
                last = time.monotonic()
            missing -= set(found)
            if missing and not found:
                if over or time.monotonic() - last > patience_secs:
                    raise self._lost(missing, patience_secs)
                time.sleep(POLL_SECS)

    def _read(self, name: str) -> Outcome:
        content = self.files.read(name)
        location = self.files.location(name)
        if content is None:
            msg = f"{location} was removed while the job waited for it; run the job again"
            raise WorkerLost(msg)
        return read_outcome(content, self.files.lake, location)

    def _lost(self, missing: set[str], patience_secs: float) -> WorkerLost:
        first = self.files.location(MANIFEST + min(missing).removeprefix(OUTCOME))
        buckets = f"{len(missing)} of {len(self.manifests)} buckets have no outcome"
        return WorkerLost(
            f"{buckets}: their workers have ended, or took more than {patience_secs:,.0f} s; "
            f"`tracegrade task run {first}` shows why, then run the job again"
        )


@contextmanager
def distribute(
    work: BucketFunction, buckets: Sequence[Bucket[Any]], files: JobFiles, first: int = 0
) -> Iterator[DistributedJob]:
    """Write buckets to the lake; they and their outcomes are gone after the block.

    Args:
        work: The work on each bucket.
        buckets: At least one.
        files: The files of the run that hands out the buckets.
        first: The number of the first bucket; no other bucket of the run may have it.

    Raises:
        ManifestUnfit: A specification cannot be written as JSON.
    """
    names = [manifest_name(number) for number in range(first, first + len(buckets))]
    try:
        for name, bucket in zip(names, buckets, strict=True):
            files.write(name, write_manifest(work, bucket))
        yield DistributedJob(files, names)
    finally:
        files.remove([*names, *map(outcome_of, names)])


@contextmanager
def job_files(lake: Lake) -> Iterator[JobFiles]:
    """Begin a run, and end it with the block."""
    files = new_job_files(lake)
    try:
        yield files
    finally:
        files.remove_all()


def is_small(buckets: Sequence[Bucket[Any]], slots: int) -> bool:
    """Return whether buckets are done sooner here than handed out: there is none for each slot."""
    return len(buckets) < slots


class ManifestsInLake(AbstractContextManager["ManifestsInLake"]):
    """Whoever runs `tracegrade task` on the manifests in the lake; one run for all jobs."""

    def __init__(self, slots: int, note: Callable[[str], object]) -> None:
        """Hand out buckets for so many workers, and note where they are."""
        self.slots = slots
        self._note = note
        self._written = 0
        self._stack = ExitStack()
        self._files: JobFiles | None = None

    def __exit__(self, *_: object) -> None:
        """End the run, so that those who work on shares end."""
        self._stack.close()

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what each bucket gave, as workers are done with them.

        Raises:
            ManifestUnfit, StagedFileUnfit, VersionsDiffer, WorkerLost: As for `outcomes` of a
                `DistributedJob`.
        """
        if is_small(buckets, self.slots):
            yield from Threads(self.slots).run(work, buckets)
            return
        if self._files is None:
            self._files = self._stack.enter_context(job_files(buckets[0].lake.open()))
        limited = with_limits(buckets, SLOT_LIMITS)
        first, self._written = self._written, self._written + len(buckets)
        with distribute(work, limited, self._files, first) as distributed:
            location = distributed.files.location(distributed.manifests[0])
            self._note(
                f"{len(buckets)} manifests wait for `tracegrade task`, the first is {location}"
            )
            yield from distributed.outcomes()
