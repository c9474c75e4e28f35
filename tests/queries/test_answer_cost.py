"""One answer costs what a run with that one answer costs."""

from pathlib import Path

import pyarrow as pa
import pytest

from tracegrade_lake import Lake
from tracegrade_queries.costs.answer_cost import TokenCounts, cost_of, price_of
from tracegrade_queries.costs.pricing import Price, Prices, create_prices, work_out_costs
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.relations import put
from tracegrade_queries.schema import TRAJECTORIES

SMALL = Price(2_000_000, 500_000, 2_500_000, 8_000_000, 9_000_000)
LARGE = Price(10_000_000, 1_000_000, 12_500_000, 40_000_000, 40_000_000)
PRICES: Prices = {"m-small": SMALL, "m*": LARGE, "m-large-*": SMALL, "exact": LARGE}
KINDS = ("fresh_input", "cache_read", "cache_write", "visible_output", "reasoning")
COUNTS = TokenCounts(1000, 50, cache_read=400, cache_write=100, reasoning=20)


@pytest.mark.parametrize(
    "model", ["m-small", "m-small-2", "m-large-1", "m", "exact", "exact-1", "m*"]
)
def test_a_model_costs_what_it_costs_in_the_lake(tmp_path: Path, model: str) -> None:
    """By its very name, else by the longest of the beginnings."""
    tokens = dict(zip([f"{kind}_tokens" for kind in KINDS], COUNTS.by_kind(), strict=True))
    usage = {"model": model, "stated_usd": None, **tokens}
    with connect(Lake.create(tmp_path / "lake")) as con:
        create_prices(con, PRICES)
        put(
            con,
            "one_run",
            pa.table({"trajectory_id": ["t"], "model_usage": [[usage]]}).cast(
                pa.schema(
                    [
                        ("trajectory_id", pa.string()),
                        (
                            "model_usage",
                            pa.list_(
                                pa.struct(
                                    [
                                        ("model", pa.string()),
                                        ("stated_usd", pa.float64()),
                                        *((name, pa.int64()) for name in tokens),
                                    ]
                                )
                            ),
                        ),
                    ]
                )
            ),
        )
        work_out_costs(con, TRAJECTORIES, "one_run")
        ((expected,),) = con.sql("SELECT pico_usd FROM usage_costs").fetchall()

    price = price_of(PRICES, model)
    assert (None if price is None else cost_of(price, COUNTS)) == expected


def test_each_token_has_one_price() -> None:
    """Cached tokens are not fresh input, and reasoning is not visible output."""
    assert COUNTS.by_kind() == (500, 400, 100, 30, 20)
    assert COUNTS.total == 1050


def test_counts_that_stand_beside_each_other_are_added_up() -> None:
    """Where a part is greater than its whole, it is none of its parts."""
    assert TokenCounts(10, 5, cache_read=100, reasoning=30).by_kind() == (10, 100, 0, 0, 30)
