"""Readers' SQL: one SELECT, with its limits, and killed where it goes beyond them."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer, run_query, run_saved
from tests.slow import slow_after

from tracegrade_explorer.errors import SqlStopped
from tracegrade_explorer.forms import MAX_BYTES, MEDIA_TYPE
from tracegrade_explorer.sql_process import run as sql_process
from tracegrade_explorer.sql_process.run import run_sql
from tracegrade_explorer.workbench.draft import parameters_of
from tracegrade_lake import Lake
from tracegrade_queries.engine.layers import saved
from tracegrade_queries.errors import QueryFailed


def test_rows_come_with_their_columns_and_links(web: TestClient) -> None:
    """A parameter is a field of the form, and the id of a run leads to it."""
    query = "SELECT trajectory_id, $note AS note FROM trajectories ORDER BY 1 LIMIT 2"
    assert 'name="p.note"' in run_query(web, query).text
    page = run_query(web, query, note="hello").text
    assert 'href="/runs/t1">t1</a>' in page
    assert "hello" in page
    data = run_query(web, query, ".json", note="1").json()
    assert data == {
        "columns": ["trajectory_id", "note"],
        "rows": [{"trajectory_id": "t1", "note": "1"}, {"trajectory_id": "t1-child", "note": "1"}],
    }


def test_an_address_shows_a_query_and_runs_nothing(
    web: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In none of its forms; lines and tabs are as they were written."""
    monkeypatch.setattr(sql_process, "CHILD", "of.no.process")  # any run would fail
    query = "SELECT\t$n AS n\nFROM steps"
    address = f"q={quote(query)}&p.n=<5"
    page = web.get(f"/sql?{address}")
    assert (page.status_code, "<table" in page.text) == (200, False)
    assert f">\n{query}</textarea>" in page.text
    assert 'name="p.n" value="&lt;5"' in page.text
    assert web.get(f"/sql.json?{address}").json()["rows"] is None
    assert web.get(f"/sql.csv?{address}").status_code == 403
    assert web.head(f"/sql?{address}").status_code == 200


@pytest.mark.parametrize("token", ["", "0" * 64, "ä"])
def test_a_form_without_the_token_of_our_page_runs_nothing(
    web: TestClient, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    """The query stands in the editor, with the token that it needs to be sent again."""
    monkeypatch.setattr(sql_process, "CHILD", "of.no.process")
    answer = web.post("/sql", data={"q": "SELECT 41 + 1", "page_token": token})
    assert answer.status_code == 403
    assert ">\nSELECT 41 + 1</textarea>" in answer.text
    assert re.search(r'name="page_token" value="\w{64}"', answer.text)


def test_a_token_in_the_address_of_a_form_is_none(web: TestClient) -> None:
    """Nor is a query there run."""
    (token,) = re.findall(r'name="page_token" value="(\w+)"', web.get("/sql").text)
    assert web.post(f"/sql?page_token={token}&q=SELECT+1", data={"q": "x"}).status_code == 403


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"content-type": "text/plain"}, b"q=SELECT+1"),
        ({"content-type": "application/json"}, b"{}"),
        ({"content-type": MEDIA_TYPE}, b"q=" + b"x" * MAX_BYTES),
        ({"content-type": MEDIA_TYPE}, b"p.a=1&" * 2_000),
    ],
)
def test_what_is_no_form_or_too_long_is_refused(
    web: TestClient, headers: dict[str, str], body: bytes
) -> None:
    """In one line."""
    answer = web.post("/sql.json", headers=headers, content=body)
    assert (answer.status_code, [*answer.json()]) == (403, ["error"])


def test_after_an_error_one_can_go_on(web: TestClient) -> None:
    """The query is in the editor, and the menu leads on; programs get the reason."""
    text = "COPY (SELECT 1) TO x"
    answer = run_query(web, text)
    assert answer.status_code == 400
    assert f">\n{text}</textarea>" in answer.text
    assert all(f'href="{path}"' in answer.text for path in ("/runs", "/sql"))
    again = re.findall(r'name="page_token" value="(\w+)"', answer.text)
    assert "42" in web.post("/sql", data={"q": "SELECT 41 + 1", "page_token": again}).text
    assert [*run_query(web, text, ".json").json()] == ["error"]


def test_what_cannot_be_understood_keeps_the_editor(web: TestClient) -> None:
    """Of an address, too; other pages' errors have the menu and no editor."""
    page = web.get("/sql?q=SELECT+7&x=1")
    assert (page.status_code, "SELECT 7</textarea>" in page.text) == (400, True)
    for path in ("/runs?x=1", "/nothing"):
        other = web.get(path).text
        assert ('href="/sql"' in other, "<textarea" in other) == (True, False)


def test_saved_query_runs_when_its_form_is_sent(web: TestClient) -> None:
    """As a page that links to itself, and as rows for programs."""
    assert "scan" in run_saved(web, "tool_error_rates").text
    assert "scan" in [
        row["tool_name"] for row in run_saved(web, "tool_error_rates", ".json").json()["rows"]
    ]
    assert "scan" in run_saved(web, "tool_error_rates", ".csv").text


def test_an_address_shows_a_saved_query_and_runs_nothing(
    web: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in any of its forms, with any text; its values are in the form."""
    monkeypatch.setattr(sql_process, "CHILD", "of.no.process")
    name = next(name for name, each in saved().items() if each.parameters)
    field = saved()[name].parameters[0]
    page = web.get(f"/sql/{name}?p.{field}=<5")
    assert (page.status_code, "<table" in page.text) == (200, False)
    assert f'name="p.{field}" value="&lt;5"' in page.text
    assert web.get(f"/sql/{name}.json").json()["rows"] is None
    assert web.get(f"/sql/{name}.csv?p.{field}=5").status_code == 403


def test_a_saved_query_that_fails_keeps_its_form_and_the_menu(web: TestClient) -> None:
    """Sent without the token of our page, or with a value that the query does not have."""
    answers = [
        web.post("/sql/tool_error_rates", data={}),
        run_saved(web, "tool_error_rates", "", nothing="1"),
    ]
    for answer, status in zip(answers, (403, 400), strict=True):
        assert answer.status_code == status
        assert 'action="/sql/tool_error_rates"' in answer.text
        assert re.search(r'name="page_token" value="\w{64}"', answer.text)
        assert all(f'href="{path}"' in answer.text for path in ("/runs", "/sql"))
    assert web.post("/sql/of_nobody", data={}).status_code == 403
    assert "SELECT" not in web.get("/sql/of_nobody").text


def test_cells_that_a_spreadsheet_would_compute_are_guarded(web: TestClient) -> None:
    """In CSV, as everywhere."""
    answer = run_query(web, "SELECT '=1+1' AS x, 1.5 AS y", ".csv")
    assert answer.text == '"x","y"\n"\'=1+1",1.5\n'


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


ESCAPES = (
    "DROP TABLE steps", "CREATE TABLE x AS SELECT 1", "INSERT INTO steps SELECT * FROM steps",
    "UPDATE steps SET kind = 'x'", "DELETE FROM steps", "COPY steps TO '{place}'",
    "COPY (SELECT 1) TO '{place}' (FORMAT parquet)", "EXPORT DATABASE '{place}'",
    "INSTALL httpfs", "LOAD httpfs", "ATTACH '{place}' AS other", "SET memory_limit = '9GB'",
    "PRAGMA database_list", "RESET ALL", "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM query('SELECT 1')", "SELECT 1; DROP VIEW steps", "EXPLAIN ANALYZE COPY "
    "(SELECT 1) TO '{place}'", "WITH x AS (COPY (SELECT 1) TO '{place}') SELECT 1",
    "SELECT getenv('HOME')", "CALL pragma_version()", "CHECKPOINT", "BEGIN TRANSACTION",
    "SELECT * FROM read_parquet('http://127.0.0.1:1/x.parquet')",
)  # fmt: skip
"""Statements that would write, read files, load code, or change the engine."""


@pytest.mark.parametrize("form", ["", *slow_after(0, [".csv"])])
@pytest.mark.parametrize("text", slow_after(6, ESCAPES))
def test_no_query_escapes_the_lake(web: TestClient, tmp_path: Path, text: str, form: str) -> None:
    """On the page and as a download, with the reason; nothing is written."""
    place = tmp_path / "written"
    answer = run_query(web, text.format(place=place), form)
    found = answer.status_code
    if text.startswith("SELECT * FROM glob"):  # it may be asked, and finds nothing outside
        assert found == 400 or "passwd" not in answer.text.replace("glob(", "")
    else:
        assert found == 400, answer.text[-400:]
    assert not place.exists()
    assert [*tmp_path.iterdir()] == []


WITHOUT_END = (
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    "SELECT length(repeat('x', 3000000000)) FROM range(50)",
    "SELECT list(range(2000000000))",
)


@pytest.mark.parametrize("texts", slow_after(1, [(WITHOUT_END[:1],), (WITHOUT_END[1:],)]))
def test_a_query_without_end_is_killed(
    sample_lake: Lake, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]
) -> None:
    """After its time, or when memory runs out; the next query runs."""
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
    """The editor is gone; saved queries still run."""
    page = closed.get("/sql?q=SELECT+1")
    assert (page.status_code, "<textarea" in page.text) == (404, False)
    assert closed.post("/sql", data={"q": "SELECT 1"}).status_code == 403
    assert "<textarea" not in closed.get("/sql").text
    page = closed.get("/sql/tool_error_rates")
    assert (page.status_code, "<textarea" in page.text) == (200, False)
    assert closed.get("/sql/tool_error_rates?q=SELECT+1").status_code == 404
