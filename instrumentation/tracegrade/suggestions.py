"""Suggests the most similar known name for a misspelt one."""

from collections.abc import Sequence
from difflib import get_close_matches


def did_you_mean(name: str, known: Sequence[str]) -> str | None:
    """Return a question that suggests the most similar known name; None if none is similar."""
    near = get_close_matches(name, known, n=1)
    return f"did you mean '{near[0]}'?" if near else None
