"""Opens a lake for a comparison, all its tables as one scoring run left them."""

from collections.abc import Callable
from pathlib import Path

from tracegrade_queries.engine.connection import connect, open_lake
from tracegrade_scoring.compare.attempts import KNOWN_ALONE, AttemptCounting
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.statistics.intervals import LEVEL


def read_lake(  # noqa: PLR0913, PLR0917 - what a reader may choose
    place: str | Path,
    note: Callable[[str], object],
    base: str,
    candidate: str,
    agent: str | None = None,
    level: float = LEVEL,
    counting: AttemptCounting = KNOWN_ALONE,
) -> Comparisons:
    """Return both releases as the lake is now; `note` gets a line if reading it is slow.

    Raises:
        LakeMissing: There is no lake.
        NothingToCompare: No agent, or not this one, has both releases.
    """
    with connect(open_lake(place, note), layers=(SCORES,)) as con:
        return read_comparisons(con, str(place), base, candidate, agent, level, counting)
