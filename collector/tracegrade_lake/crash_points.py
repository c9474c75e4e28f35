"""Points at which a test kills a process: after each step of receiving, landing and scoring.

`TRACEGRADE_CRASH_AT=record_synced` ends the process when it comes there for the first time,
`record_synced:3` when for the third. It ends as by `kill -9`: nothing is flushed or undone.
Without that variable a point costs one comparison.
"""

import os

VARIABLE = "TRACEGRADE_CRASH_AT"
EXIT_CODE = 137  # what a shell reports for a process that was killed

RECEIVING = (
    "segment_created",
    "segment_named",
    "record_written",
    "record_synced",
    "record_answered",
    "segment_sealed",
)
"""The points a receiver passes, in order; "answered" is when the client may get its response."""

LANDING = (
    "segment_read",
    "dead_letters_written",
    "rows_made",
    "file_written",
    "file_synced",
    "rows_staged",
    "ledger_written",
    "file_published",
    "table_created",
    "commit_written",
    "commit_synced",
    "round_committed",
    "segment_removed",
)
"""The points a lander passes, roughly in order; `file_...` is any file that tracegrade writes."""

COPYING = ("commit_in_copy", "entry_put", "checkpoint_put")
"""The points that a commit to an object store passes, in order."""

ERASING = (
    "erasure_begun",
    "removal_counted",
    "rows_replaced",
    "files_removed",
    "aside_counted",
    "aside_removed",
)
"""The points `lake delete` passes, in order."""

SCORING = (
    *("scores_staged", "rows_left_out", "rows_joined", "scores_committed", "replaced_removed"),
    "log_checkpoint_written",
)
"""The points `score` passes, in order: after each bucket, once the files that hold older rows of
its traces are rewritten, before each table's commit, after it, then each time that the files are
removed which earlier runs replaced in a table, and each time that a checkpoint keeps a log short.
"""

POINTS = (*RECEIVING, *LANDING)

_name, _, _count = os.environ.get(VARIABLE, "").partition(":")
_left = int(_count or 1)


def reach(point: str) -> None:
    """End the process if this point is the armed one and has been reached often enough."""
    global _left  # noqa: PLW0603 - one process dies once
    if point != _name:
        return
    _left -= 1
    if _left == 0:
        os._exit(EXIT_CODE)
