"""The SQL page: results in three views, mistakes with their place, saved queries, downloads."""

import io
import math
import re
import shutil
from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest
from httpx2 import Response
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.explorer.lakes import client, labeled_by_ann, run_query
from tests.slow import slow_after

from tracegrade_explorer.app import Explorer
from tracegrade_explorer.guard import WRITES
from tracegrade_explorer.own_queries import own_queries
from tracegrade_explorer.sql_process import download
from tracegrade_explorer.sql_process.download import download_rows
from tracegrade_explorer.sql_process.run import Rows
from tracegrade_explorer.workbench.mistake import mistake_of
from tracegrade_explorer.workbench.result import four_digits, result_of
from tracegrade_lake import Lake
from tracegrade_queries.errors import QueryFailed

HOSTILE = "SELECT '</textarea><script>alert(1)</script>\x1b[2J' AS \"<b>x</b>\""


@pytest.fixture
def lake(scored_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Scored runs, in which the test may save queries."""
    return Lake.open(shutil.copytree(scored_lake.root, tmp_path_factory.mktemp("own") / "lake"))


@pytest.fixture
def ann(lake: Lake) -> Iterator[TestClient]:
    """A reader who may label, and so save."""
    with labeled_by_ann(lake) as found:
        yield client(found)


def save(web: TestClient, name: str, text: str, **fields: str) -> Response:
    """Return the answer to the form that saves a query."""
    (token, *_) = re.findall(r'name="page_token" value="(\w+)"', web.get("/sql").text)
    data = {"page_token": token, "q": text, "save_as": name, **fields}
    return web.post("/save-query", data=data)


def test_a_mistake_leaves_the_query_with_its_place_and_the_nearest_name(web: TestClient) -> None:
    """The page is the same as without one, but for its status."""
    text = "SELECT kind\nFROM steps\nWHERE tool_nam = 'scan'"
    answer = run_query(web, text)
    assert answer.status_code == 400
    assert f">\n{text}</textarea>" in answer.text.replace("&#39;", "'")
    assert "3  WHERE tool_nam = &#39;scan&#39;\n         ^</pre>" in answer.text
    assert "Nearest name: <code>tool_name</code>" in answer.text
    assert "\\x0a" not in answer.text
    assert 'aria-label="Tables and saved queries"' in answer.text


@pytest.mark.parametrize(
    ("error", "text", "number", "marked", "nearest"),
    [
        ('Parser Error: syntax error at or near "x"\n\nLINE 2: FROM a x y\n               ^',
         "SELECT 1\nFROM a x y", 2, "x y", ""),
        ('Catalog Error: Table with name stepz does not exist!\nDid you mean "steps"?',
         "\n\nSELECT *\nFROM\tstepz", 4, "stepz", "steps"),
        ('Binder Error: Table "s" does not have a column named "kin"\n\nCandidate bindings: : '
         '"kind", "rank"', "SELECT s.kin FROM s", 1, "kin FROM s", "kind"),
        ('Binder Error: Referenced column "zz" not found in FROM clause!', "SELECT 'x'", 0, "",
         ""),
        ("Out of ideas", "SELECT 1", 0, "", ""),
    ],
)  # fmt: skip
def test_the_place_of_a_mistake_is_found(
    error: str, text: str, number: int, marked: str, nearest: str
) -> None:
    """By what the engine quotes, else by the name that it does not know."""
    found = mistake_of(error, text)
    assert (found.number, found.nearest) == (number, nearest)
    assert found.line[len(found.caret) :] == marked
    assert "\n" not in found.message


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_error_of_any_query_is_shown(error: str, text: str) -> None:
    """The caret is within a line of the query, for any texts."""
    found = mistake_of(error, text)
    assert not found.number or found.line in text
    assert len(found.caret) <= len(found.line)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.123456, "0.1235"), (2026, "2026"), (1_234_567, "1,234,567"), (12345.678, "12,350"),
        (0.00290001, "0.0029"), (1e-9, "1e-09"), (-1.5, "-1.5"), (float("inf"), "inf"),
        ("0.50", "0.5"), (0.0, "0"), (99999.9, "100,000"),
    ],
)  # fmt: skip
def test_a_fraction_has_four_significant_digits(value: float | str, text: str) -> None:
    """A whole number has all; years are not grouped."""
    assert four_digits(value) == text


@given(st.floats(-1e300, 1e300))
def test_four_digits_are_near_the_number(value: float) -> None:
    """To half a unit of the fourth digit."""
    assert math.isclose(
        float(four_digits(value).replace(",", "")), value, rel_tol=5.1e-4, abs_tol=1e-320
    )


def test_the_first_number_is_drawn_over_the_first_text_or_time() -> None:
    """A bar is as long as its share of the largest; times have their distances."""
    days = ("2026-11-01", "2026-11-02", "2026-11-05")
    rows = [{"d": day, "n": n} for day, n in zip(days, (2, 4, 1), strict=True)]
    found = result_of(Rows(["d", "n"], rows, False, ["time", "number"], 1.0))
    assert [re.findall(r'bar-part" width="([\d.]+)"', each) for each in found.bars] == [
        ["40.0"], ["80.0"], ["20.0"],
    ]  # fmt: skip
    assert found.line is not None
    assert re.findall(r'cx="([\d.]+)"', found.line.drawn) == ["0.0", "300.0", "1200.0"]
    assert (found.line.most, found.line.ends) == ("4", (days[0], days[2]))


def test_what_cannot_be_drawn_is_a_table_alone() -> None:
    """No number, numbers below zero for bars, one row for a line, an unknown in between."""
    text = result_of(Rows(["t"], [{"t": "x"}], False, ["text"], 1.0))
    below = result_of(
        Rows(["t", "n"], [{"t": "a", "n": -1}, {"t": None, "n": None}], False,
             ["text", "number"], 1.0)
    )  # fmt: skip
    assert (text.bars, text.line, below.bars) == ([], None, [])
    assert below.line is not None


def test_results_that_are_text_are_no_markup(web: TestClient) -> None:
    """Neither in the editor nor in a head or a cell."""
    page = run_query(web, HOSTILE)
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "<b>x</b>" not in page.text
    assert "\x1b" not in page.text


def test_a_thousand_rows_of_a_hundred_thousand_are_shown(web: TestClient) -> None:
    """The page says that there are more."""
    page = run_query(web, "SELECT * FROM range(100000)").text
    assert page.count("<tr data-row") == 1_000
    assert "The first 1,000 rows are shown" in page


@pytest.mark.parametrize("form", slow_after(1, ["csv", "json", "parquet"]))
def test_a_download_has_all_rows_whole(web: TestClient, form: str) -> None:
    """A hundred thousand of them, in each form the same."""
    answer = run_query(web, "SELECT range AS n, range / 7 AS share FROM range(100000)", f".{form}")
    if form == "csv":
        lines = answer.text.splitlines()
        rows = [tuple(map(float, line.split(","))) for line in lines[1:]]
    elif form == "json":
        rows = [(float(row["n"]), row["share"]) for row in answer.json()["rows"]]
    else:
        table = pq.read_table(io.BytesIO(answer.content)).to_pylist()
        rows = [(float(row["n"]), row["share"]) for row in table]
    assert rows == [(float(n), n / 7) for n in range(100_000)]


def test_a_download_of_kinds_that_csv_lacks_has_texts(web: TestClient) -> None:
    """Bytes, intervals, lists and maps."""
    text = "SELECT INTERVAL 1 DAY AS i, '\\xFF'::BLOB AS b, [1, 2] AS l, MAP {'a': 1} AS m"
    answer = run_query(web, text, ".csv")
    assert answer.status_code == 200
    assert answer.text.splitlines()[0] == '"i","b","l","m"'
    assert '"[1,2]"' in answer.text


def test_a_download_beyond_the_most_rows_is_refused(
    web: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the limit; a download never ends early."""
    monkeypatch.setattr(download, "MOST_ROWS", 10)
    answer = run_query(web, "SELECT * FROM range(11)", ".csv")
    assert (answer.status_code, "more than 10 rows" in answer.json()["error"]) == (400, True)
    assert run_query(web, "SELECT * FROM range(10)", ".csv").text.count("\n") == 11


def test_a_download_that_fails_at_its_end_is_an_error(sample_lake: Lake) -> None:
    """After many rows that were fine."""
    text = "SELECT CASE WHEN range = 99999 THEN 'x' ELSE '1' END::INT AS n FROM range(100000)"
    for form in ("csv", "json", "parquet"):
        with pytest.raises(QueryFailed, match="Could not convert"):
            download_rows(str(sample_lake.root), text, {}, form)


def test_a_query_without_values_runs_at_its_address(web: TestClient) -> None:
    """Its rows are there, and its header is folded."""
    page = web.get("/sql/tool_error_rates")
    assert page.status_code == 200
    assert "scan" in page.text
    assert "<summary>Parameters and columns</summary>" in page.text
    assert "scan" in web.get("/sql/tool_error_rates.csv").text


def test_former_addresses_lead_on(web: TestClient) -> None:
    """With their values."""
    found = [
        web.get(path).headers["location"]
        for path in ("/queries", "/queries/tool_error_rates", "/queries/repeated_calls?p.times=2")
    ]
    assert found == ["/sql", "/sql/tool_error_rates", "/sql/repeated_calls?p.times=2"]


@pytest.mark.parametrize(
    "value",
    [
        "TIMESTAMP_NS '2026-01-01 00:00:00.000000001'",
        "TIMESTAMP '20000-01-01'",
        "DATE '-20-01-01'",
    ],
)
def test_a_value_that_cannot_be_shown_is_named_with_a_way_out(web: TestClient, value: str) -> None:
    """It is shown as a text of its own, or the page says to cast it; memory is not blamed."""
    page = run_query(web, f"SELECT {value} AS moment")
    assert page.status_code in {200, 400}
    assert "memory" not in page.text.split("</form>")[-1]
    assert page.status_code == 200 or "cast its column to VARCHAR" in page.text
    cast = run_query(web, f"SELECT ({value})::VARCHAR AS moment", ".json").json()
    assert len(cast["rows"]) == 1


def test_the_page_lists_tables_with_what_columns_mean(web: TestClient) -> None:
    """Programs get the same, with the saved queries."""
    data = web.get("/sql.json").json()
    steps = next(table for table in data["tables"] if table["name"] == "steps")
    counted = run_query(web, "SELECT count(*) AS n FROM steps", ".json").json()
    assert steps["rows"] == counted["rows"][0]["n"]
    assert all(column["meaning"] for column in steps["columns"])
    assert "tool_error_rates" in {query["name"] for query in data["queries"]}
    assert '<code title="BIGINT: ' in web.get("/sql").text


def test_names_are_those_of_tables_columns_and_saved_queries(ann: TestClient) -> None:
    """A column of several tables is there once; a saved query has its address."""
    save(ann, "mine", "SELECT 1 AS one")
    choices = ann.get("/sql-names.json").json()["choices"]
    hints = {choice["text"]: choice["hint"] for choice in choices}
    tables = {table["name"]: table for table in ann.get("/sql.json").json()["tables"]}
    columns = {column["name"] for table in tables.values() for column in table["columns"]}

    assert {*tables, *columns, "mine", "tool_error_rates"} <= hints.keys()
    assert hints["steps"].startswith("table, ")
    assert hints["trajectory_id"].startswith("column of ")
    assert hints["trajectory_id"].endswith(" more tables")
    assert [each["href"] for each in choices if each["text"] == "mine"] == ["/sql/mine"]
    assert sum(choice["text"] == "trajectory_id" for choice in choices) == 1
    assert ann.get("/sql-names").status_code == 404


def test_a_query_of_any_valid_name_has_an_address(ann: TestClient) -> None:
    """That of the names to complete is no query's."""
    answer = save(ann, "names", "SELECT 41 + 1 AS answer")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sql/names")
    assert ">42<" in ann.get("/sql/names").text
    assert ann.get("/sql/names.json").json()["rows"] == [{"answer": 42}]
    assert "choices" in ann.get("/sql-names.json").json()


def test_a_saved_query_is_in_the_lake_under_its_name(ann: TestClient, lake: Lake) -> None:
    """It is a file that says who saved it; its page runs it."""
    answer = save(ann, "calls-by-kind", "SELECT kind, count(*) AS n FROM steps GROUP BY ALL")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sql/calls-by-kind")
    page = ann.get("/sql/calls-by-kind").text
    assert "tool_call" in page
    assert "<summary>ann " in page
    first = (lake.root / "queries" / "calls-by-kind.sql").read_text().splitlines()[0]
    assert re.fullmatch(r"-- Saved by ann on \d{4}-\d\d-\d\d\.", first)


def test_another_text_of_a_name_is_overwritten_by_a_second_form_alone(
    ann: TestClient, lake: Lake
) -> None:
    """The first form shows what would be lost, and keeps what was written."""
    save(ann, "mine", "SELECT 1 AS one")
    asked = save(ann, "mine", "SELECT 2 AS two")
    assert asked.status_code == 409
    assert "SELECT 1 AS one" in asked.text
    assert ">\nSELECT 2 AS two</textarea>" in asked.text
    assert own_queries(str(lake.root))["mine"].text == "SELECT 1 AS one"
    assert save(ann, "mine", "SELECT 1 AS one").status_code == 303
    assert save(ann, "mine", "SELECT 2 AS two", overwrite="yes").status_code == 303
    assert own_queries(str(lake.root))["mine"].text == "SELECT 2 AS two"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../x",
        "a/b",
        "A",
        "a b",
        "x" * 61,
        "tool_error_rates",
        "a.sql",
        "a\nb",
        "ä",
        "%2e%2e",
    ],
)
def test_no_other_name_is_saved(ann: TestClient, lake: Lake, name: str) -> None:
    """The query stays in the editor, and no file is written."""
    answer = save(ann, name, "SELECT 1 AS one")
    assert (answer.status_code, ">\nSELECT 1 AS one</textarea>" in answer.text) == (400, True)
    assert not (lake.root / "queries").exists()


def test_who_may_not_label_saves_nothing(web: TestClient, pages: Explorer) -> None:
    """An address cannot save either; the query stays in the editor."""
    answer = save(web, "mine", "SELECT 1 AS one")
    assert (answer.status_code, ">\nSELECT 1 AS one</textarea>" in answer.text) == (403, True)
    assert "Save as" not in web.get("/sql").text
    assert web.get("/save-query?q=SELECT+1&save=mine").status_code == 405
    assert "/save-query" in WRITES
    assert not own_queries(pages.site.lake)


def test_a_long_query_is_run_and_saved_whole(ann: TestClient, lake: Lake) -> None:
    """It has no address of its own before it is saved."""
    text = "SELECT " + ", ".join(f"{n} AS column_{n}" for n in range(1_000))
    page = run_query(ann, text)
    assert (page.status_code, f">\n{text}</textarea>" in page.text) == (200, True)
    assert "data-address" not in page.text
    save(ann, "long", text)
    assert own_queries(str(lake.root))["long"].text == text


def test_files_of_other_kinds_are_no_saved_queries(ann: TestClient, lake: Lake) -> None:
    """A link out of the lake is not read; a file put there by hand is, without a person."""
    folder = lake.root / "queries"
    folder.mkdir()
    (folder / "by-hand.sql").write_text("SELECT 7 AS seven")
    (folder / "passwd.sql").symlink_to("/etc/passwd")
    (folder / "tool_error_rates.sql").write_text("SELECT 1")
    (folder / "x.sql").mkdir()
    assert [*own_queries(str(lake.root))] == ["by-hand"]
    assert "seven" in ann.get("/sql/by-hand").text
    assert ann.get("/sql/passwd").status_code == 404


def test_a_line_over_times_of_any_year() -> None:
    """Also over those that have no seconds since 1970 everywhere."""
    rows = [{"t": f"{year}-01-01T00:00:00", "n": 1} for year in ("0001", "9999")]
    line = result_of(Rows(["t", "n"], rows, False, ["time", "number"], 1.0)).line

    assert line is not None
    assert line.ends == ("0001-01-01T00:00:00", "9999-01-01T00:00:00")
