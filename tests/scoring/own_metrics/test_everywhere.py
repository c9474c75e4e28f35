"""A metric of a user's own appears wherever ours do, without another line."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from tests.commands import tracegrade
from tests.explorer.lakes import client, explorer

from tracegrade_lake import Lake

METRIC = """-- Calls with arguments, as a share of all calls.
-- Metric: calls_with_arguments   Version: 1   Range: 0..1   Better: more   Kind: share
-- Reads: calls
SELECT
  attempt_id,
  count(*) FILTER (WHERE contains(arguments, 'order')) AS numerator,
  count(*) AS denominator
FROM calls
GROUP BY attempt_id
"""
NAME = "calls_with_arguments"
RULES = f"""
version: 1
watch:
  - {{id: worse, metric: {NAME}, smallest: 0.05}}
  - {{id: bad-day, metric: {NAME}, day_below: 1.0, runs: 2}}
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two releases, scored with the metric."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "metrics").mkdir()
    (folder / "metrics" / f"{NAME}.sql").write_text(METRIC, "utf-8")
    (folder / "watch.yaml").write_text(RULES, "utf-8")
    lake = folder / "lake"
    assert tracegrade("sample", folder / "runs").returncode == 0
    assert tracegrade("import", folder / "runs" / "runs.jsonl", "--lake", lake).returncode == 0
    scored = tracegrade("score", "--lake", lake, "--tasks", folder / "runs" / "tasks.yaml",
                        "--metrics", folder / "metrics")  # fmt: skip
    assert scored.returncode == 0, scored.stderr
    return lake


def test_it_is_compared_with_the_same_evidence(lake: Path) -> None:
    """Both releases have it."""
    found = json.loads(
        tracegrade("compare", "1.0", "1.1", "--lake", lake, "--format", "json").stdout
    )
    (cohort,) = found["comparisons"]

    assert cohort["metrics"][NAME]["base"] is not None


def test_it_is_sent(lake: Path) -> None:
    """As many scores as it has."""
    sent = tracegrade("send", "--lake", lake, "--to", "otlp", "--endpoint", "http://127.0.0.1:1",
                      "--metric", NAME, "--dry-run")  # fmt: skip

    assert f"24  {NAME}" in sent.stdout


def test_it_is_watched_and_exported(lake: Path) -> None:
    """By rules of any kind, and as a metric of Prometheus."""
    file = lake.with_name("metrics.prom")
    watched = tracegrade("watch", "--lake", lake, "--rules", lake.with_name("watch.yaml"),
                         "--prometheus", file, "--format", "json")  # fmt: skip
    checks = {each["rule"]: each for each in json.loads(watched.stdout)["checks"]}

    assert {*checks} == {"worse", "bad-day"}
    assert f'metric="{NAME}"' in file.read_text("utf-8")


def test_it_is_a_key_of_filters_and_on_the_page_of_a_run(lake: Path) -> None:
    """And a column of lists, for agents over MCP too, which read the same."""
    with closing(explorer(Lake.open(lake))) as pages, closing(pages.latest):
        web = client(pages)
        found = web.get(f"/runs.json?{NAME}=0..1&cols={NAME}").json()
        run = found["rows"][0]["trajectory_id"]

        assert found["runs"] == 24
        assert all(row[NAME] is not None for row in found["rows"])
        assert NAME in web.get(f"/runs/{run}.json").text
        assert web.get(f"/trends.json?metric={NAME}").json()["rows"]
