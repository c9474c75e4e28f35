"""A connection whose tables hold only some rows for a while."""

from collections.abc import Iterator
from contextlib import closing

import duckdb
import pytest

from tracegrade_queries.engine.relations import copies, only


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A table of ten numbers, and a view of it."""
    with closing(duckdb.connect()) as con:
        con.execute("CREATE TABLE numbers AS SELECT unnest(range(10)) AS number")
        con.execute("CREATE VIEW doubled AS SELECT 2 * number AS number FROM numbers")
        yield con


def read(con: duckdb.DuckDBPyConnection, name: str = "numbers") -> list[int]:
    """Return the numbers of a relation."""
    return [number for (number,) in con.sql(f"FROM {name} ORDER BY ALL").fetchall()]


def test_conditions_within_each_other_hold_together(con: duckdb.DuckDBPyConnection) -> None:
    """Also in views of the table; outside of each the rows are those of before."""
    with only(con, ["numbers"], "number < 5"):
        with only(con, ["numbers"], "number > 2"):
            assert read(con) == [3, 4]
            assert read(con, "doubled") == [6, 8]
        assert read(con) == [0, 1, 2, 3, 4]
    assert read(con) == list(range(10))


def test_rows_are_all_there_again_after_an_error(con: duckdb.DuckDBPyConnection) -> None:
    """Whatever failed while they were not."""
    with (
        pytest.raises(duckdb.Error),
        only(con, ["numbers"], "number < 5"),
        only(con, ["numbers"], "number > 2"),
    ):
        con.execute("SELECT nothing FROM numbers")

    assert read(con) == list(range(10))


def test_copies_stand_before_the_table(con: duckdb.DuckDBPyConnection) -> None:
    """They are read in place of it, in views too, until they are dropped."""
    with copies(con, {"numbers": "number = 7"}):
        assert read(con) == [7]
        assert read(con, "doubled") == [14]
    assert read(con) == list(range(10))
