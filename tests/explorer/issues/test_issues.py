"""Pages of issues: the same as the command lists, chips on runs, and marks in forms."""

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.commands import tracegrade
from tests.explorer.lakes import client, labeled_by_ann
from tests.scoring.issues.test_states import add_runs
from tests.scoring.report.build import Tables, as_lake
from tests.waiting import wait_until

from tracegrade_explorer.app import Explorer
from tracegrade_lake import Lake


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake whose newest release shows an issue that was fixed, and a new one."""
    with closing(Tables()) as tables:
        for release, failures in (("1.0", 9), ("1.1", 0), ("1.2", 2)):
            last = add_runs(tables, release, failures, 10)
        tables.insert("run_reasons", trajectory_id=last[9], rank_in_run=1, kind="drift", key="k2",
                      sentence="drifted <b>", success=False, task_id="t", release="1.2",
                      agent_name="files")  # fmt: skip
        for run in last:
            tables.score(run, "success", 0.0, numerator=0.0, denominator=1.0)
        return as_lake(tables, tmp_path / "lake")


@pytest.fixture
def pages(lake: Lake) -> Iterator[Explorer]:
    """The pages over it, which ann may mark."""
    with labeled_by_ann(lake) as found:
        yield found


@pytest.fixture
def web(pages: Explorer) -> TestClient:
    """What asks for pages."""
    return client(pages)


def test_page_has_the_issues_of_the_command(web: TestClient, lake: Lake) -> None:
    """In HTML, JSON and CSV, in the same order, with the same numbers."""
    command = ("issues", "list", "--lake", lake.location, "--format", "json")
    issues = json.loads(tracegrade(*command).stdout)["issues"]
    assert [(each["issue"], each["state"]) for each in issues] == [
        ("k", "reopened"),
        ("k2", "new"),
    ]

    assert web.get("/issues.json").json()["issues"] == issues
    table = [*csv.DictReader(io.StringIO(web.get("/issues.csv").text))]
    assert [(row["issue"], int(row["runs"])) for row in table] == [
        (each["issue"], each["runs"]) for each in issues
    ]
    page = web.get("/issues").text
    assert re.findall(r'data-open href="/issues/(\w+)"', page) == ["k", "k2"]
    assert "2 of 10 runs of 1.2" in page


def test_page_is_narrowed_by_state_and_agent(web: TestClient) -> None:
    """A state that is chosen leads to all; what is not known is refused."""
    new = web.get("/issues.json?state=new").json()["issues"]
    assert [each["issue"] for each in new] == ["k2"]
    assert web.get("/issues.json?agent=other").json()["issues"] == []
    page = web.get("/issues?state=new").text
    assert '<a href="/issues" aria-current="true">new 1' in page
    assert 'href="/issues.csv?state=new"' in page
    assert web.get("/issues?state=odd").status_code == 400
    assert web.get("/issues?odd=1").status_code == 400


def test_issue_has_its_releases_and_newest_runs(web: TestClient) -> None:
    """The newest run first; each leads to its page, and no text of a trace is markup."""
    data = web.get("/issues/k.json").json()
    assert [count["hits"] for count in data["issues"][0]["releases"]] == [9, 0, 2]
    assert len(data["runs"]) == 11
    assert data["runs"][0]["release"] == "1.2"
    page = web.get("/issues/k").text
    assert "seen again in 1.2, after its runs showed a fix" in page
    assert f'href="/runs/{data["runs"][0]["trajectory_id"]}"' in page
    assert "drifted &lt;b&gt;" in web.get("/issues/k2").text
    assert web.get("/issues/none").status_code == 404
    assert len(web.get("/issues/k.csv").text.splitlines()) == 12


def test_runs_show_their_issues_once_these_are_known(web: TestClient) -> None:
    """A list shows what is new or reopened; a run all of its issues."""
    wait_until(lambda: "reopened issue" in web.get("/runs?release=1.2").text)
    page = web.get("/runs?release=1.2").text
    assert page.count('class="issue issue-reopened" href="/issues/k"') == 2
    assert page.count('class="issue issue-new" href="/issues/k2"') == 1
    run = web.get("/issues/k2.json").json()["runs"][0]["trajectory_id"]
    assert 'href="/issues/k2">drifted off the plan of its task' in web.get(f"/runs/{run}").text


def test_form_marks_an_issue(web: TestClient, lake: Lake) -> None:
    """The page shows it at once, with who said it; the lake has it."""
    page = web.get("/issues/k").text
    (token, *_) = re.findall(r'name="page_token" value="(\w+)"', page)
    fields = {"page_token": token, "issue": "k", "state": "fixed", "release": "1.3",
              "owner": "tools", "note": "<i>see #4"}  # fmt: skip
    answer = web.post("/mark-issue", data=fields)
    assert (answer.status_code, answer.headers["location"]) == (303, "/issues/k")

    page = web.get("/issues/k").text
    assert "marked as fixed in 1.3, and not seen since" in page
    assert "ann: fixed in 1.3; owner tools; &lt;i&gt;see #4" in page
    command = ("issues", "list", "--lake", lake.location, "--format", "json")
    (issue, _) = sorted(
        json.loads(tracegrade(*command).stdout)["issues"], key=lambda i: i["issue"]
    )
    assert (issue["state"], issue["owner"]) == ("fixed", "tools")


def test_a_merge_is_on_the_pages_at_once(web: TestClient, lake: Lake) -> None:
    """Also its end; the key of the merged issue leads to the whole, as in the command."""
    assert len(web.get("/issues.json").json()["issues"]) == 2
    command = ("issues", "list", "--lake", lake.location, "--format", "json")
    at = ("--lake", lake.location, "--by", "ann")
    tracegrade("issues", "merge", "k2", "k", *at)

    assert (
        web.get("/issues.json").json()["issues"]
        == json.loads(tracegrade(*command).stdout)["issues"]
    )
    data = web.get("/issues/k2.json").json()
    assert [each["issue"] for each in data["issues"]] == ["k"]
    assert len(data["runs"]) == 12
    assert "ann: k2 merged into it" in web.get("/issues/k").text

    tracegrade("issues", "split", "k2", *at)
    assert len(web.get("/issues/k.json").json()["runs"]) == 11
    assert len(web.get("/issues.json").json()["issues"]) == 2


def test_rates_of_releases_are_a_line(web: TestClient) -> None:
    """It names the first and the last release."""
    page = web.get("/issues").text
    assert page.count('class="spark"') == 2
    assert 'aria-label="rate from 1.0 to 1.2"' in page


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"issue": "none", "state": "muted"}, "its issue is no longer in the lake"),
        ({"issue": "k", "state": "fixed"}, "name the release with the fix"),
        ({"issue": "k", "state": "odd"}, "choose one"),
        ({"issue": "k"}, "choose a state, or write an owner or a note"),
    ],
)
def test_wrong_form_is_refused(
    web: TestClient, lake: Lake, fields: dict[str, str], fault: str
) -> None:
    """With what to do, and nothing is stored."""
    (token, *_) = re.findall(r'name="page_token" value="(\w+)"', web.get("/issues/k").text)
    answer = web.post("/mark-issue", data={"page_token": token, **fields})
    assert answer.status_code == 403
    assert fault in answer.text
    assert "issue_marks" not in lake.tables()


def test_readers_without_a_name_cannot_mark(web: TestClient, pages: Explorer, lake: Lake) -> None:
    """They see the command instead of a form."""
    (token, *_) = re.findall(r'name="page_token" value="(\w+)"', web.get("/issues/k").text)
    pages.labeling = None
    answer = web.post("/mark-issue", data={"page_token": token, "issue": "k", "state": "muted"})
    assert answer.status_code == 403
    assert "issue_marks" not in lake.tables()
    assert "tracegrade issues mark k --by NAME" in web.get("/issues/k").text
