"""PostgreSQL databases are verified by a query's result, despite all that an agent left."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
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
from tests.harness.parts.verifying.build import context, said

from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.parts.verifying.result import Context

pytestmark = needs_postgres


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EnvironmentTemplate]:
    """The shop, frozen."""
    with closing(shop_template(tmp_path_factory.mktemp("shop"))) as made:
        yield made


@pytest.fixture(scope="module")
def untouched(
    template: EnvironmentTemplate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Context]:
    """The shop as it was before."""
    folder = tmp_path_factory.mktemp("trial")
    with opened_shop(template, folder) as shop:
        yield seen(folder, shop)


def seen(folder: Path, shop: OpenedEnvironment) -> Context:
    """Return what verifiers are given."""
    difference = shop.difference()
    added, changed = frozenset(difference.added), frozenset(difference.changed)
    return replace(context(folder), opened=shop.parts, added=added, changed=changed)


@pytest.mark.parametrize(
    ("query", "equals", "outcome", "evidence"),
    [
        ("SELECT state FROM orders WHERE id = 1", "paid", "pass", 'is "paid"'),
        ("SELECT count(*) FROM orders;", 2, "pass", "is 2"),
        ("SELECT sum(total) FROM orders", 13.5, "pass", "is 13.5"),
        ("SELECT state FROM orders WHERE id = 9", "x", "fail", 'is nothing, expected "x"'),
        ("SELECT by FROM log WHERE said IS NULL", None, "pass", "is null"),
        ("SELECT id = 1 FROM orders WHERE id = 1", True, "pass", "is true"),
        ("SELECT date '2026-01-02'", "2026-01-02", "pass", 'is "2026-01-02"'),
        ("SELECT '{\"a\": [1]}'::jsonb", {"a": [1]}, "pass", 'is {"a":[1]}'),
        ("SELECT id, state FROM orders ORDER BY 1", [[1, "paid"], [2, "new"]], "pass", "2 rows"),
        ("SELECT id FROM orders", 1, "error", "the query gives more than one value"),
        ("SELECT wrong", 1, "error", 'column "wrong" does not exist'),
        ("SELECT 'NaN'::float8", 1, "error", "ask for COLUMN::text"),
        ("SELECT '\\x00'::bytea", 1, "error", "ask for encode(COLUMN, 'hex')"),
        ("DELETE FROM orders", 1, "error", "the query cannot be run: syntax error"),
        ("SELECT 1; DELETE FROM orders", 1, "error", "multiple commands"),
        ("SELECT nextval('orders_id_seq')", 1, "error", "permission denied"),
        ("SELECT state FROM orders WHERE id = 1", "sent", "fail", 'is "paid", expected "sent"'),
    ],
)  # fmt: skip
def test_a_query_is_compared(
    untouched: Context, query: str, equals: Any, outcome: str, evidence: str
) -> None:
    """With values and rules of task files; it can only read."""
    found = said(untouched, postgres="shop", query=query, equals=equals)

    assert found[0] == outcome
    assert evidence in found[1]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (
            "CREATE AGGREGATE count(text) (SFUNC = int8inc_any, STYPE = bigint, INITCOND = '9')",
            "aggregate:public.count(text)",
        ),
        (
            "CREATE FUNCTION lower(varchar) RETURNS text LANGUAGE sql AS 'SELECT ''x'''",
            "function:public.lower(character varying)",
        ),
        (
            "CREATE OPERATOR = (LEFTARG = numeric, RIGHTARG = int, FUNCTION = forged)",
            "operator:public.=(numeric,integer)",
        ),
    ],
)
def test_names_with_another_meaning_hold_nothing(
    template: EnvironmentTemplate, tmp_path: Path, statement: str, named: str
) -> None:
    """An agent cannot answer for the tables: what fits a query's types better would be asked."""
    forged = "CREATE FUNCTION forged(numeric, int) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    with opened_shop(template, tmp_path) as shop:
        execute(shop, forged, statement)
        found = said(seen(tmp_path, shop), postgres="shop", query="SELECT 1", equals=1)

    assert found == ("fail", f"'{named}' may give the query another meaning")


def test_what_is_locked_does_not_hold(template: EnvironmentTemplate, tmp_path: Path) -> None:
    """Nobody can say what is in it."""
    query = "SELECT count(*) FROM orders"
    with opened_shop(template, tmp_path) as shop, connect(shop) as connection:
        connection.execute("BEGIN; LOCK TABLE orders")

        assert said(seen(tmp_path, shop), postgres="shop", query=query, equals=2) == (
            "fail",
            "a table that the query reads is locked",
        )


def test_a_database_that_is_not_declared_is_an_error(tmp_path: Path) -> None:
    """It is the suite that is wrong."""
    assert said(context(tmp_path), postgres="shop", query="SELECT 1", equals=1) == (
        "error",
        "the environment has no postgres 'shop'; declare it there",
    )
