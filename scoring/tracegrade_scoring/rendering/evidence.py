"""A sentence with the runs that show it: pages link the runs, other output names them."""

from typing import Final, NamedTuple

from tracegrade_scoring.rendering import words

RUNS_SHOWN: Final = 3
"""Runs of a sentence: enough to look at, few enough to read on."""


class RunEvidence(NamedTuple):
    """A finding for the reader, and runs that show it."""

    sentence: str
    """Without the stop at its end."""
    runs: tuple[str, ...] = ()
    """Whole ids of trajectories, at most `RUNS_SHOWN`."""


def spelled_out(found: RunEvidence) -> str:
    """Return the sentence with the beginnings of its runs' ids, for output without links."""
    runs = ", ".join(map(words.run, found.runs))
    return f"{found.sentence}, e.g. {runs}." if runs else f"{found.sentence}."
