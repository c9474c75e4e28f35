"""What runs cost: each token once, by prices or as the trace states, and never a silent zero."""

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.costs.pricing import (
    NO_PRICES,
    Costs,
    Price,
    Prices,
    Unpriced,
    update_costs,
)
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.schema import TRAJECTORIES

from .traces import agent, land, model, request_of, rows, span

SMALL = Price(2_000_000, 500_000, 2_500_000, 8_000_000, 9_000_000)
LARGE = Price(10_000_000, 1_000_000, 12_500_000, 40_000_000, 40_000_000)
PRICES: Prices = {"m-small": SMALL, "m*": LARGE, "m-large-*": SMALL}


def call(number: int, name: str | None = "m-small", parent: int = 1, **usage: Any) -> Any:
    """Return a model span with what it took: `input_tokens=3` is `gen_ai.usage.input_tokens`."""
    named: dict[str, Any] = {} if name is None else {"gen_ai__response__model": name}
    said = {f"gen_ai__usage__{key}": value for key, value in usage.items()}
    return model(number, parent, at=number, **named, **said)


def run(trace: int, *calls: Any) -> bytes:
    """Return the request of one run with these model calls."""
    spans = [agent(1, trace=trace), *calls]
    return request_of([{**each, "traceId": f"{trace:032x}"} for each in spans])


USED: dict[str, Any] = {"input_tokens": 1000, "output_tokens": 50}
RUNS = {
    "each kind of token": [
        call(
            2,
            **USED,
            cache_read__input_tokens=400,
            cache_creation__input_tokens=100,
            reasoning__output_tokens=20,
        )
    ],
    "calls of two models": [call(2, **USED), call(3, "m-other", **USED)],
    "nested spans of one call": [call(2, **USED), call(3, parent=2, **USED)],
    "longest beginning": [call(2, "m-large-1", **USED)],
    "price before statement": [call(2, **USED, cost=7.0)],
    "statement without a price": [call(2, "x", **USED, cost=0.25), call(3, **USED)],
    "statement without tokens": [call(2, cost=0.125)],
    "no price": [call(2, **USED), call(3, "x", **USED)],
    "no name": [call(2, None, **USED)],
    "no tokens": [call(2, **USED), call(3, input_tokens=5)],
    "cache beside the input": [call(2, **USED, cache_read__input_tokens=3000)],
    "OpenInference": [
        span(
            2,
            1,
            openinference__span__kind="LLM",
            llm__model_name="y",
            llm__token_count__prompt=1,
            llm__token_count__completion=1,
            llm__cost__total=0.5,
        )
    ],
    "what no model said": [
        call(2, **USED),
        call(3, "<synthetic>", input_tokens=0, output_tokens=0),
    ],
    "nobody counted": [call(2, **USED), call(3, "x", input_tokens=0, output_tokens=0)],
    "a parent with the tokens of two": [
        call(2, input_tokens=2000, output_tokens=100),
        call(3, parent=2, **USED),
        call(4, parent=2, **USED),
    ],
    "no model call": [],
}
COSTS = {
    "each kind of token": 500 * 2e-6 + 400 * 0.5e-6 + 100 * 2.5e-6 + 30 * 8e-6 + 20 * 9e-6,
    "calls of two models": 0.0024 + 0.012,
    "nested spans of one call": 0.0024,
    "longest beginning": 0.0024,
    "price before statement": 0.0024,
    "statement without a price": 0.2524,
    "statement without tokens": 0.125,
    "cache beside the input": 1000 * 2e-6 + 3000 * 0.5e-6 + 50 * 8e-6,
    "OpenInference": 0.5,
    "what no model said": 0.0024,
    "a parent with the tokens of two": 0.0048,
}


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with all the runs, built with the prices; every second came a day later."""
    lake = Lake.create(tmp_path_factory.mktemp("priced") / "lake")
    for number, calls in enumerate(RUNS.values(), 1):
        land(lake, run(number, *calls), seq=number, day=number % 2)
    build(lake, prices=PRICES)
    return lake


def costs(lake: Lake) -> dict[str, float]:
    """Return the costs of the runs, without unknown ones."""
    found = rows(lake, "SELECT trace_id, cost_usd FROM trajectories WHERE cost_usd IS NOT NULL")
    return {list(RUNS)[int(row["trace_id"], 16) - 1]: row["cost_usd"] for row in found}


def test_each_token_is_priced_once(priced: Lake) -> None:
    """By the name's price, the longest beginning's, or the trace; else the cost is NULL."""
    assert costs(priced) == pytest.approx(COSTS, rel=1e-15)


def test_unknown_costs_are_counted_by_model(priced: Lake) -> None:
    """A run counts for each model that leaves its cost unknown, and costs that agree stay."""
    version = priced.version("trajectories")
    unpriced = (
        Unpriced("x", "no_price", 2),
        Unpriced("m-small", "no_tokens", 1),
        Unpriced(None, "no_price", 1),
    )

    assert update_costs(priced, PRICES) == Costs(11, 3, unpriced, 3)
    assert priced.version("trajectories") == version


def test_changed_prices_need_no_span(priced: Lake) -> None:
    """Other prices leave the rows that a build with them gives, and the old ones the old rows."""
    before = rows(priced, "FROM trajectories ORDER BY trajectory_id")
    other: Prices = {"x": LARGE, "m*": SMALL}
    update_costs(priced, other)
    updated = rows(priced, "FROM trajectories ORDER BY trajectory_id")
    build(priced, full=True, prices=other)
    built = rows(priced, "FROM trajectories ORDER BY trajectory_id")
    update_costs(priced, PRICES)

    assert built == updated != before
    assert rows(priced, "FROM trajectories ORDER BY trajectory_id") == before


def test_only_dates_with_other_costs_are_written(priced: Lake) -> None:
    """A price of a model that one day alone used leaves the files of the other day."""
    update_costs(priced, PRICES)
    files = set(priced.files("trajectories"))
    update_costs(priced, {**PRICES, "x": SMALL})
    kept = files & set(priced.files("trajectories"))
    update_costs(priced, PRICES)

    assert len(files) == 2
    assert len(kept) == 1


def test_without_prices_only_statements_count(priced: Lake) -> None:
    """An unknown cost is never zero."""
    found = update_costs(priced, NO_PRICES)
    stated = costs(priced)
    update_costs(priced, PRICES)

    assert stated == {
        "price before statement": 7.0,
        "statement without tokens": 0.125,
        "OpenInference": 0.5,
    }
    assert found[:2] == (3, 3)


def test_costs_are_exact(tmp_path: Any) -> None:
    """Of many random calls, each cost is the double nearest to the exact sum."""
    random = Random(5)  # noqa: S311 - no secret
    lake = Lake.create(tmp_path / "lake")
    wanted: dict[str, float] = {}
    bodies = []
    for trace in range(1, 101):
        total, calls = Fraction(0), []
        for number in range(2, random.randint(3, 9)):
            taken, said = random.randint(0, 200_000), random.randint(0, 9_000)
            cached = random.randint(0, taken)
            name, price = random.choice([("m-small", SMALL), ("m", LARGE)])
            calls.append(
                call(
                    number,
                    name,
                    input_tokens=taken,
                    output_tokens=said,
                    cache_read__input_tokens=cached,
                )
            )
            total += (taken - cached) * price.input + cached * price.cache_read
            total += said * price.output
        wanted[f"{trace:032x}"] = float(total / 10**12)
        bodies.append(run(trace, *calls))
    land(lake, *bodies)
    build(lake, prices=PRICES)

    found = rows(lake, "SELECT trace_id, cost_usd FROM trajectories")
    assert {row["trace_id"]: row["cost_usd"] for row in found} == wanted


def test_rows_of_an_earlier_version_are_counted_apart(tmp_path: Any) -> None:
    """Trajectories without their usage have no cost until a full build; new ones do."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, call(2, **USED)))
    build(lake)
    with connect(lake) as con:
        old = con.sql("SELECT * EXCLUDE (model_usage) FROM trajectories").to_arrow_table()
    lake.drop("trajectories")
    columns = tuple(c for c in TRAJECTORIES.columns if c.name != "model_usage")
    earlier = replace(TRAJECTORIES, columns=columns)
    lake.append(earlier, old.cast(earlier.arrow()))

    assert update_costs(lake, PRICES)[2] == (Unpriced(None, "not_counted", 1),)
    land(lake, run(2, call(2, **USED)), seq=2)
    build(lake, full=True, prices=PRICES)
    assert update_costs(lake, PRICES) == Costs(2, 0, (), 3)
