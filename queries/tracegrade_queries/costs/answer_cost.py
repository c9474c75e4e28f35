"""Computes the cost of one model answer, before its run is built.

The same rules as `run_token_usage.sql` and `usage_costs.sql` have for runs.
"""

from typing import NamedTuple

from tracegrade_queries.costs.model_names import bare_name, is_date
from tracegrade_queries.costs.pricing import ANY_ENDING, Price, Prices, split_ending


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
    """Return the price of a model; None if no price covers it.

    The name as it is counts before the name without provider. For either, its very own price
    counts before those of patterns, and the longest pattern before shorter ones.
    """
    for name in (model, bare_name(model)):
        if name in prices and not split_ending(name)[1]:
            return prices[name]
        covering = [pattern for pattern in prices if _covers(pattern, name)]
        if covering:
            return prices[max(covering, key=lambda pattern: len(split_ending(pattern)[0]))]
    return None


def _covers(pattern: str, name: str) -> bool:
    stem, ending = split_ending(pattern)
    if not ending or not name.startswith(stem):
        return False
    return ending == ANY_ENDING or is_date(name.removeprefix(stem))


def cost_of(price: Price, counts: TokenCounts) -> int:
    """Return the cost of an answer, in millionths of a millionth of a US dollar."""
    return sum(each * tokens for each, tokens in zip(price, counts.by_kind(), strict=True))
