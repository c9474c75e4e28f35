"""Pages of kills: what is left, what names a way back, and links from runs and releases."""

import dataclasses
import html
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.harness.results import kill, result
from tests.scoring.report.build import Tables, as_lake

from tracegrade_harness.lake import write
from tracegrade_harness.schema import HARNESS_TRIALS
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.layers import find_query

HOSTILE = "files:data/<script>x</script>\x1b[31m.csv"
SECRET = "sk-proj-Zx91kQ7vT3bN8mW2pL5dR6yH0cJ4fG1sA9eU"  # noqa: S105 - made up
PASSWORD = "kW8_pZ2-vQ5xT1"  # noqa: S105 - made up
LEFT = [
    {"object": HOSTILE, "change": "added", "named_by": None, "disproved": None},
    {"object": "files:data/a.csv", "change": "removed", "named_by": "journal", "disproved": None},
    {"object": "files:data/b.csv", "change": "changed", "named_by": "journal",
     "disproved": "command ended with 1"},
]  # fmt: skip
STATES = [
    {"object": HOSTILE, "before": "absent", "killed": "added", "recovered": "added"},
    {"object": "files:data/a.csv", "before": "present", "killed": "removed",
     "recovered": "removed"},
    {"object": "files:data/b.csv", "before": "present", "killed": "changed",
     "recovered": "changed", "forms": {"before": "file 0644", "killed": "file 0600"},
     "texts": {"before": "id,sum\n1,<b>20</b>\n2,30\n",
               "killed": f'id,sum\n1,<b>21</b>\n2,30\npassword = "{PASSWORD}"\n',
               "recovered": "id,sum\n1,<b>22</b>\n2,30\n\x1b[31m3,40\n"}},
    {"object": "files:data/c.csv", "before": "present", "killed": "removed", "recovered": "same"},
]  # fmt: skip


def lake_of_kills(folder: Path, *, scored: bool = False) -> Lake:
    """Return a lake with a run, three kills that repeat it, and one of another release."""
    with closing(Tables()) as tables:
        for release in ("1", "1", "1", "1", "2", "2"):
            run = tables.run(release, "worker", task_id="pay", step_count=0)
            if scored:
                tables.scored(run, "pay")
                tables.score(run, "success", 1.0 if run == "t1" else 0.0)
        lake = as_lake(tables, folder)
    of_one = {"baseline_trajectory_id": "t1"}
    write(lake, "r1", "s", [
        result(trajectory_id="t1"),
        kill("early", trajectory_id="t2", boundary=1, **of_one),
        kill("mid", trajectory_id="t3", status="error", reason="not_reached: it ended", **of_one,
             leftovers=None, immediate=None, after_recovery=None, boundary=None),
        kill("late", trajectory_id="t4", boundary=12, immediate=0, after_recovery=3,
             leftovers=LEFT, states=STATES, recovery_log=f"no such file {SECRET}",
             notes=["recovery: ended with 2"], **of_one),
        kill("late", trajectory_id="t6", boundary=11, release="2", baseline_trajectory_id="t5"),
    ])  # fmt: skip
    return lake


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with kills."""
    return lake_of_kills(tmp_path_factory.mktemp("kills") / "lake")


@pytest.fixture(scope="module")
def web(killed: Lake) -> TestClient:
    """What asks for its pages."""
    return client(explorer(killed))


def text_of(web: TestClient, address: str) -> str:
    """Return the text of a page, without markup."""
    return html.unescape(re.sub(r"<[^>]+>", "", web.get(address).text))


def test_kill_says_what_is_left_and_what_names_a_way_back(web: TestClient) -> None:
    """The headline counts the objects; each has its states; the recovery's log is there, clean."""
    page = text_of(web, "/runs/t4/kill")
    found = web.get("/runs/t4/kill.json").json()

    assert "Killed after call 12: 3 objects stay changed, and no record names a way back" in page
    assert "for 1 of them" in page
    assert "journal: names 2 objects" in page
    assert "tried, and failed: command ended with 1" in page
    assert "recovery: ended with 2" in page
    assert "no such file" in page
    assert SECRET not in page
    assert [each["recovered"] for each in found["objects"]] == [
        "added", "removed", "changed", "same",
    ]  # fmt: skip
    assert [each["left"] for each in found["objects"]] == [True, True, True, False]


def test_names_of_objects_are_text(web: TestClient) -> None:
    """Markup and escapes in a file's name act nowhere."""
    raw = web.get("/runs/t4/kill").text

    assert "<script>x" not in raw
    assert "\x1b" not in raw
    assert "\\x1b[31m.csv" in raw


def test_text_of_an_object_is_compared_before_and_after(web: TestClient) -> None:
    """Lines that the run and the recovery changed, as text and without secrets."""
    raw = web.get("/runs/t4/kill").text
    diffs = re.findall(r'<pre class="diff">(.*?)</pre>', raw, re.DOTALL)
    by_run, by_recovery = (html.unescape(re.sub(r"<[^>]+>", "", each)) for each in diffs)

    assert by_run.splitlines()[:4] == ["  id,sum", "\u2212 1,<b>20</b>", "+ 1,<b>21</b>", "  2,30"]
    assert "+ 1,<b>22</b>" in by_recovery.splitlines()
    assert "\\x1b[31m3,40" in by_recovery
    assert "file 0644, then file 0600" in text_of(web, "/runs/t4/kill")
    assert PASSWORD not in raw + web.get("/runs/t4/kill.json").text
    assert "<b>20" not in raw


def test_counts_equal_those_of_the_saved_queries(web: TestClient, killed: Lake) -> None:
    """The list has as many leftovers for each kill as `kills` and `leftovers` say."""
    with connect(killed) as con:
        by_query = {
            (row[0], row[1], row[2]): row[3]
            for row in con.sql(
                f"SELECT task_id, release, kill_point, leftovers FROM ({_saved('kills')})"
            ).fetchall()
        }
        objects = con.sql(f"SELECT count(*) FROM ({_saved('leftovers')})").fetchall()[0][0]
    listed = web.get("/kills.json").json()["kills"]

    assert {
        (row["task_id"], row["release"], row["kill_point"]): row["leftovers"] for row in listed
    } == by_query
    assert sum(row["leftovers"] or 0 for row in listed) == objects == 3


def _saved(name: str) -> str:
    return find_query(name).rstrip().removesuffix(";")


def test_nothing_left_is_one_line(web: TestClient) -> None:
    """No table, no color of a fault."""
    page = web.get("/runs/t2/kill").text

    assert "Killed after call 1: nothing is left" in page
    assert "Every object is as it was before the run." in page
    assert 'aria-label="State"' not in page


def test_kill_that_was_not_judged_says_why(web: TestClient) -> None:
    """An error of the harness differs from nothing left."""
    page = text_of(web, "/runs/t3/kill")

    assert "Kill at the mid point: error: not_reached: it ended" in page
    assert "Every object is as it was" not in page


def test_kills_lead_to_one_another(web: TestClient) -> None:
    """The other kills of the run, and the same kill of another release."""
    page = web.get("/runs/t4/kill").text
    addresses = set(re.findall(r'href="(/runs/[^"]+/kill)"', page))

    assert addresses == {"/runs/t2/kill", "/runs/t3/kill", "/runs/t6/kill"}
    assert all(web.get(address).status_code == 200 for address in addresses)


@pytest.mark.parametrize(
    ("run", "lines"),
    [("t4", ["/runs/t4/kill"]), ("t1", ["/runs/t2/kill", "/runs/t3/kill", "/runs/t4/kill"])],
)
def test_runs_lead_to_their_kills(web: TestClient, run: str, lines: list[str]) -> None:
    """The killed run to its kill; the run that it repeats to all of them, early first."""
    assert re.findall(r'href="(/runs/[^"]+/kill)"', web.get(f"/runs/{run}").text) == lines


def test_undisturbed_run_names_a_kill_by_its_point(web: TestClient) -> None:
    """A killed run that sent no span has a page as well."""
    assert "Killed after call 12" in web.get("/runs/t1/kill?point=late").text
    assert web.get("/runs/t1/kill?point=noon").status_code == 400
    assert web.get("/runs/t9/kill").status_code == 404


def test_releases_lead_to_their_kills(web: TestClient) -> None:
    """Each release of an agent has its number of kills, and the link opens as many."""
    page = html.unescape(web.get("/releases").text)
    links = re.findall(r'href="(/kills\?[^"]+)">worker (\d): (\d) kills?', page)

    assert {(release, number) for _, release, number in links} == {("1", "3"), ("2", "1")}
    for address, _, number in links:
        found = web.get(address.replace("/kills?", "/kills.json?")).json()["kills"]
        assert len(found) == int(number)


def test_lake_of_an_earlier_version_opens(killed: Lake, tmp_path: Path) -> None:
    """Rows without the states show what is left, and say that the rest was not recorded."""
    lake = lake_of_kills(tmp_path / "lake")
    rows: list[dict[str, Any]] = lake.dataset(HARNESS_TRIALS.name).to_table().to_pylist()  # type: ignore[union-attr]
    lake.drop(HARNESS_TRIALS.name)
    write_without_states(lake, rows)
    with closing(explorer(lake)) as pages, closing(pages.latest):
        page = text_of(client(pages), "/runs/t4/kill")

    assert "3 objects stay changed" in page
    assert "did not record the states at the kill" in page


def write_without_states(lake: Lake, rows: list[dict[str, Any]]) -> None:
    """Write rows as the version before wrote them: without the states and the recovery's log."""
    former = tuple(
        column
        for column in HARNESS_TRIALS.columns
        if column.name not in {"states", "recovery_log"}
    )
    table = dataclasses.replace(HARNESS_TRIALS, columns=former)
    kept = [{column.name: row[column.name] for column in former} for row in rows]
    lake.append(table, pa.Table.from_pylist(kept, schema=table.arrow()))


def test_lake_without_kills_says_how_to_get_some(empty_lake: Path) -> None:
    """The list of kills opens where the harness never ran."""
    with closing(explorer(Lake.open(empty_lake))) as pages, closing(pages.latest):
        page = client(pages).get("/kills")

    assert page.status_code == 200
    assert "No run in this lake was killed on purpose" in page.text
