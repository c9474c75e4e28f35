"""Writes amounts of money and large numbers of tokens for pages; pure."""

from math import floor, log10
from typing import Final

UNITS: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
CENTS: Final = 2
"""Decimals of an amount of a dollar and more; a smaller one has three digits that count."""


def usd(amount: float) -> str:
    """Return an amount of money: `$1,234.50`, `$0.0029`, and never `$0.00` for something."""
    if amount >= 1 or amount <= 0:
        return f"${amount:,.{CENTS}f}"
    decimals = CENTS - floor(log10(amount))
    whole, _, part = f"{amount:.{decimals}f}".partition(".")
    return f"${whole}.{part.rstrip('0').ljust(CENTS, '0')}"


def short(number: float) -> str:
    """Return a number with its unit: `69.2 M`, `440.1 k`, `17`."""
    for size, unit in UNITS:
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number:,.0f}"
