"""Pages of alerts: the alerts of the lake, their evidence, and the number in the header."""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import LOOPED, client, explorer, labeled_by_ann, sample
from tests.watch.exposition import parse
from tests.watch.test_stored import BLANK

from tracegrade_explorer.app import Explorer
from tracegrade_explorer.guard import Guard, Rules, knows_one
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.issue_marks import stored_marks
from tracegrade_scoring.issues.read import read_issues
from tracegrade_scoring.layer import SCORES
from tracegrade_watch.alert import Alert, DayMean, Evidence, Side, TaskChange
from tracegrade_watch.outputs.exported import samples, scoring_lag
from tracegrade_watch.outputs.prometheus import prometheus_text
from tracegrade_watch.stored import evidence_document, read_alerts, write_alerts

HOSTILE = "<b>\u202ex</b>"
FALL = replace(
    BLANK,
    alert_id="aaaaaaaaaaaa",
    agent_name="support",
    run_mode="production",
    metric="success",
    base="1.3",
    candidate="1.4",
    first_run=datetime(2026, 3, 9, 8),  # noqa: DTZ001 - as the lake has it
    last_run=datetime(2026, 3, 9, 9),  # noqa: DTZ001
    evidence=Evidence(
        "37 of 400 failed, before 12 of 560",
        '{id: success, metric: success, "x": <b>}',
        "a release without it",
        ratio=84.2,
        threshold=20.0,
        base=Side("1.3", 560, 560, 548.0, 14),
        candidate=Side("1.4", 400, 400, 363.0, 7),
        tasks=(TaskChange("refund-order", 60, 0.95, 40, 0.5), TaskChange(None, 9, 1.0, 5, 0.6)),
        days=tuple(
            DayMean(date(2026, 3, 1) + timedelta(day), "1.4", 40, 1 - day / 20) for day in range(9)
        ),
        run_ids=(LOOPED, HOSTILE),
    ),
)
QUIET = replace(
    BLANK,
    alert_id="bbbbbbbbbbbb",
    rule=HOSTILE,
    state="resolved",
    evidence=Evidence("", "", "", observed=30.0, limit=24.0),
)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with a firing alert and one that was resolved."""
    found = sample(tmp_path / "lake")
    write_alerts(found, [QUIET, FALL])
    return found


@pytest.fixture
def pages(lake: Lake) -> Iterator[Explorer]:
    """The pages over it, on which ann may write."""
    with labeled_by_ann(lake) as found:
        yield found


@pytest.fixture
def web(pages: Explorer) -> TestClient:
    """What asks for pages."""
    return client(pages)


def firing(web: TestClient) -> str:
    """Return the number in the menu; '' without one."""
    found = re.search(r'Alerts <span class="issue issue-new">(\d+)<', web.get("/").text)
    return found[1] if found else ""


def alert_document(alert: Alert) -> dict[str, object]:
    """Return the evidence as JSON has it."""
    document = evidence_document(alert.evidence)
    return {**document, "tasks": [*document["tasks"]], "days": [*document["days"]],
            "run_ids": [*document["run_ids"]]}  # fmt: skip


def test_list_begins_with_what_fires(web: TestClient) -> None:
    """The evidence is a sentence; the same rows are JSON and CSV."""
    page = web.get("/alerts").text
    assert re.findall(r'data-open href="/alerts/(\w+)"', page) == [FALL.alert_id, QUIET.alert_id]
    assert "37 of 400 failed, before 12 of 560" in page
    assert "evidence 84.2, an alert needs 20" in page
    assert "30, limit 24" in page
    assert "1.4 after 1.3" in page
    assert HOSTILE not in page

    rows = web.get("/alerts.json").json()["alerts"]
    table = [*csv.DictReader(io.StringIO(web.get("/alerts.csv").text))]
    assert [row["alert_id"] for row in rows] == [row["alert_id"] for row in table]
    assert rows[0]["ratio"] == 84.2
    assert web.get("/alerts?state=firing").status_code == 400


def test_page_has_the_evidence(web: TestClient) -> None:
    """Both sides, tasks, days as bars, runs as links, the rule, and what would resolve it."""
    page = web.get(f"/alerts/{FALL.alert_id}").text
    data = web.get(f"/alerts/{FALL.alert_id}.json").json()

    assert data["evidence"] == alert_document(FALL)
    assert "97.9%" in page
    assert 'href="/tasks/refund-order">refund-order' in page
    assert page.count('class="bar"') == 9
    assert f'href="/runs/{LOOPED}"' in page
    assert "/runs/%3Cb%3E" in page
    assert "{id: success, metric: success, &#34;x&#34;: &lt;b&gt;}" in page
    assert "a release without it" in page
    assert [row["side"] for row in csv.DictReader(io.StringIO(
        web.get(f"/alerts/{FALL.alert_id}.csv").text
    ))] == ["before", "now"]  # fmt: skip
    assert web.get(f"/alerts/{QUIET.alert_id}").status_code == 200
    assert web.get("/alerts/none").status_code == 404


def test_number_in_the_header_follows_the_lake(
    web: TestClient, pages: Explorer, lake: Lake
) -> None:
    """It has the alerts that fire and that no person has acknowledged."""
    assert firing(web) == "1"
    write_alerts(lake, [replace(FALL, state="acknowledged"), QUIET])
    assert "acknowledged" in web.get("/alerts").text
    pages.latest.refresh()
    assert firing(web) == ""
    assert "Alerts" in web.get("/missing").text


def test_metrics_are_those_of_the_lake(web: TestClient, lake: Lake) -> None:
    """The same text as the command writes, but for the seconds that have passed."""
    answer = web.get("/metrics")
    with closing(connect(lake, layers=(SCORES,))) as con:
        issues = read_issues(con, stored_marks(lake))
        lag = scoring_lag(lake)
        written = parse(prometheus_text(samples(con, read_alerts(lake), (), issues, lag)))
    seconds = "tracegrade_oldest_unscored_seconds"

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert [each for each in parse(answer.text) if each.name != seconds] == [
        each for each in written if each.name != seconds
    ]
    assert [each.labels["rule"] for each in written if each.name == "tracegrade_alert"] == [
        FALL.rule
    ]
    assert web.get("/metrics?a=1").status_code == 400


def test_metrics_need_the_token(pages: Explorer) -> None:
    """A scraper sends it in a header."""
    rules = Rules(frozenset({"testserver"}), knows_one("the-token"), "cookie", tls=False)
    web = TestClient(Guard(pages.app(), rules))

    assert web.get("/metrics").status_code == 401
    answer = web.get("/metrics", headers={"Authorization": "Bearer the-token"})
    assert answer.status_code == 200
    assert parse(answer.text)


def page_token(web: TestClient, path: str) -> str:
    """Return the token of a page's forms."""
    found = re.search(r'name="page_token" value="(\w+)"', web.get(path).text)
    return found[1] if found else ""


def test_form_acknowledges_an_alert(web: TestClient, lake: Lake) -> None:
    """The page has the note at once, and so has the lake."""
    path = f"/alerts/{FALL.alert_id}"
    fields = {"page_token": page_token(web, path), "alert": FALL.alert_id, "note": " <b>back "}
    answer = web.post("/acknowledge-alert", data=fields)
    known = {alert.alert_id: alert for alert in read_alerts(lake)}[FALL.alert_id]

    assert (answer.status_code, answer.headers["location"]) == (303, path)
    assert (known.state, known.evidence.note) == ("acknowledged", "ann: <b>back")
    assert "ann: &lt;b&gt;back" in web.get(path).text


@pytest.mark.parametrize("alert_id", ["", QUIET.alert_id, "none"])
def test_form_about_no_firing_alert_is_refused(web: TestClient, lake: Lake, alert_id: str) -> None:
    """Nothing is written."""
    before = lake.version("alerts")
    token = page_token(web, f"/alerts/{FALL.alert_id}")
    answer = web.post("/acknowledge-alert", data={"page_token": token, "alert": alert_id})

    assert answer.status_code == 403
    assert "its alert does not fire" in answer.text
    assert lake.version("alerts") == before


def test_readers_without_a_name_cannot_acknowledge(
    web: TestClient, pages: Explorer, lake: Lake
) -> None:
    """They see the command instead of a form."""
    path = f"/alerts/{FALL.alert_id}"
    token = page_token(web, path)
    pages.labeling = None
    answer = web.post("/acknowledge-alert", data={"page_token": token, "alert": FALL.alert_id})

    assert answer.status_code == 403
    assert {alert.state for alert in read_alerts(lake)} == {"firing", "resolved"}
    assert f"tracegrade watch ack {FALL.alert_id}" in web.get(path).text


def test_other_pages_lead_to_alerts_about_them(web: TestClient) -> None:
    """The trend of the metric, and the releases of which one changed."""
    link = f'href="/alerts/{FALL.alert_id}"'

    assert link in web.get("/trends?metric=success").text
    assert link not in web.get("/trends?metric=tsa").text
    assert link in web.get("/releases").text
    assert link not in web.get("/releases?base=1.0&candidate=1.1").text


def test_lake_that_was_never_watched_names_the_command(tmp_path: Path) -> None:
    """The page is there before the first alert."""
    found = explorer(sample(tmp_path / "unwatched"))
    with closing(found), closing(found.latest):
        page = client(found).get("/alerts")
    assert page.status_code == 200
    assert "tracegrade watch --lake" in page.text
