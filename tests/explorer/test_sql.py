"""Readers' SQL: one SELECT, with its limits, and killed where it goes beyond them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.slow import slow_after

from tracegrade_explorer.errors import SqlStopped
from tracegrade_explorer.pages.queries import parameters_of
from tracegrade_explorer.sql_process import run as sql_process
from tracegrade_explorer.sql_process.run import run_sql
from tracegrade_lake import Lake
from tracegrade_queries.errors import QueryFailed


def test_rows_come_with_their_columns_and_links(web: TestClient) -> None:
    """A parameter is a field of the form, and the id of a run leads to it."""
    query = "q=SELECT trajectory_id, $note AS note FROM trajectories ORDER BY 1 LIMIT 2"
    assert 'name="p.note"' in web.get(f"/sql?{query}").text
    page = web.get(f"/sql?{query}&p.note=hello").text
    assert 'href="/runs/t1">t1</a>' in page
    assert "hello" in page
    data = web.get(f"/sql.json?{query}&p.note=1").json()
    assert data == {
        "columns": ["trajectory_id", "note"],
        "rows": [{"trajectory_id": "t1", "note": "1"}, {"trajectory_id": "t1-child", "note": "1"}],
        "more": False,
    }


def test_saved_query_runs_with_its_values(web: TestClient) -> None:
    """When it is asked to."""
    assert "<table" not in web.get("/queries/tool_error_rates").text
    page = web.get("/queries/tool_error_rates?run=yes").text
    assert "scan" in page


def test_cells_that_a_spreadsheet_would_compute_are_guarded(web: TestClient) -> None:
    """In CSV, as everywhere."""
    answer = web.get("/sql.csv?q=SELECT '=1%2B1' AS x, 1.5 AS y")
    assert answer.text == "x,y\n'=1+1,1.5\n"


@pytest.mark.parametrize(
    ("text", "words"),
    slow_after(
        2,
        [
            ("DROP VIEW steps", "one SELECT or EXPLAIN is needed, got DROP"),
            ("SELECT * FROM read_text('/etc/passwd')", "disabled"),
            ("SELECT * FROM nothing", "does not exist"),
        ],
    ),
)
def test_anything_but_reading_the_lake_is_refused(
    sample_lake: Lake, text: str, words: str
) -> None:
    """With one line that says why."""
    with pytest.raises(QueryFailed, match=r".") as error:
        run_sql(str(sample_lake.root), text, {})
    assert words in str(error.value)


WITHOUT_END = (
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    "SELECT length(repeat('x', 3000000000)) FROM range(50)",
    "SELECT list(range(2000000000))",
)


@pytest.mark.parametrize("texts", slow_after(1, [(WITHOUT_END[:1],), (WITHOUT_END[1:],)]))
def test_a_query_without_end_is_killed(
    sample_lake: Lake, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]
) -> None:
    """After its time, or for want of memory, whichever comes first; the next one runs."""
    monkeypatch.setattr(sql_process, "SECS", 1.0)
    for text in texts:
        with pytest.raises(SqlStopped, match="the query was stopped"):
            run_sql(str(sample_lake.root), text, {})
    monkeypatch.setattr(sql_process, "SECS", 120.0)
    assert run_sql(str(sample_lake.root), "SELECT 1 AS one", {}).rows == [{"one": 1}]


def test_more_rows_than_are_read_are_told(sample_lake: Lake) -> None:
    """A billion of them take no longer than those that are shown."""
    found = run_sql(str(sample_lake.root), "SELECT * FROM range(1000000000)", {}, 10)
    assert (len(found.rows), found.more) == (10, True)


def test_parameters_are_told_from_texts_and_comments() -> None:
    """In their order, each once."""
    text = "SELECT $b, '$x', $a -- $y\n, $b /* $z */"
    assert parameters_of(text) == ["b", "a"]


@pytest.fixture
def closed(empty_lake: Path) -> Iterator[TestClient]:
    """Pages that take no SQL."""
    with closing(explorer(Lake.open(empty_lake), sql=False)) as found:
        yield client(found)


def test_sql_can_be_switched_off(closed: TestClient) -> None:
    """Then there is no page for it, and no link to one."""
    assert closed.get("/sql?q=SELECT+1").status_code == 404
    assert "/sql" not in closed.get("/queries/tool_error_rates").text
