"""The distribution of CONTRIBUTING.md brings metrics that stand wherever ours do."""

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.commands import tracegrade
from tests.explorer.lakes import client, explorer
from tests.test_contributing import blocks, declare_entry_points

from tracegrade_lake import Lake

TITLE = "Add a metric from a distribution of your own"
RUNS = 24


class Installed(NamedTuple):
    """What was scored while the distribution was installed."""

    lake: Path
    listed: str
    """What `metrics list` printed."""
    checked: str
    """What `metrics check` said."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The sample's runs, scored once."""
    folder = tmp_path_factory.mktemp("acme")
    for block in blocks(TITLE):
        if block.file:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text, "utf-8")
    project = folder / "acme_metrics"
    declare_entry_points(project / "pyproject.toml", folder)
    with pytest.MonkeyPatch.context() as patch:
        for place in (project, folder / "entry_points"):
            patch.syspath_prepend(str(place))
        said = [
            tracegrade(*words)
            for words in (
                ("sample", folder / "sample"),
                ("import", folder / "sample" / "runs.jsonl", "--lake", folder / "lake"),
                ("score", "--lake", folder / "lake", "--strict"),
                ("metrics", "list"),
                ("metrics", "check"),
            )
        ]
    sys.modules.pop("acme_metrics", None)
    assert [ended.returncode for ended in said] == [0] * len(said), [each.stderr for each in said]
    return Installed(folder / "lake", said[3].stdout, said[4].stderr)


def asked(lake: Path, *words: str) -> dict[str, dict[str, float]]:
    """Return the metrics of the first release or comparison that a command shows as JSON."""
    ended = tracegrade(*words, "--lake", lake, "--format", "json")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    metrics: dict[str, dict[str, float]] = next(
        found[key] for key in ("releases", "comparisons") if key in found
    )[0]["metrics"]
    return metrics


def test_its_metrics_are_found_and_pass_their_check(installed: Installed) -> None:
    """One in SQL and one in Python, listed as the guide shows."""
    (shown,) = [block.text for block in blocks(TITLE) if not block.language]
    assert installed.listed == shown
    assert installed.checked == "2 metrics can be used\n"


def test_its_scores_stand_beside_ours(installed: Installed) -> None:
    """One for each run and metric, and for each release, in reports and comparisons."""
    query = (
        "SELECT metric, count(*) AS runs, count(value) > 20 AS scored FROM scores "
        "WHERE metric IN ('failed_share', 'busiest_tool') GROUP BY ALL ORDER BY ALL"
    )
    ended = tracegrade("sql", query, "--lake", installed.lake, "--format", "json")
    names = ("busiest_tool", "failed_share")
    assert json.loads(ended.stdout) == [
        {"metric": name, "runs": RUNS, "scored": True} for name in names
    ]
    report = asked(installed.lake, "report")
    beside = asked(installed.lake, "compare", "1.0", "1.1")
    for name in names:
        assert 0 <= report[name]["value"] <= 1
        assert {beside[name]["base"], beside[name]["candidate"]} >= {report[name]["value"]}
    assert beside["failed_share"]["base"] < beside["failed_share"]["candidate"]


def test_its_metrics_filter_runs_and_stand_on_their_pages(installed: Installed) -> None:
    """Under the label that was made of the name."""
    with closing(explorer(Lake.open(installed.lake))) as found, closing(found.latest):
        web = client(found)
        rows = web.get("/runs.json?failed_share=0.01..&cols=failed_share").json()["rows"]
        page = web.get(f"/runs/{rows[0]['trajectory_id']}").text

    assert 0 < len(rows) < RUNS
    assert all(row["failed_share"] > 0 for row in rows)
    assert all(label in page for label in ("Failed share", "Busiest tool"))
