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
"""In the order in which a receiver comes to them; answered is when the client may be told."""

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
"""In the order in which a lander comes to them, about; `file_...` are any file of ours."""

ERASING = (
    "erasure_begun",
    "removal_counted",
    "rows_replaced",
    "files_removed",
    "aside_counted",
    "aside_removed",
)
"""In the order in which `lake delete` comes to them."""

SCORING = ("scores_staged", "rows_left_out", "scores_committed")
"""In the order in which `score` comes to them: after each bucket, once the files are rewritten
that hold older rows of its traces, then after each table."""

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
