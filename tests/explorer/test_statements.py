"""What pages say of runs that were killed, judged or have no end, and of what they cannot show."""

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.scoring.report.build import Tables, as_lake

NOT_SCORED = "Not scored: run"
AGES = {
    "under way": (timedelta(seconds=20), "Running: 0 calls, last span "),
    "silent": (timedelta(minutes=14), "Silent: no span for 14 min, "),
    "lost": (timedelta(days=3), "Cut off: no end is recorded, "),
}
"""By the release that stands for it: since when no span came, and what its page says."""


def ns(age: timedelta) -> int:
    """Return a time so long ago, in nanoseconds since 1970."""
    return int((datetime.now(UTC) - age).timestamp() * 1e9)


def fill(tables: Tables) -> dict[str, str]:
    """Insert a run of each kind, and return their ids."""
    found = {
        "killed": tables.run(kill_point="late", complete=False, trace_received_ns=ns(timedelta())),
        "judged": tables.run(trace_id="trace-judged"),
        "by a judge": tables.run(),
    }
    for run in found.values():
        tables.scored(run, "pay")
    tables.score(found["killed"], "success", None, reason="killed_run")
    for name, source in (("judged", "verifier"), ("by a judge", "judge")):
        tables.score(found[name], "success", 0.0, source=source)
    said = {"subject": "success", "value": 0.0}
    tables.insert("verdicts", trajectory_id="trace-judged", source="human:ann",
                  label="bad", evidence="It <b>refunded</b> twice.", **said)  # fmt: skip
    tables.insert("verdicts", trajectory_id=found["by a judge"], source="judge:answers",
                  evidence="No amount is named.", **said)  # fmt: skip
    tables.insert("verdicts", trajectory_id="trace-judged", source="judge:served", label="no",
                  subject="served", sub_goal="pay", step_index=2)  # fmt: skip
    for name, (age, _) in AGES.items():
        found[name] = tables.run(name, complete=False, imported=False, trace_received_ns=ns(age))
        tables.scored(found[name], "pay")
        tables.score(found[name], "success", None, reason="success_unknown")
        tables.score(found[name], "termination", None, reason="unfinished", label="unfinished")
    found["helper"] = tables.run(
        agent="helper", parent_trajectory_id=found["judged"], step_count=0
    )
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, dict[str, str]]]:
    """What asks for pages, and the runs by their kind."""
    with closing(Tables()) as tables:
        ids = fill(tables)
        lake = as_lake(tables, tmp_path_factory.mktemp("said") / "lake")
    with closing(explorer(lake)) as found, closing(found.latest):
        yield client(found), ids


def test_a_killed_run_is_no_attempt_and_needs_no_scoring(
    runs: tuple[TestClient, dict[str, str]],
) -> None:
    """Its page says why it has no score, as does that of a sub-agent."""
    web, ids = runs
    killed, helper = (web.get(f"/runs/{ids[name]}").text for name in ("killed", "helper"))
    assert "the run was killed on purpose and is not an attempt" in killed
    assert "scored with" in helper
    assert f'href="/runs/{ids["judged"]}"' in helper
    for page in (killed, helper):
        assert NOT_SCORED not in page
        assert "running" not in page


def test_a_verdict_is_shown_as_whose_it_is(runs: tuple[TestClient, dict[str, str]]) -> None:
    """A person's has the name and the reason; a judge's says that it is one."""
    web, ids = runs
    person, judge = (web.get(f"/runs/{ids[name]}").text for name in ("judged", "by a judge"))
    assert "failed; ann says bad: It &lt;b&gt;refunded&lt;/b&gt; twice." in person
    assert "failed; judge answers says 0: No amount is named." in judge
    verdicts = web.get(f"/runs/{ids['judged']}.json").json()["verdicts"]
    assert (verdicts[0]["source"], verdicts[0]["label"]) == ("human:ann", "bad")
    assert web.get(f"/runs/{ids['helper']}.json").json()["verdicts"] == []


def test_a_verdict_on_a_part_of_a_run_says_which(
    runs: tuple[TestClient, dict[str, str]],
) -> None:
    """It is in the page and in its JSON; a run without any has no such section."""
    web, ids = runs
    page, other = (web.get(f"/runs/{ids[name]}").text for name in ("judged", "by a judge"))
    row = "<td>step 2 serves sub-goal pay</td><td>no</td><td>judge served</td>"
    assert row in page
    assert "Verdicts on its parts" not in other
    verdicts = web.get(f"/runs/{ids['judged']}.json").json()["verdicts"]
    assert [verdict["subject"] for verdict in verdicts] == ["success", "served"]


@pytest.mark.parametrize("name", AGES)
def test_a_run_without_an_end_is_told_by_the_age_of_its_last_span(
    runs: tuple[TestClient, dict[str, str]], name: str
) -> None:
    """It has not crashed, as far as anybody knows."""
    web, ids = runs
    page = web.get(f"/runs/{ids[name]}").text
    # The page may be saved, so the time of the last span stands there too.
    assert re.search(rf"{AGES[name][1]}.* \d{{4}}, \d\d:\d\d:\d\d UTC", page)
    assert "crashed" not in page


def test_no_run_crashed_whose_end_has_not_come(runs: tuple[TestClient, dict[str, str]]) -> None:
    """The first page counts them apart."""
    page = runs[0].get("/").text
    assert "3 of 6 runs have no end: still running, or cut off as their process died." in page
    assert "crashed" not in page


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/runs", "release=1.0&tsa=high&outcome=failed", 400),
        ("/trends", "agent=files&by=moon", 400),
        ("/releases", "base=1.0&candidate=none-such", 404),
        ("/runs/none-such", "agent=files", 404),
    ],
)
def test_an_error_keeps_the_page_its_filter_and_its_menu(
    runs: tuple[TestClient, dict[str, str]], path: str, query: str, status: int
) -> None:
    """Each condition can be corrected or left out, on the page that was asked for."""
    answer = runs[0].get(f"{path}?{query}")
    assert answer.status_code == status
    assert 'href="/runs" aria-keyshortcuts="g r"' in answer.text
    assert f'<form method="get" action="{path}"' in answer.text
    for condition in query.split("&"):
        key, value = condition.split("=")
        assert re.search(f'name="{key}" value="{value}"', answer.text)
        rest = query.replace(condition, "").strip("&").replace("&&", "&")
        left = f"{path}?{rest}" if rest else path
        assert f'href="{left.replace("&", "&amp;")}"' in answer.text
