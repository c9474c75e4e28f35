"""One answer costs what a run with that one answer costs."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_lake import Lake
from tracegrade_queries.costs.answer_cost import TokenCounts, cost_of, price_of
from tracegrade_queries.costs.pricing import Price, Prices, create_prices, work_out_costs
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.relations import put
from tracegrade_queries.schema import TRAJECTORIES

CostsInLake: TypeAlias = Callable[[Prices, list[str]], dict[str, int | None]]
SMALL = Price(2_000_000, 500_000, 2_500_000, 8_000_000, 9_000_000)
LARGE = Price(10_000_000, 1_000_000, 12_500_000, 40_000_000, 40_000_000)
OTHER = Price(1, 2, 3, 4, 5)
PRICES: Prices = {
    "m-small": SMALL, "m*": LARGE, "m-large-*": SMALL, "exact": LARGE, "dated": SMALL,
    "dated-<date>": OTHER, "dated-0613": LARGE, "azure/exact": SMALL, "openai/d*": LARGE,
    "odd-<date>*": OTHER,
}  # fmt: skip
KINDS = ("fresh_input", "cache_read", "cache_write", "visible_output", "reasoning")
COUNTS = TokenCounts(1000, 50, cache_read=400, cache_write=100, reasoning=20)
ONE_RUN = pa.schema(
    [
        ("trajectory_id", pa.string()),
        ("model_usage", pa.list_(pa.struct(
            [("model", pa.string()), ("stated_usd", pa.float64())]
            + [(f"{kind}_tokens", pa.int64()) for kind in KINDS]
        ))),
    ]
)  # fmt: skip
ROUTES = st.sampled_from(
    ["", "openai/", "azure/", "models/", "openrouter/openai/", "google-gla:", "vertex_ai/", "us.",
     "anthropic.", "us.anthropic.", "bedrock/eu.mistral.", "apac.", "azure", "/", "xopenai/",
     "arn:aws:bedrock:us-east-1:42:inference-profile/us.anthropic."]
)  # fmt: skip
NAMES = st.sampled_from(
    ["m", "m-small", "m-large-1", "exact", "dated", "odd", "odd-<date>", "d", "anthropic.x", "\n"]
)
ENDS = st.sampled_from(
    ["", "-1", "-20240806", "-2024-08-06", "@20250929", "-0613", "-20b", "-20", "-v1:0", "-v2",
     "-20240806-v1:0", "-<date>", "*", "\n", "-2024-08-06-preview"]
)  # fmt: skip


@pytest.fixture(scope="module")
def costs_in_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CostsInLake]:
    """Return a function: the costs of answers by their models, as the SQL of a lake has them."""
    lake = Lake.create(tmp_path_factory.mktemp("costs") / "lake")
    tokens = dict(zip([f"{kind}_tokens" for kind in KINDS], COUNTS.by_kind(), strict=True))
    with connect(lake) as con:

        def found(prices: Prices, models: list[str]) -> dict[str, int | None]:
            create_prices(con, prices)
            usages = [{"model": model, "stated_usd": None, **tokens} for model in models]
            rows = {"trajectory_id": ["t"], "model_usage": [usages]}
            put(con, "one_run", pa.table(rows, ONE_RUN))
            work_out_costs(con, TRAJECTORIES, "one_run")
            return dict(con.sql("SELECT model, pico_usd FROM usage_costs").fetchall())

        yield found


@given(st.lists(st.builds("{}{}{}".format, ROUTES, NAMES, ENDS), min_size=1, unique=True))
def test_models_cost_what_they_cost_in_the_lake(
    costs_in_lake: CostsInLake, models: list[str]
) -> None:
    """By the name as it is or without its route: exactly, else by the longest beginning."""
    prices = {model: price_of(PRICES, model) for model in models}
    expected = {model: price and cost_of(price, COUNTS) for model, price in prices.items()}

    assert costs_in_lake(PRICES, models) == expected


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("m-small", SMALL), ("m-small-2", LARGE), ("m-large-1", SMALL), ("m", LARGE),
        ("exact-1", None), ("openai/exact", LARGE), ("azure/exact", SMALL),
        ("us.anthropic.exact-v1:0", LARGE), ("exact-v1:0", None), ("other/exact", None),
        ("dated-20240806", OTHER), ("dated-2024-08-06", OTHER), ("dated-0613", LARGE),
        ("dated-0314", OTHER), ("dated@20250929", OTHER), ("dated-20b", None),
        ("openai/dated-2024", LARGE), ("azure/dated-0314", OTHER),
        ("global.anthropic.dated-20240806-v2:0", OTHER),
    ],
)  # fmt: skip
def test_price_of_a_model(model: str, price: Price | None) -> None:
    """The recorded name counts first; a date is 4 or 8 digits; unknown routes stay."""
    assert price_of(PRICES, model) == price


def test_each_token_has_one_price() -> None:
    """Cached tokens are not fresh input, and reasoning is not visible output."""
    assert COUNTS.by_kind() == (500, 400, 100, 30, 20)
    assert COUNTS.total == 1050


def test_counts_that_stand_beside_each_other_are_added_up() -> None:
    """Where a part is greater than its whole, it is none of its parts."""
    assert TokenCounts(10, 5, cache_read=100, reasoning=30).by_kind() == (10, 100, 0, 0, 30)
