"""Contents of a PostgreSQL database, as pages of kills show them."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.postgres.shop import (
    connect,
    execute,
    needs_postgres,
    opened_shop,
    shop_template,
)

from tracegrade_harness.parts.environment import OpenedEnvironment

pytestmark = needs_postgres


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[OpenedEnvironment]:
    """The shop of one trial."""
    folder = tmp_path / "template"
    folder.mkdir()
    with closing(shop_template(folder)) as made, opened_shop(made, tmp_path) as opened:
        yield opened


def contents(environment: OpenedEnvironment, names: list[str]) -> dict[str, Any]:
    """Return the contents of objects by name."""
    return {name: json.loads(text) for name, text in environment.contents(names, 999)}


def test_contents_are_the_columns_of_rows(shop: OpenedEnvironment) -> None:
    """Each changed row has its columns, with and without a key."""
    execute(
        shop,
        "UPDATE orders SET state = 'it''s', total = NULL WHERE id = 1",
        "INSERT INTO lines VALUES ('x', 9)",
        "INSERT INTO log VALUES ('new', NULL)",
    )
    names = shop.difference().names
    found = contents(shop, names)

    assert found.keys() == {*names}
    assert {"item": "x", "number": 9} in found.values()
    assert {"by": None, "said": "new"} in found.values()
    order = found["postgres:shop/public.orders/1"]
    assert (order["id"], order["state"], order["total"]) == (1, "it's", None)


def test_a_locked_table_has_no_contents_and_the_others_have(shop: OpenedEnvironment) -> None:
    """A reader that waited for its lock would wait for ever."""
    execute(shop, "INSERT INTO lines VALUES ('x', 9)", "UPDATE orders SET total = 7 WHERE id = 1")
    names = shop.difference().names
    with connect(shop) as connection:
        connection.execute("BEGIN; LOCK TABLE lines")
        found = contents(shop, names)

    assert [*found] == ["postgres:shop/public.orders/1"]
