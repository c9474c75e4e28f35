"""Price files, and what `tracegrade score --prices` makes of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Ended, tracegrade
from tests.queries.test_pricing import USED, call, run
from tests.queries.traces import land, rows

from tracegrade_lake import Lake
from tracegrade_queries.costs.pricing import NO_PRICES, Price
from tracegrade_scoring.errors import PriceFileInvalid, PriceFileUnreadable
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.prices import load_prices
from tracegrade_scoring.tasks import Specification

from .lakes import copied

FILE = "version: 1\nmodels:\n  m-*: {input: 0.15, cache_read: 0.075, output: 0.6}\n"


def written(folder: Path, text: str) -> Path:
    """Return the path of a price file with this text."""
    path = folder / "prices.yaml"
    path.write_text(text)
    return path


def test_prices_are_whole_numbers(tmp_path: Path) -> None:
    """What is left out costs as the tokens that it is part of."""
    assert load_prices(None) == NO_PRICES
    assert load_prices(written(tmp_path, FILE)) == {
        "m-*": Price(150_000, 75_000, 150_000, 600_000, 600_000)
    }


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "the file is empty"),
        ("models: [", 1, "not valid YAML"),
        ("version: 2\nmodels: {m: {input: 1, output: 1}}", 1, "version is 2"),
        ("version: 1\nmodels: {}", 2, "models is {}"),
        ("version: 1\nmodels:\n  m: {input: 1}", 3, "key 'output' is missing in models.m"),
        ("version: 1\nmodels:\n  m:\n    inptu: 1\n    output: 1", 4, "did you mean 'input'?"),
        ("version: 1\nmodel: {}", 2, "did you mean 'models'?"),
        ("version: 1\nmodels:\n  m: {input: -1, output: 1}", 3, "models.m.input is -1"),
        ("version: 1\nmodels:\n  m: {input: '1', output: 1}", 3, "models.m.input is '1'"),
        ("version: 1\nmodels:\n  m: {input: 1.0000001, output: 1}", 3, "round it"),
        ("version: 1\nmodels:\n  m*n: {input: 1, output: 1}", 3, "has a * before its end"),
        (FILE + "  m-*: {input: 1, output: 1}", 4, "key 'm-*' stands twice"),
    ],
)
def test_error_names_file_and_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    """Nothing is taken for a price that was not meant so."""
    path = written(tmp_path, text)
    with pytest.raises(PriceFileInvalid) as error:
        load_prices(path)

    assert str(error.value).startswith(f"{path}:{line}: ")
    assert said in str(error.value)


def test_file_that_is_not_there(tmp_path: Path) -> None:
    """A path that cannot be read is named."""
    with pytest.raises(PriceFileUnreadable, match="cannot read price file"):
        load_prices(tmp_path / "none.yaml")


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, Ended]:
    """A lake with a run whose model has a price and one whose has none, and what scoring said."""
    place = tmp_path_factory.mktemp("priced")
    lake, prices = Lake.create(place / "lake"), written(place, FILE)
    land(lake, run(1, call(2, "m-1", **USED)), run(2, call(2, "x", **USED)))
    return lake, tracegrade("score", "--lake", lake.root, "--prices", prices, "--summary", "-")


def costs(lake: Lake) -> list[Any]:
    """Return what the runs cost."""
    found = rows(lake, "SELECT cost_usd FROM trajectories ORDER BY trace_id")
    return [row["cost_usd"] for row in found]


def test_score_fills_costs_and_says_which_are_unknown(priced: tuple[Lake, Ended]) -> None:
    """The lake has the costs, the summary the models without a price, as lines and as JSON."""
    lake, done = priced

    assert done.returncode == 0
    assert costs(lake) == [0.00018, None]
    assert "cost known for 1 trajectories" in done.stderr
    assert "cost unknown for 1 trajectories: no price covers 'x'" in done.stderr
    assert json.loads(done.stdout)["costs"] == {
        "priced": 1,
        "stated": 0,
        "unpriced": [{"model": "x", "reason": "no_price", "trajectories": 1}],
        "prices": 1,
        "list_date": None,
    }


def test_lake_keeps_the_prices_it_was_given(priced: tuple[Lake, Ended], tmp_path: Path) -> None:
    """A run without prices prices new runs like those before."""
    lake = copied(priced[0], tmp_path)
    land(lake, run(3, call(2, "m-2", **USED)), seq=3)

    assert score(lake, Specification()).costs.priced == 2
    assert costs(lake) == [0.00018, None, 0.00018]


@pytest.mark.slow
def test_command_forgets_prices_if_told(priced: tuple[Lake, Ended], tmp_path: Path) -> None:
    """`score` alone changes no cost, before and after; `--forget-prices` does."""
    lake = copied(priced[0], tmp_path)

    assert tracegrade("score", "--lake", lake.root).returncode == 0
    assert costs(lake) == [0.00018, None]
    assert tracegrade("score", "--lake", lake.root, "--forget-prices").returncode == 0
    assert costs(lake) == [None, None]
    assert score(lake, Specification()).costs.priced == 0
