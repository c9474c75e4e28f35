"""A real PostgreSQL server for host programs that need one."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from tests.harness.parts.postgres.shop import opened_shop, shop_template


@contextmanager
def database(folder: Path) -> Iterator[Mapping[str, str]]:
    """Yield the variables with which programs find an empty database: `DATABASE_URL`."""
    folder.mkdir()
    template = shop_template(folder, "SELECT 1;")
    with closing(template), opened_shop(template, folder / "opened") as opened:
        yield {"DATABASE_URL": opened.variables["DATABASE_URL"]}
