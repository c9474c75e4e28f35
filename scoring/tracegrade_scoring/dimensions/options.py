"""The option `--dimensions`: a mapping file whose dimensions have names of their own."""

from pathlib import Path
from typing import Final

from tracegrade_queries.dimensions.labeling import GivenMapping
from tracegrade_queries.dimensions.load import load_mapping
from tracegrade_queries.errors import DimensionsInvalid
from tracegrade_scoring.metrics import METRICS

FILTER_KEYS: Final = frozenset(
    (
        *("agent", "release", "task", "category", "run_mode", "outcome", "conversation", "reason"),
        *("failure", "dialect", "steps", "calls", "errors", "tokens", "cost_usd", "duration_ms"),
        *("findings", "since", "until", "received", "request", "asked", "level", "counted"),
        *("complete", "state", "sort", "after", "cols", "metric", "by", "split", "window"),
        *("zone", "format", "base", "candidate", "where"),
    )
)
"""Keys of filters of runs, and of addresses of pages, which no dimension may have as its name."""

TAKEN: Final = FILTER_KEYS | METRICS.keys()


def given_mapping(path: Path | None, *, forget: bool) -> GivenMapping | None:
    """Return the mapping that the options choose; None for the one that the lake keeps.

    Raises:
        DimensionsInvalid: The file cannot be used, or both options are given.
    """
    if forget and path is not None:
        msg = (
            f"--forget-dimensions drops the mapping that --dimensions {path} gives; leave one out"
        )
        raise DimensionsInvalid(msg)
    if path is not None:
        return GivenMapping(load_mapping(path, TAKEN))
    return GivenMapping(None) if forget else None
