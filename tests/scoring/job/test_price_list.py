"""The built-in price list: what it has, when it counts, and what a lake keeps of it."""

import dataclasses
import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.commands import tracegrade
from tests.queries.test_pricing import USED, call, run
from tests.queries.traces import land, rows

from tracegrade_lake import Lake
from tracegrade_queries.costs.answer_cost import price_of
from tracegrade_queries.costs.price_list import keep_prices, known_prices, price_list
from tracegrade_queries.costs.pricing import (
    MODEL_PRICES,
    Price,
    PricesInForce,
    store_prices,
    stored_prices,
)
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

LISTED = price_list().in_force()
GPT_4O = Price(2_500_000, 1_250_000, 2_500_000, 10_000_000, 10_000_000)
OWN = {"gpt-4o": Price(1, 1, 1, 1, 1)}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with a run of gpt-4o, one of its dated name, and one of a model of no list."""
    lake = Lake.create(tmp_path / "lake")
    names = ("gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-audio-preview")
    land(lake, *(run(place, call(2, name, **USED)) for place, name in enumerate(names, start=1)))
    return lake


def costs(lake: Lake) -> list[float | None]:
    """Return what the runs cost."""
    return [row["cost_usd"] for row in rows(lake, "FROM trajectories ORDER BY trace_id")]


def test_list_names_its_sources_and_at_most_sixty_models() -> None:
    """Each provider has its page; each model is listed once."""
    names = [name for provider in price_list().providers for name in provider.models]

    assert len(names) == len(set(names)) <= 60
    assert all(re.match(r"https://[a-z.]+/", each.page) for each in price_list().providers)
    assert all(
        price.by_token().cache_read <= price.by_token().input
        for provider in price_list().providers
        for price in provider.models.values()
    )


@given(st.sampled_from([name for name in LISTED.prices if not re.search(r"<date>|-20\d\d", name)]))
def test_longer_names_are_other_models(name: str) -> None:
    """A price covers a model's name and its dated names; what else begins so has its own price."""
    prices = LISTED.prices

    assert price_of(prices, name) == prices[name]
    assert price_of(prices, f"{name}-audio-preview") is None
    assert price_of(prices, f"{name}-2031-01-02") in {
        prices[name],
        None,
        prices.get(f"{name}-<date>"),
    }


@pytest.mark.parametrize(
    ("recorded", "listed"),
    [
        ("openai/gpt-4o", "gpt-4o"),
        ("azure/gpt-4o", "gpt-4o"),
        ("openai:gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai/gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("gpt-4-0613", "gpt-4"),
        ("models/gemini-2.5-flash", "gemini-2.5-flash"),
        ("google-gla:gemini-2.5-pro", "gemini-2.5-pro"),
        ("publishers/google/models/gemini-2.5-flash-lite", "gemini-2.5-flash-lite"),
        ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("openrouter/x-ai/grok-4.3", "grok-4.3"),
        ("gpt-4-20b", None),
        ("gpt-4-32k", None),
        ("gpt-4-1106-preview", None),
        ("gpt-3.5-turbo-0613", None),
        ("groq/openai/gpt-4o", None),
        ("us.meta.llama3-3-70b-instruct-v1:0", None),
    ],
)
def test_names_of_gateways_and_clouds_have_the_list_price(
    recorded: str, listed: str | None
) -> None:
    """A name with its provider costs what the model costs; another model has no price."""
    assert price_of(LISTED.prices, recorded) == (listed and LISTED.prices[listed])


def test_runs_of_listed_models_have_a_cost_without_a_price_file(lake: Lake) -> None:
    """The list says what gpt-4o costs; a model that it lacks has no cost, which is not 0."""
    done = score(lake, Specification()).costs

    assert LISTED.prices["gpt-4o"] == GPT_4O
    assert costs(lake)[0] == costs(lake)[1] is not None
    assert costs(lake)[2] is None
    assert (done.priced, done.list_date) == (2, price_list().date)
    assert [each.model for each in done.unpriced] == ["gpt-4o-audio-preview"]
    assert stored_prices(lake) == LISTED


def test_users_prices_replace_the_list_until_it_is_chosen_again(lake: Lake) -> None:
    """A price file counts alone and for later runs; dropped prices do not bring the list back."""
    score(lake, Specification(), prices=OWN)
    of_own = costs(lake)
    score(lake, Specification())
    later = costs(lake)
    score(lake, Specification(), prices={})
    score(lake, Specification())
    dropped = costs(lake)
    score(lake, Specification(), prices=LISTED.prices)

    assert of_own == later
    assert of_own[1:] == [None, None]
    assert dropped == [None, None, None]
    assert costs(lake)[0] == costs(lake)[1] != of_own[0]


def test_newer_list_takes_the_place_of_an_older_one(lake: Lake) -> None:
    """What a lake keeps of a list gives way to this version's list; a user's prices do not."""
    store_prices(lake, PricesInForce(OWN, "2020-01-01"))
    older = known_prices(lake)
    keep_prices(lake, OWN)

    assert older == LISTED
    assert known_prices(lake) == PricesInForce(OWN)


def test_prices_of_an_earlier_version_stay_until_others_are_committed(lake: Lake) -> None:
    """A lake whose prices have no date of a list gets the column; no commit is without prices."""
    earlier = dataclasses.replace(MODEL_PRICES, columns=MODEL_PRICES.columns[:-1])
    given = [{"name": name, **price._asdict()} for name, price in OWN.items()]
    lake.replace(earlier, pa.Table.from_pylist(given, earlier.arrow()))
    found = stored_prices(lake)
    before = lake.version(MODEL_PRICES.name)
    store_prices(lake, LISTED)

    assert found == PricesInForce(OWN)
    assert before is not None
    assert lake.files(MODEL_PRICES.name, before) != lake.files(MODEL_PRICES.name)
    assert stored_prices(lake) == LISTED


def test_list_prices_leave_scores_as_they_are(lake: Lake) -> None:
    """The same lake has the same scores by list prices and by none."""
    scores = "FROM trajectory_scores ORDER BY ALL"
    score(lake, Specification(), prices={})
    without = rows(lake, scores)
    score(lake, Specification(), prices=LISTED.prices)

    assert rows(lake, scores) == without


def test_command_takes_one_choice_of_prices(lake: Lake) -> None:
    """`score` names the list behind a cost, and refuses two choices at once."""
    done = tracegrade("score", "--lake", lake.root)
    both = tracegrade("score", "--lake", lake.root, "--list-prices", "--forget-prices")

    assert f"cost known for 2 trajectories, by list prices of {price_list().date}" in done.stderr
    assert both.returncode == 2
    assert "exclude one another" in both.stderr
