"""Computes the cost of one model answer, before its run is built.

The same rules as `run_token_usage.sql` and `usage_costs.sql` have for runs.
"""

from typing import NamedTuple

from tracegrade_queries.costs.pricing import Price, Prices


class TokenCounts(NamedTuple):
    """Tokens of an answer. What a cache has is part of the input, reasoning of the output.

    A count that is greater than the total it should be part of was counted separately.
    """

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Input and output, each token once."""
        return sum(self.by_kind())

    def by_kind(self) -> tuple[int, int, int, int, int]:
        """Return how many tokens have each of a model's prices, in the order of `Price`."""
        cached = self.cache_read + self.cache_write
        fresh = self.input - cached if cached <= self.input else self.input
        visible = max(self.output - self.reasoning, 0)
        return fresh, self.cache_read, self.cache_write, visible, self.reasoning


def price_of(prices: Prices, model: str) -> Price | None:
    """Return a model's price: its very name's, else that of the longest prefix; None: neither."""
    if model in prices and not model.endswith("*"):
        return prices[model]
    prefixes = [name for name in prices if name[-1:] == "*" and model.startswith(name[:-1])]
    return prices[max(prefixes, key=len)] if prefixes else None


def cost_of(price: Price, counts: TokenCounts) -> int:
    """Return the cost of an answer, in millionths of a millionth of a US dollar."""
    return sum(each * tokens for each, tokens in zip(price, counts.by_kind(), strict=True))
