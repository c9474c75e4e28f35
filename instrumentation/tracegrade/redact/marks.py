"""The marks that replace secrets."""

from typing import Final

MARK_START: Final = "[redacted"


def marker(rule: str) -> str:
    """Return the replacement for a secret that a rule found."""
    return f"{MARK_START}:{rule}]"
