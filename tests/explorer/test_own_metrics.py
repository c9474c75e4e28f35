"""Metrics of users' own are filtered by, drawn over time and traced to their steps as ours are."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.commands import tracegrade
from tests.explorer.lakes import client, explorer

from tracegrade_lake import Lake

METRIC = """-- Calls of a run, a count.
-- Metric: many_calls   Version: 1   Range: 0..   Better: less   Kind: count
-- Reads: attempts, calls
SELECT
  attempts.attempt_id,
  count(calls.step_index) AS numerator,
  list(struct_pack(
    trajectory_id := calls.trajectory_id, step_index := calls.step_index,
    weight := NULL::DOUBLE, note := '<b>called</b> here'
  ))[:20] AS evidence
FROM attempts INNER JOIN calls USING (attempt_id)
GROUP BY attempts.attempt_id
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's runs, scored by a metric of a user's own."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "metrics").mkdir()
    (folder / "metrics" / "many_calls.sql").write_text(METRIC, "utf-8")
    scoring = ("--tasks", folder / "tasks.yaml", "--metrics", folder / "metrics")
    for words in (
        ("sample", folder),
        ("import", folder / "runs.jsonl", "--lake", folder / "lake"),
        ("score", "--lake", folder / "lake", *scoring),
    ):
        ended = tracegrade(*words)
        assert ended.returncode == 0, ended.stderr
    return folder / "lake"


@pytest.fixture(scope="module")
def web(lake: Path) -> Iterator[TestClient]:
    """What asks for its pages."""
    with closing(explorer(Lake.open(lake))) as found, closing(found.latest):
        yield client(found)


def test_range_of_an_own_metric_filters_and_sorts_the_list(web: TestClient) -> None:
    """Runs are those whose value lies in it, in the order of the values; `~` has all others."""
    runs = web.get("/runs.csv?level=all&cols=many_calls").text.splitlines()
    values = [line.rpartition(",")[2] for line in runs[1:]]
    known = sorted(float(value) for value in values if value)
    least = known[len(known) // 2]
    asked = f"/runs.json?level=all&many_calls={least}..&sort=-many_calls&cols=many_calls"
    found = [row["many_calls"] for row in web.get(asked).json()["rows"]]

    assert known[0] < known[-1]
    wanted = sorted((value for value in known if value >= least), reverse=True)
    assert found == wanted[: len(found)]
    assert web.get(asked).json()["runs"] == len(wanted)
    others = web.get("/runs.json?level=all&many_calls=~").json()["runs"]
    assert others == len(values) - len(known)


def test_trend_of_an_own_metric_is_its_release_score(web: TestClient, lake: Path) -> None:
    """All runs came in on one date, so each release has one value: that of its scores."""
    shown = {
        row["release"]: pytest.approx(row["value"])
        for row in web.get("/trends.json?metric=many_calls&by=week").json()["rows"]
    }
    query = (
        "SELECT release, value FROM release_scores "
        "WHERE metric = 'many_calls' AND task_category = ''"
    )
    rows = json.loads(tracegrade("sql", query, "--lake", lake, "--format", "json").stdout)

    assert shown
    assert {row["release"]: row["value"] for row in rows} == shown
    assert "many calls over time" in web.get("/trends?metric=many_calls").text.lower()


def test_steps_that_an_own_metric_names_stand_beside_its_score(web: TestClient) -> None:
    """Each is a link with the metric's note, which is escaped."""
    (run, *_) = web.get("/runs.json?many_calls=1..").json()["rows"]
    page = web.get(f"/runs/{run['trajectory_id']}").text
    row = page.split('title="Calls of a run, a count."', 1)[1].split("</tr>", 1)[0]

    assert 'href="#s' in row
    assert "&lt;b&gt;called&lt;/b&gt; here" in row


def test_own_metric_can_be_chosen_and_typed(web: TestClient) -> None:
    """The form of ranges has it, and what is typed is completed to it."""
    assert '<option value="many_calls"' in web.get("/runs").text
    choices = web.get("/completions.json?typed=many").json()["choices"]
    assert "many_calls=" in [choice["text"] for choice in choices]


@pytest.mark.parametrize("key", ["no_such", "many_calls;", "own_values", "many_calls'"])
def test_name_that_no_metric_has_is_no_key(web: TestClient, key: str) -> None:
    """It is refused as any unknown key is, wherever a metric may stand."""
    for given in ({key: "0.."}, {"sort": key}, {"cols": key}):
        assert web.get("/runs", params=given).status_code == 400
