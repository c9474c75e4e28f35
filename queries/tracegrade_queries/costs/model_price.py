"""The price of a model, as files state it: US dollars for a million tokens, checked."""

from decimal import Decimal
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tracegrade_queries.costs import pricing

DECIMALS: Final = 6
"""A token's price is a whole number of millionths of a millionth of a dollar."""

MAX_USD: Final = 1_000_000
"""A higher price per million tokens is a typing error; sums stay within the engine's integers."""


def _exact(usd: float) -> float:
    if Decimal(repr(usd)).scaleb(DECIMALS) % 1:
        msg = f"{usd!r} has more than {DECIMALS} decimals; round it"
        raise ValueError(msg)
    return usd


Usd = Annotated[float, Field(ge=0, le=MAX_USD, allow_inf_nan=False), AfterValidator(_exact)]


class ModelPrice(BaseModel):
    """US dollars for a million tokens of one model, or of all whose names begin so."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    input: Usd
    output: Usd
    cache_read: Usd | None = None
    """Input that was read from a cache; None: as input."""
    cache_write: Usd | None = None
    """Input that was written to a cache; None: as input."""
    reasoning: Usd | None = None
    """Output that is reasoning; None: as output."""

    def by_token(self) -> pricing.Price:
        """Return what one token of each kind costs, as whole numbers."""
        given = [self.input, self.cache_read, self.cache_write, self.output, self.reasoning]
        instead = [self.input, self.input, self.input, self.output, self.output]
        return pricing.Price(
            *(_millionths(i if g is None else g) for g, i in zip(given, instead, strict=True))
        )


def _millionths(usd: float) -> int:
    return int(Decimal(repr(usd)).scaleb(DECIMALS))
