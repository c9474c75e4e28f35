"""Notes of a scoring run for the next one: the files in which no work was left.

Its own module because a note that is wrong would leave scores out of date. Files never change, so
what is noted stays true of a date for as long as it consists of the same files. A run notes after
its last commit; one that is killed before leaves dates whose files are not those noted, at which
the next one looks.
"""

import datetime
from collections.abc import Iterable
from typing import Final, NamedTuple

import pyarrow as pa

from tracegrade_lake import VERDICTS, Lake, StagedFile, Table
from tracegrade_lake.commit import LiveFile
from tracegrade_lake.tables import is_known, rows_of
from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.schema import TRAJECTORIES
from tracegrade_scoring.noted_files import SCORED_FILES
from tracegrade_scoring.schema import (
    SCORE_SUMS,
    SCORER_VERSION,
    TRAJECTORY_SCORES,
)
from tracegrade_scoring.tasks import Specification

NOTED: Final = (TRAJECTORIES, VERDICTS, TRAJECTORY_SCORES, SCORE_SUMS)
"""The tables that decide on what is scored, and whose files are noted."""


class ProcessedFile(NamedTuple):
    """A file of one of the noted tables."""

    table: str
    path: str
    date: str | None
    rows: int

    @classmethod
    def of(cls, table: Table, file: LiveFile) -> "ProcessedFile":
        """Return what is noted of a live file."""
        return cls(table.name, file.path, file.date, file.rows)

    @classmethod
    def staged(cls, table: Table, file: StagedFile) -> "ProcessedFile":
        """Return what is noted of a staged file once it is committed."""
        return cls(table.name, file.name, file.partition.get("date"), file.rows)


class LastScoring(NamedTuple):
    """The notes of the last run."""

    done: frozenset[ProcessedFile]
    """Files of dates at which nothing is left to do."""
    waiting: frozenset[ProcessedFile]
    """Files of all other dates."""
    scored_with: str
    """As `scored_with` has it; '' if nothing was noted."""

    @property
    def files(self) -> frozenset[ProcessedFile]:
        """All noted files."""
        return self.done | self.waiting


def last_scoring(lake: Lake) -> LastScoring:
    """Return what the last run noted; nothing if it was another version, or there was none."""
    rows = rows_of(lake, SCORED_FILES).to_pylist() if is_known(lake, SCORED_FILES) else []
    found: dict[bool, set[ProcessedFile]] = {False: set(), True: set()}
    digest = ""
    for row in rows:
        date = row["date"] and str(row["date"])
        found[row["waits"]].add(ProcessedFile(row["table_name"], row["path"], date, row["rows"]))
        digest = row["scored_with"]
    return LastScoring(frozenset(found[False]), frozenset(found[True]), digest)


def last_scored_ms(release_scores: Iterable[LiveFile]) -> int | None:
    """Return when scores were written last, ms since 1970; None if they never were.

    Args:
        release_scores: The files of that table, which each scoring run replaces and no compaction
            rewrites.
    """
    return max((file.modified_ms for file in release_scores), default=None)


def files_now(pinned: PinnedLake) -> frozenset[ProcessedFile]:
    """Return the files of the noted tables in a pinned lake."""
    return frozenset(
        ProcessedFile.of(table, file)
        for table in NOTED
        if table.name in pinned.tables
        for file in pinned.tables[table.name].files
    )


def scored_with(specification: Specification) -> str:
    """Return a hash of the definitions, tasks and tools that a run scores with."""
    return f"{SCORER_VERSION}/{specification.hash}"


def noted(
    files: Iterable[ProcessedFile], waiting_dates: Iterable[str], specification: Specification
) -> LastScoring:
    """Return the notes of a run.

    Args:
        files: All files after the run.
        waiting_dates: Dates with traces that must still be scored.
        specification: Tasks and tools that it scored against.
    """
    waiting, all_files = frozenset(waiting_dates), frozenset(files)
    later = frozenset(file for file in all_files if file.date in waiting)
    return LastScoring(all_files - later, later, scored_with(specification))


def note_scoring(lake: Lake, before: LastScoring, now: LastScoring) -> None:
    """Note what a run left, unless that is what the one before it noted."""
    if now == before:
        return
    if lake.columns(SCORED_FILES.name) not in (None, SCORED_FILES.arrow().names):
        lake.drop(SCORED_FILES.name)  # of another version
    rows = [_row(file, now) for file in sorted(now.files, key=lambda file: file[:2])]
    lake.replace(SCORED_FILES, pa.Table.from_pylist(rows, SCORED_FILES.arrow()))


def _row(file: ProcessedFile, now: LastScoring) -> dict[str, object]:
    return {
        "table_name": file.table,
        "path": file.path,
        "date": file.date and datetime.date.fromisoformat(file.date),
        "rows": file.rows,
        "waits": file in now.waiting,
        "scored_with": now.scored_with,
    }
