"""Remarks on calls that may serve several sub-goals, and on the verdicts that decide for one."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.rendering import words


class ServedShare(NamedTuple):
    """Counts of the calls of one release that rules give to several sub-goals."""

    ambiguous_calls: int = 0
    served_by_people: int = 0
    """Calls among them for which verdicts of people or other verifiers left one sub-goal."""
    served_by_models: int = 0
    """The same for verdicts of judges or evaluations."""

    @classmethod
    def of(cls, row: ResultRow) -> "ServedShare":
        """Return what a row of `score_remarks` says."""
        return cls(**{name: row[name] for name in cls._fields})


NO_AMBIGUOUS_CALLS: Final = ServedShare()
"""The counts without any call."""


def served_remarks(found: ServedShare) -> Iterator[str]:
    """Yield in a sentence, without its full stop, who decided what ambiguous calls serve."""
    if not found.ambiguous_calls:
        return
    decided = [
        f"verdicts of {whose} decide on {calls:,}"
        for calls, whose in (
            (found.served_by_people, "people or verifiers"),
            (found.served_by_models, "judges"),
        )
        if calls
    ]
    left = found.ambiguous_calls - found.served_by_people - found.served_by_models
    if left:
        decided.append(f"rules alone on {left:,}")
    calls = words.count(found.ambiguous_calls, "call")
    yield f"which of several sub-goals {calls} served: {', '.join(decided)}"
