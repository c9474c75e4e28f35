"""The built-in price list, and which prices count for a lake.

Its own module because the list is one of three: a user's price file comes before it, and a user
may drop all prices. `price_list.yaml` has the prices, with the page of each provider.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from tracegrade_lake import Lake
from tracegrade_queries.costs.model_price import ModelPrice
from tracegrade_queries.costs.pricing import (
    DATED,
    Price,
    Prices,
    PricesInForce,
    store_prices,
    stored_prices,
)
from tracegrade_queries.files.yaml_source import read

LIST_FILE: Final = Path(__file__).with_name("price_list.yaml")


class ListPrice(ModelPrice):
    """The list price of one model."""

    longest_prompt: PositiveInt | None = None
    """Tokens of a prompt up to which it holds; a longer one costs more. None: it always holds."""
    dated_names: bool = True
    """False: its dated names had other prices."""


class ListedProvider(BaseModel):
    """A seller of models, and the page of its prices."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str
    page: str
    dated_names: bool
    """Whether a name with a date behind it is the same model."""
    models: Annotated[dict[str, ListPrice], Field(min_length=1)]

    def prices(self) -> Iterator[tuple[str, Price]]:
        """Yield what each name costs."""
        for name, price in self.models.items():
            yield name, price.by_token()
            if self.dated_names and price.dated_names:
                yield name + DATED, price.by_token()


class PriceList(BaseModel):
    """The whole list."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    version: int
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    """The day on which the prices were compared with their sources."""
    providers: list[ListedProvider]

    def in_force(self) -> PricesInForce:
        """Return its prices."""
        prices = dict(each for provider in self.providers for each in provider.prices())
        return PricesInForce(prices, self.date)


@cache
def price_list() -> PriceList:
    """Return the list."""
    source = read(LIST_FILE.name, LIST_FILE.read_text(encoding="utf-8"))
    return PriceList.model_validate(source.values)


def known_prices(lake: Lake, given: Prices | None = None) -> PricesInForce:
    """Return the prices that count for a lake.

    The list in force is this version's: a lake that an earlier version priced by its own list gets
    the newer prices, as it gets the newer scores.

    Args:
        lake: Has the prices that a user gave last.
        given: A user's prices; none at all is a choice too. None: not given.
    """
    listed = price_list().in_force()
    if given is not None:
        return listed if given == listed.prices else PricesInForce(given)
    stored = stored_prices(lake)
    return stored if stored and stored.list_date is None else listed


def keep_prices(lake: Lake, given: Prices | None = None) -> PricesInForce:
    """Return the prices as `known_prices`, which the lake keeps from now on."""
    known = known_prices(lake, given)
    store_prices(lake, known)
    return known
