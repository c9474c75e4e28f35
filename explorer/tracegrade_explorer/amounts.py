"""Writes large numbers of tokens for pages; pure."""

from typing import Final

UNITS: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def short(number: float) -> str:
    """Return a number with its unit: `69.2 M`, `440.1 k`, `17`."""
    for size, unit in UNITS:
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number:,.0f}"
