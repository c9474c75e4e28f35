"""Plain counts of what raw files hold, to compare with the lake that they were imported into.

Each module counts files of one format without any code of the importer:
`python -m tests.collector.importing.raw_counts tau2 results.json` prints both sides, and exits
with 1 if they differ.
"""

from typing import NamedTuple


class RunCounts(NamedTuple):
    """Counts over all runs of some files."""

    runs: int = 0
    calls: int = 0
    """Of the agent, with a result."""

    failed_calls: int = 0
    answers: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    successes: int = 0
    thoughts: int = 0

    def plus(self, other: "RunCounts") -> "RunCounts":
        """Return the sums."""
        return RunCounts(*map(sum, zip(self, other, strict=True)))
