"""The spending limits of a run: each request first reserves the most that it can cost.

A request's text has at least one byte for each token, so its bytes bound its input tokens. The
markers that an endpoint puts around messages are shorter than the JSON around them.
"""

import asyncio
from typing import NamedTuple

from tracegrade_queries.costs.answer_cost import TokenCounts, cost_of
from tracegrade_queries.costs.pricing import Price

PER_USD = 10**12
"""Costs are whole millionths of a millionth of a US dollar."""


class BudgetSpent(Exception):
    """The rest of the budget does not suffice for the most that the next request can cost."""


class Amount(NamedTuple):
    """Tokens, and what they cost; both whole numbers."""

    tokens: int = 0
    cost: int = 0
    calls: int = 0
    """Requests that may be billed."""

    def plus(self, other: "Amount", times: int = 1) -> "Amount":
        """Return the sum of both amounts, the other multiplied by a number."""
        return Amount(
            self.tokens + times * other.tokens,
            self.cost + times * other.cost,
            self.calls + times * other.calls,
        )

    @property
    def usd(self) -> float:
        """The cost in US dollars."""
        return self.cost / PER_USD


class SpendingLimits(NamedTuple):
    """Limits of what a run may spend; None: no limit."""

    max_usd: float | None = None
    max_tokens: int | None = None
    max_calls: int | None = None


class SharedBudget:
    """Counts what was spent and what requests under way may still spend."""

    def __init__(self, limits: SpendingLimits) -> None:
        """Take the limits, which the judges of a panel share."""
        self.spent = Amount()
        self._reserved = Amount()
        self._most_cost = None if limits.max_usd is None else int(limits.max_usd * PER_USD)
        self._most_tokens = limits.max_tokens
        self.most_calls = limits.max_calls
        self._settled = asyncio.Condition()

    async def reserve(self, amount: Amount) -> None:
        """Set an amount aside; waits while requests under way may give some back.

        Raises:
            BudgetSpent: It does not fit, and nothing will be given back.
        """
        async with self._settled:
            while not self._fits(self.spent.plus(self._reserved).plus(amount)):
                if self._reserved == Amount() or not self._fits(self.spent.plus(amount)):
                    raise BudgetSpent
                await self._settled.wait()
            self._reserved = self._reserved.plus(amount)

    async def settle(self, reserved: Amount, spent: Amount) -> None:
        """Give back what was reserved, and count what was spent of it."""
        async with self._settled:
            self._reserved = self._reserved.plus(reserved, -1)
            self.spent = self.spent.plus(spent)
            self._settled.notify_all()

    def _fits(self, amount: Amount) -> bool:
        limits = (self._most_tokens, self._most_cost, self.most_calls)
        return all(
            most is None or spent <= most for spent, most in zip(amount, limits, strict=True)
        )


class JudgeSpending(NamedTuple):
    """The price of one judge's requests, and the budget that pays for them."""

    budget: SharedBudget
    price: Price | None
    """The price of its model; None if it is not known."""

    def bound(self, most: TokenCounts) -> Amount:
        """Return the most that a request can take, by the most tokens that it reads and writes."""
        if self.price is None:
            return Amount(most.total, 0, 1)
        dearest_in = max(self.price.input, self.price.cache_read, self.price.cache_write)
        dearest_out = max(self.price.output, self.price.reasoning)
        return Amount(most.total, most.input * dearest_in + most.output * dearest_out, 1)

    def cost(self, counts: TokenCounts) -> Amount:
        """Return what an answer took."""
        cost = 0 if self.price is None else cost_of(self.price, counts)
        return Amount(counts.total, cost, 1)
