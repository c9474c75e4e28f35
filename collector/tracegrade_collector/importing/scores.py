"""Converts scores that other tools stored with a run into verdicts on its success.

Tools score many things. One that all call success, or that `--map success=NAME` names, is a
verdict; others are counted.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

from tracegrade_collector.importing.mapping import GUESSES
from tracegrade_collector.importing.verdict_rows import VerdictRecord

SUCCESSES: Final = ("success", "pass", "passed", "true", "correct", "yes", "resolved")
FAILURES: Final = ("failure", "fail", "failed", "false", "incorrect", "no", "unresolved")

JUDGE: Final = "judge:"
"""Prefix of a source that is a model. Its verdict succeeds from 0.7 on, others from 1 on."""

COST: Final = "gen_ai.usage.cost"
"""Cost of a model call in US dollars. Other tools read this attribute; it is not in the
conventions.
"""

_NAMES: Final = {*GUESSES["success"], "correctness", "task_success"}


def is_success(name: Any, chosen: str | None) -> bool:
    """Return whether a score of this name tells success: the one wanted, else those named so."""
    plain = str(name).strip().lower().replace("-", "_").replace(" ", "_")
    return str(name) == chosen if chosen else plain in _NAMES


def quoted_name(name: Any) -> str:
    """Return a score's name for a message; one that is long, or odd, is not repeated."""
    text = str(name)
    return f"'{text}'" if text.isprintable() and len(text) <= 40 else "of another name"


def success_verdict(
    run: str, source: str, value: Any, *, label: str | None = None, evidence: Any = None
) -> VerdictRecord | None:
    """Return the row of a score, or None if it means neither success nor failure.

    Args:
        run: The trajectory, or its trace.
        source: The author of the score.
        value: True, false, a number in [0, 1], or a word for one of them.
        label: As the tool shows it.
        evidence: The author's reason.
    """
    number = _number(value)
    if number is None:
        return None
    return {
        "trajectory_id": run,
        "subject": "success",
        "sub_goal": None,
        "kill_point": None,
        "value": number,
        "label": label,
        "source": source,
        "evidence": evidence if isinstance(evidence, str) and evidence else None,
    }


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        value = _OF_WORDS.get(value.strip().lower(), value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and 0 <= number <= 1 else None


_OF_WORDS: Final[Mapping[str, float]] = {
    **dict.fromkeys(SUCCESSES, 1.0),
    **dict.fromkeys(FAILURES, 0.0),
}
