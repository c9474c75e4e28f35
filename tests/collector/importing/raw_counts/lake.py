"""Counts the runs of a lake, as the modules of raw files count theirs."""

from tests.collector.importing.imports import Outcome
from tests.collector.importing.raw_counts import RunCounts


def lake_counts(outcome: Outcome) -> RunCounts:
    """Return the counts of everything that was imported."""
    (steps,) = outcome.rows(
        "SELECT count(*) FILTER (kind = 'tool_call'), "
        "count(*) FILTER (kind = 'tool_call' AND status = 'error'), "
        "count(*) FILTER (kind = 'answer'), "
        "coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), "
        "count(*) FILTER (kind = 'thought') FROM steps"
    )
    (runs,) = outcome.rows(
        "SELECT count(*), count(*) FILTER (outcome = 'success') FROM trajectories"
    )
    *counted, thoughts = steps
    return RunCounts._make(map(int, (runs[0], *counted, runs[1], thoughts)))
