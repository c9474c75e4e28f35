"""What Hypothesis tries, as one list: a query costs as much over one case as over all of them."""

from typing import TypeVar

from hypothesis import given
from hypothesis.strategies import SearchStrategy

Value = TypeVar("Value")


def drawn(strategy: SearchStrategy[Value]) -> list[Value]:
    """Return as many values of a strategy as a test of single ones would try.

    A test says of which of them it does not hold: none of them is made smaller.
    """
    found: list[Value] = []

    @given(strategy)
    def draw(value: Value) -> None:
        found.append(value)

    draw()
    return found
