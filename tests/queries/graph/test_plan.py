"""Relations are made in the order that their headers imply, and live until their last reader."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from tracegrade_queries.engine.sql import Queries
from tracegrade_queries.errors import GraphBroken
from tracegrade_queries.graph import RelationPlan
from tracegrade_queries.graph.run import PROFILE

Written = Callable[..., RelationPlan]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Makes a plan of SQL files: by name the header's sections, and the query."""

    def plan(**files: str) -> RelationPlan:
        for name, text in files.items():
            (tmp_path / f"{name}.sql").write_text(text, encoding="utf-8")
        return RelationPlan(Queries(tmp_path))

    return plan


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with a table of the lake and a relation that is given."""
    with duckdb.connect() as con:
        con.execute("CREATE TABLE lake AS SELECT 7 AS n")
        con.execute("CREATE TEMP TABLE given AS SELECT unnest([1, 2]) AS n")
        yield con


def query(sql: str, **sections: str) -> str:
    """Return the text of a file, with one line under each heading."""
    header = "".join(f"-- {name}:\n--   {line}\n" for name, line in sections.items())
    return f"-- A relation.\n--\n{header}{sql}"


def made(con: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the names of the temporary tables and views."""
    found = con.sql(
        "SELECT table_name FROM duckdb_tables() WHERE temporary UNION ALL "
        "SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal"
    )
    return {name for (name,) in found.fetchall()}


def numbers(con: duckdb.DuckDBPyConnection, name: str) -> list[int]:
    """Return the numbers of a relation."""
    return [n for (n,) in con.sql(f"SELECT n FROM {name} ORDER BY n").fetchall()]


def test_sources_are_made_first_and_dropped_after_their_last_reader(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """Targets and given relations remain, with any names."""
    plan = written(
        a_last=query("SELECT n + 1 AS n FROM z_first", Reads="z_first"),
        z_first=query("SELECT n * 10 AS n FROM given", Reads="given"),
        unwanted=query("SELECT n FROM a_last", Reads="a_last"),
    )
    run = plan.run(con, ["a_last"], ["given"])

    assert numbers(con, "a_last") == [11, 21]
    assert made(con) == {"given", "a_last"}
    assert [(cost.relation, cost.rows) for cost in run.costs] == [("z_first", 2), ("a_last", 2)]


def test_what_a_view_reads_lives_as_long_as_the_view(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """A view that is wanted keeps its sources; one that is not goes with its last reader."""
    files = {
        "kept": query("SELECT n FROM given", Reads="given"),
        "seen": query("SELECT n FROM kept", Reads="kept", As="view"),
        "more": query("SELECT n FROM given", Reads="given"),
        "zero": query("SELECT seen.n FROM seen, more", Reads="seen\n--   more"),
    }
    plan = written(**files)

    plan.run(con, ["zero"], ["given"])
    assert made(con) == {"given", "zero"}
    plan.run(con, ["seen"], ["given"])
    assert made(con) == {"given", "zero", "seen", "kept"}
    assert numbers(con, "seen") == [1, 2]


def test_a_relation_that_takes_another_comes_after_all_who_read_it(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """They see the rows as they were, also by a view; afterwards the old name is gone."""
    plan = written(
        rows=query("SELECT n FROM given", Reads="given"),
        seen=query("SELECT n FROM rows", Reads="rows", As="view"),
        zz_before=query("SELECT n FROM seen", Reads="seen"),
        changed=query("UPDATE changed SET n = -n", Takes="rows"),
    )
    plan.run(con, ["changed", "zz_before"], ["given"])

    assert numbers(con, "zz_before") == [1, 2]
    assert numbers(con, "changed") == [-2, -1]
    assert made(con) == {"given", "changed", "zz_before"}


def test_ends_of_chains_are_found_and_kept_like_others(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """Each edge has the end of its chain; no edges, no rows, and the columns all the same."""
    columns = "key   BIGINT  One row each.\n--   next  BIGINT  Where it leads."
    plan = written(
        edges=query("FROM (VALUES (1, 2), (2, 3), (5, 6)) AS t (key, next)", Ends="ends"),
        few=query(
            "SELECT n AS key, n AS next FROM given",
            Reads="given",
            Needs="given WHERE n > 5",
            Ends="no_ends",
            Columns=columns,
        ),
    )
    plan.run(con, ["ends", "no_ends"], ["given"])

    assert con.sql("FROM ends ORDER BY key").fetchall() == [(1, 3), (2, 3), (5, 6)]
    assert con.sql("FROM no_ends").fetchall() == []
    assert made(con) == {"given", "ends", "no_ends"}


def test_a_view_that_is_taken_shows_the_changed_table_under_the_new_name(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """The table below lives as long as the view does under any of its names."""
    plan = written(
        below=query("SELECT n FROM given", Reads="given"),
        first=query("SELECT n FROM below", Reads="below", As="view"),
        before=query("SELECT n FROM first", Reads="first"),
        second=query("UPDATE below SET n = -n", Reads="below", Takes="first"),
        third=query(
            "DELETE FROM below",
            Reads="below\n--   before",
            Takes="second",
            Needs="before WHERE n > 5",
        ),
        total=query("SELECT sum(n) AS n FROM third", Reads="third"),
    )
    plan.run(con, ["before", "third"], ["given"])
    assert numbers(con, "before") == [1, 2]
    assert numbers(con, "third") == [-2, -1]
    assert made(con) == {"given", "before", "third", "below"}
    for view in ("VIEW third", "TABLE below", "TABLE before"):
        con.execute(f"DROP {view}")

    plan.run(con, ["total"], ["given"])
    assert numbers(con, "total") == [-3]
    assert made(con) == {"given", "total"}


def test_what_a_script_makes_lives_as_long_as_its_views(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """Its tables go at once where only another table of it is wanted."""
    script = query(
        "CREATE OR REPLACE TEMP TABLE one AS SELECT twice(n) AS n FROM given;\n"
        "CREATE OR REPLACE TEMP VIEW two AS SELECT n FROM one;\n"
        "CREATE OR REPLACE TEMP TABLE three AS SELECT n FROM two;",
        Reads="given",
    )
    plan = written(script=script, macro="CREATE OR REPLACE TEMP MACRO twice(N) AS n * 2;")

    plan.run(con, ["three"], ["given"])
    assert numbers(con, "three") == [2, 4]
    assert made(con) == {"given", "three"}
    plan.run(con, ["two"], ["given"])
    assert made(con) == {"given", "one", "two", "three"}


def test_unmet_needs_leave_a_relation_unplanned_and_taken_rows_as_they_are(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """An empty relation is created only for who reads it; what needs it is not planned either."""
    columns = "n  BIGINT  A number."
    plan = written(
        none=query("SELECT n FROM given WHERE n > 5", Reads="given"),
        after=query("SELECT no_such FROM none", Reads="none", Needs="none", Columns=columns),
        later=query("SELECT no_such FROM after", Reads="after", Needs="after", Columns=columns),
        but=query(
            "SELECT n FROM given",
            Reads="given\n--   later",
            Needs="given WHERE n NOT IN (SELECT n FROM later)",
        ),
        total=query("SELECT count(*) AS n FROM later, but", Reads="but\n--   later"),
        rows=query("SELECT n FROM given", Reads="given"),
        changed=query("UPDATE changed SET n = -n", Takes="rows", Reads="none", Needs="none"),
    )
    run = plan.run(con, ["changed", "total"], ["given"])

    assert numbers(con, "total") == [0]
    assert numbers(con, "changed") == [1, 2]
    assert {cost.relation for cost in run.costs if cost.skipped} == {"after", "later", "changed"}


def test_an_option_puts_one_relation_in_the_place_of_another(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """It has the other's name; queries get the values of their parameters."""
    other = {"Replaces": "plain", "When": "compat = other"}
    plan = written(
        plain=query("SELECT 1 AS n"),
        by_paper=query("SELECT $least AS n", Parameters="$least  BIGINT  The least.", **other),
    )

    plan.run(con, ["plain"])
    assert numbers(con, "plain") == [1]
    plan.run(con, ["plain"], options={"compat": "other", "least": 3})
    assert numbers(con, "plain") == [3]


def test_a_relation_with_the_name_of_a_table_of_the_lake_stays(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """If it were dropped, its name would mean the lake's rows to the next reader."""
    plan = written(
        lake=query("SELECT n FROM given", Reads="given"),
        read=query("SELECT n FROM lake", Reads="lake"),
    )
    plan.run(con, ["read"], ["given"])

    assert numbers(con, "lake") == [1, 2]


def test_macros_are_defined_before_who_calls_them(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """A macro that calls another comes after that."""
    plan = written(
        twice=query("SELECT four_times(n) AS n FROM given", Reads="given"),
        a_macro="CREATE OR REPLACE TEMP MACRO four_times(n) AS doubled(doubled(n));",
        z_macro="CREATE OR REPLACE TEMP MACRO doubled(n) AS n * 2;",
    )
    plan.run(con, ["twice"], ["given"])

    assert numbers(con, "twice") == [4, 8]


def test_what_cannot_be_put_in_order_is_named(
    con: duckdb.DuckDBPyConnection, written: Written
) -> None:
    """Something missing with its reader, a circle with all that is in it, also one by `Takes`."""
    plan = written(
        lonely=query("SELECT n FROM absent", Reads="absent"),
        one=query("SELECT n FROM two", Reads="two"),
        two=query("SELECT n FROM one", Reads="one"),
        taker=query("UPDATE taker SET n = 0", Takes="given_rows"),
        given_rows=query("SELECT n FROM given", Reads="given"),
        late=query("SELECT n FROM given_rows, taker", Reads="given_rows\n--   taker"),
    )

    with pytest.raises(GraphBroken, match="'lonely' reads 'absent', which nothing makes"):
        plan.run(con, ["lonely"])
    with pytest.raises(GraphBroken, match="'one' reads 'two' reads 'one'"):
        plan.run(con, ["one"])
    with pytest.raises(GraphBroken, match="'late' reads 'taker' reads 'late'"):
        plan.run(con, ["late"], ["given"])


def test_a_profile_has_a_line_for_each_relation(
    con: duckdb.DuckDBPyConnection,
    written: Written,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its rows, its CPU time and whether it was skipped; runs add to the file."""
    monkeypatch.setenv(PROFILE, str(tmp_path / "profile"))
    plan = written(
        none=query("SELECT n FROM given WHERE n > 5", Reads="given"),
        after=query("SELECT n FROM none", Needs="none", Reads="none", Columns="n  BIGINT  One."),
    )
    for _ in range(2):
        plan.run(con, ["after"], ["given"])

    lines = [json.loads(line) for line in (tmp_path / "profile").read_text().splitlines()]
    assert [(line["relation"], line["rows"], line["skipped"]) for line in lines] == 2 * [
        ("none", 0, False),
        ("after", 0, True),
    ]
    assert all(line["cpu_ms"] >= 0 for line in lines)
