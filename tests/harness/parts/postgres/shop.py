"""A shop in PostgreSQL, as a part of small environments; skips tests where there is no server."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.environments import declare

from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.parts.postgres.programs import why_not

needs_postgres = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

SHOP = """
CREATE TABLE orders (
  id serial PRIMARY KEY, state text NOT NULL, total numeric, at timestamptz DEFAULT now()
);
CREATE TABLE lines (item text, number int, PRIMARY KEY (item, number));
CREATE TABLE log (said text, by text);
CREATE INDEX by_state ON orders (state);
CREATE VIEW paid AS SELECT id FROM orders WHERE state = 'paid';
CREATE FUNCTION total() RETURNS numeric LANGUAGE sql AS 'SELECT sum(total) FROM public.orders';
CREATE MATERIALIZED VIEW states AS SELECT state FROM orders;
INSERT INTO orders (state, total) VALUES ('paid', 10.50), ('new', 3);
INSERT INTO lines VALUES ('a/b', 1), ('7', 2), ('', 3);
INSERT INTO log VALUES ('hello', 'me'), ('hello', 'me'), (NULL, NULL);
REFRESH MATERIALIZED VIEW states;
"""


def shop_template(folder: Path, script: str = SHOP, **options: Any) -> EnvironmentTemplate:
    """Return a frozen environment with the shop alone, which agents find by `DATABASE_URL`."""
    (folder / "shop.sql").write_text(script)
    shop = {"from": "shop.sql", "url_env": "DATABASE_URL", **options}
    template = EnvironmentTemplate(declare(postgres={"shop": shop}), folder)
    try:
        template.freeze(folder / "frozen")
    except BaseException:
        template.close()
        raise
    return template


@contextmanager
def opened_shop(template: EnvironmentTemplate, root: Path) -> Iterator[OpenedEnvironment]:
    """Open the shop for a trial."""
    with closing(template.open(root)) as environment:
        yield environment


def connect(environment: OpenedEnvironment) -> Any:
    """Return a connection as the agent has it, which commits at once."""
    import psycopg  # noqa: PLC0415 - there where the shop is

    return psycopg.connect(environment.variables["DATABASE_URL"], autocommit=True)


def execute(environment: OpenedEnvironment, *statements: str) -> None:
    """Run statements as the agent, each committed."""
    with connect(environment) as connection:
        for statement in statements:
            connection.execute(statement.encode())
