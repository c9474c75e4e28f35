"""Notes on each failure mode: whether it was measured to find the step where a run went wrong.

The one place that decides: every list of failure modes has the note, and programs get the word.
Source: docs/metrics.md, section 9.7, measured on failed runs whose failing step people labeled.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from tracegrade_scoring.rendering import words

ADDS_NOTHING: Final = "adds_nothing"
"""No step that it named was near the one where the run went wrong."""
NO_BETTER: Final = "no_better_than_a_plain_rule"
"""It is not surely right more often than the best plain rule, such as the first write."""
NOT_SEEN: Final = "not_seen"
"""No labeled run shows it, so its precision is unknown."""

MEASURED: Final[Mapping[str, str]] = {
    "loop_trap": NOT_SEEN,
    "tool_hallucination": NOT_SEEN,
    "cascading_error": NOT_SEEN,
    "premature_commitment": NO_BETTER,
    "goal_drift": ADDS_NOTHING,
}
"""By failure mode."""
_SENTENCES: Final = (
    (ADDS_NOTHING, "{} adds nothing: no step that it named was near it"),
    (NO_BETTER, "{} is not surely better than a plain rule such as the first write"),
    (NOT_SEEN, "{} was not seen in such runs"),
)


def measured_note(modes: Iterable[str]) -> str:
    """Return a note on the failure modes that a table lists; '' if it lists none of them.

    Args:
        modes: Codes of the modes.
    """
    shown = set(modes)
    parts = [
        sentence.format(" or ".join(named))
        for word, sentence in _SENTENCES
        if (named := [words.mode(mode) for mode in MEASURED
                      if mode in shown and MEASURED[mode] == word])
    ]  # fmt: skip
    if not parts:
        return ""
    return (
        "A mode says how a run went wrong, not where that began. Measured against the failing "
        f"step that people labeled, {'; '.join(parts)}."
    )


def adds_nothing(mode: str) -> bool:
    """Return whether a mode adds no information to other modes, so that it comes after them."""
    return MEASURED.get(mode) == ADDS_NOTHING
