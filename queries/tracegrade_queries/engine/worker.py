"""Processes buckets that wait in the lake: one by its manifest, or a share of all."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tracegrade_lake import Lake
from tracegrade_lake.job_files import JobFiles, find_job_file, runs_with_files
from tracegrade_queries.engine.connection import NO_LIMITS, Limits
from tracegrade_queries.engine.distributed_job import (
    MANIFEST,
    PATIENCE_SECS,
    POLL_SECS,
    outcome_of,
)
from tracegrade_queries.engine.manifest import read_manifest, write_outcome
from tracegrade_queries.errors import ManifestMissing

IDLE_SECS: Final = 300.0
"""A run may begin so much later; and between building and scoring it commits."""

Note = Callable[[str], object]


@dataclass(frozen=True)
class Share:
    """Every so-many-th bucket."""

    index: int
    """From 0."""
    of: int

    def waiting(self, files: JobFiles) -> list[str]:
        """Return those of its manifests that have no outcome, sorted."""
        names = files.names()
        mine = (name for name in names if name.startswith(MANIFEST) and self._has(name))
        return sorted(name for name in mine if outcome_of(name) not in names)

    def _has(self, manifest: str) -> bool:
        return int(re.sub(r"\D", "", manifest)) % self.of == self.index


def work_off(location: str, limits: Limits = NO_LIMITS) -> Mapping[str, int]:
    """Process the bucket of one manifest and write its outcome next to it.

    If the outcome already exists, nothing is done, so the call may be repeated.

    Args:
        location: Path or URL of the manifest, which is inside its lake.
        limits: Limits of the engine; None takes the manifest's value.

    Returns:
        How many rows were staged, by table; none where the outcome was there.

    Raises:
        BadLakePath: It is not the location of a manifest.
        ManifestMissing: It is not there.
        ManifestUnfit: It is not as a job writes it.
        VersionsDiffer: The job has other versions than this process.
    """
    files, name = find_job_file(location)
    return _work_off(files, name, limits)


def work_off_share(
    lake: Lake, share: Share, note: Note, limits: Limits = NO_LIMITS, idle_secs: float = IDLE_SECS
) -> int:
    """Work off a share of all buckets that a run hands out, until it ends.

    A run without a new file for an hour is left out: it has given up, or was killed.

    Args:
        lake: The lake of the buckets.
        share: The share to process.
        note: Gets a line for each bucket.
        limits: As in `work_off`.
        idle_secs: Time to wait for the next bucket; a killed run does not mark its end.

    Returns:
        How many buckets were worked on.
    """
    done = 0
    run: JobFiles | None = None
    deadline = time.monotonic() + idle_secs
    while time.monotonic() < deadline:
        runs = runs_with_files(lake, time.time() - PATIENCE_SECS)
        if run and run not in runs:
            break
        run = runs[-1] if runs else None
        waiting = share.waiting(run) if run else []
        if run and waiting and _worked_off(run, waiting[0], limits, note):
            done += 1
            deadline = time.monotonic() + idle_secs
        elif not waiting:
            time.sleep(POLL_SECS)
    return done


def _worked_off(files: JobFiles, name: str, limits: Limits, note: Note) -> bool:
    """Return whether a bucket was worked on; it is not if its run has ended."""
    try:
        note(worked_off(files.location(name), _work_off(files, name, limits)))
    except ManifestMissing:
        return False
    return True


def worked_off(location: str, rows: Mapping[str, int]) -> str:
    """Return a line about the staged files of a bucket."""
    counts = ", ".join(f"{count:,} of {table}" for table, count in rows.items() if count)
    return f"{location}: {f'rows staged: {counts}' if counts else 'nothing to do'}"


def _work_off(files: JobFiles, name: str, given: Limits) -> Mapping[str, int]:
    if outcome_of(name) in files.names():
        return {}
    content, location = files.read(name), files.location(name)
    if content is None:
        msg = f"there is no manifest at {location}; its job may have ended, or be of another lake"
        raise ManifestMissing(msg)
    work, bucket = read_manifest(content, files.lake, location)
    memory, threads = given.memory or bucket.limits.memory, given.threads or bucket.limits.threads
    outcome = work(bucket._replace(limits=bucket.limits._replace(memory=memory, threads=threads)))
    files.write(outcome_of(name), write_outcome(outcome, files.lake))
    return {table: sum(file.rows for file in staged) for table, staged in outcome.files.items()}
