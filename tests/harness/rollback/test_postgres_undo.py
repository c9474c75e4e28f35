"""Statements that undo are proven on a copy of the database, and reach no other one."""

from collections.abc import Iterator, Mapping
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
from tests.harness.rollback.folders import run_here
from tests.slow import slow_after

from tracegrade.rollback.undo import UndoFailed, run_on_server
from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.rollback.part_locator import PartLocator
from tracegrade_harness.rollback.records import Claim, Records
from tracegrade_harness.rollback.rubric import KillJudgment, ObservedState, judge
from tracegrade_harness.rollback.undo import EnvironmentCopy, prove, services
from tracegrade_harness.suite.model import Environment

pytestmark = needs_postgres

LEFT = ["postgres:shop/public.orders/1", "postgres:shop/public.orders/9"]
BACK = "UPDATE orders SET state = 'paid' WHERE id = 1"
BOTH = f"WITH gone AS (DELETE FROM orders WHERE id = 9) {BACK}"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EnvironmentTemplate]:
    """The shop, frozen."""
    with closing(shop_template(tmp_path_factory.mktemp("shop"))) as made:
        yield made


def left(environment: OpenedEnvironment) -> None:
    """Do what is left."""
    execute(
        environment,
        "UPDATE orders SET state = 'sent' WHERE id = 1",
        "INSERT INTO orders (id, state) VALUES (9, 'new')",
    )


def judged(
    folder: Path, environment: OpenedEnvironment, before: Mapping[str, str], undo: Any
) -> KillJudgment:
    """Return what is left scores if a record names it all with one undo."""
    now = environment.state()
    held = environment.held(now)
    claims = tuple(Claim(name, undo, False, "journal") for name in [*LEFT, *held])
    seen = ObservedState(before, now, held, Records(claims))
    with closing(environment.clone(folder / "copy")) as copy:
        known = services(environment.variables, copy.variables)
        locator = PartLocator(Environment(), folder)
        clone = EnvironmentCopy(folder / "copy", [copy], folder, folder, locator, run_here, known)
        return judge(seen, [*prove(seen, clone).disproved])


@pytest.mark.parametrize(
    ("undo", "score", "disproved"),
    slow_after(
        3,
        [
            ({"sql": BOTH, "at": "{url}"}, 7, []),
            ({"sql": BACK, "at": "DATABASE_URL"}, 3, LEFT[1:]),
            ({"sql": BOTH, "at": "postgresql://127.0.0.1:9/shop"}, 0, LEFT),
            ({"sql": BOTH, "at": "DATABASE_URL"}, 7, []),
            ({"sql": f"{BACK}; DELETE FROM orders WHERE id = 9", "at": "DATABASE_URL"}, 0, LEFT),
            ({"sql": "DELETE FROM orders", "at": "DATABASE_URL"}, 0, LEFT),
            ({"sql": BOTH, "at": "shop.db"}, 0, LEFT),
            ({"http": "DELETE /", "at": "DATABASE_URL"}, 0, LEFT),
        ],
    ),
)
def test_rows_are_named_by_a_statement_that_takes_them_back(
    template: EnvironmentTemplate,
    tmp_path: Path,
    undo: dict[str, str],
    score: int,
    disproved: list[str],
) -> None:
    """Run on the copy: the database itself keeps what was left."""
    with opened_shop(template, tmp_path) as environment:
        left(environment)
        url = environment.variables["DATABASE_URL"]
        undo = {key: value.replace("{url}", url) for key, value in undo.items()}
        found = judged(tmp_path, environment, template.before, undo)

        assert (found.score, [*found.leftovers], [*found.disproved]) == (score, LEFT, disproved)
        assert environment.difference().names == LEFT


@pytest.mark.slow
def test_nothing_is_proven_while_a_transaction_is_prepared(
    template: EnvironmentTemplate, tmp_path: Path
) -> None:
    """PostgreSQL copies no such database."""
    with opened_shop(template, tmp_path) as environment:
        left(environment)
        execute(environment, "BEGIN; DELETE FROM log; PREPARE TRANSACTION 'half'")
        undo = {"sql": BOTH, "at": "DATABASE_URL"}

        assert judged(tmp_path, environment, template.before, undo).score == 0


def test_an_undo_is_one_statement_and_all_of_it_or_nothing(
    template: EnvironmentTemplate, tmp_path: Path
) -> None:
    """As on SQLite; rows that it gives are of no interest."""
    with opened_shop(template, tmp_path) as environment:
        left(environment)
        url = environment.variables["DATABASE_URL"]
        with pytest.raises(UndoFailed, match="multiple commands"):
            run_on_server(url, f"{BACK}; DELETE FROM orders")
        with pytest.raises(UndoFailed, match="division by zero"):
            run_on_server(url, "UPDATE orders SET total = 1 / (id - 9)")
        run_on_server(url, "DELETE FROM orders WHERE id = 9 RETURNING *")
        run_on_server(url, BACK)
        with connect(environment) as connection:
            rows = connection.execute("SELECT id, total FROM orders ORDER BY id").fetchall()

        assert [(id_, float(total)) for id_, total in rows] == [(1, 10.5), (2, 3)]
        assert environment.difference().names == []
