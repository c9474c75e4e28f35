"""Removes the files that scoring runs replaced, once no reader needs them, and shortens logs."""

from typing import Final, NamedTuple

from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeError
from tracegrade_lake.maintenance.checkpoint import shorten_logs
from tracegrade_lake.maintenance.replaced_files import (
    NOTHING_REMOVED,
    RemovedFiles,
    remove_replaced_files,
)
from tracegrade_queries.schema import BUILT, BUILT_FILES, BUILT_TRACES, PRICED_DATES
from tracegrade_scoring.noted_files import SCORED_FILES
from tracegrade_scoring.schema import SCORE_TABLES
from tracegrade_scoring.unscorable import UNSCORABLE_TRACES

MADE_AGAIN: Final = frozenset(
    table.name
    for table in (
        *(*BUILT, BUILT_TRACES, BUILT_FILES, PRICED_DATES),
        *(*SCORE_TABLES, SCORED_FILES, UNSCORABLE_TRACES),
    )
)
"""The tables that builds and scoring runs make from the spans, logs, verdicts and tasks."""


class Removal(NamedTuple):
    """The files that a run removed, of those that earlier runs replaced."""

    removed: RemovedFiles = NOTHING_REMOVED
    fault: str = ""
    """Why not all were removed, or logs not shortened, in one line; '' if nothing failed."""


NO_REMOVAL: Final = Removal()


def clean_up_after_run(lake: Lake, keep_hours: float) -> Removal:
    """Remove old replaced files of all such tables, and shorten logs that got long.

    A failure is described, as the run is done.

    Args:
        lake: The lake, after all commits of a run.
        keep_hours: Time for which a file stays after it was replaced.
    """
    removed, fault = NOTHING_REMOVED, ""
    try:
        removed = remove_replaced_files(lake, MADE_AGAIN, keep_hours)
        shorten_logs(lake, lake.tables())
    except LakeError as error:
        fault = str(error)
    return Removal(removed, fault)
