"""The process that scores: `python -m tracegrade_explorer.upkeep.scoring_child LAKE`.

It imports what a scoring run needs and waits for a line of stdin; then it is `tracegrade score`.
Without a line it ends.
"""

import sys

import tracegrade_scoring.follow.ticks
import tracegrade_scoring.job.run_scoring
import tracegrade_scoring.job.summary
import tracegrade_scoring.own_metrics.in_force  # noqa: F401 - which take a second to import
from tracegrade.cli import main as tracegrade


def main() -> None:
    """Score once."""
    if sys.stdin.readline():
        tracegrade(["score", "--lake", sys.argv[1]])


if __name__ == "__main__":
    main()
