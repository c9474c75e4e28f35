"""`tracegrade watch` from the command line: dimensions, failure modes, issues and exit codes."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.watch.lakes import TASKS, Day, land_days, release_days

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES
from tracegrade_watch.reading import prepare, watched_sums

RULES = """
version: 1
defaults: {agent: support, run_mode: production}
watch:
  - {id: by-arm, metric: success, smallest: 0.05, by: arm}
  - {id: modes, failure_mode: any_new, runs: 4}
  - {id: issues, issue: new, runs: 2}
"""
MAPPING = "{version: 1, dimensions: {arm: [{root: experiment.arm}]}}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lake of two arms, one of which gets worse and invents a tool."""
    folder = tmp_path_factory.mktemp("watched")
    lake = Lake.create(folder / "lake")
    days = [
        *(day._replace(arm=arm) for arm in "ab" for day in release_days("1.0", 0, 5, 9, 1)),
        *(day._replace(arm="a") for day in release_days("1.1", 5, 5, 9, 1)),
        *(day._replace(arm="b", tool_name="fly") for day in release_days("1.1", 5, 5, 3, 8)),
        Day("1.1", 9, 3, 3, conversation="c1"),
        Day("1.1", 9, 2, 1, conversation="c2"),
    ]
    land_days(lake, days)
    for name, text in (("tasks", TASKS), ("arms", MAPPING), ("watch", RULES)):
        (folder / f"{name}.yaml").write_text(text)
    scored = tracegrade(
        "score",
        *("--lake", folder / "lake", "--tasks", folder / "tasks.yaml"),
        *("--dimensions", folder / "arms.yaml"),
    )
    assert scored.returncode == 0, scored.stderr
    return folder


def watched(folder: Path, *options: object) -> tuple[object, dict[str, Any]]:
    """Return the exit code and the JSON of the command."""
    ended = tracegrade("watch", "--lake", folder / "lake", "--format", "json", *options)
    return ended.returncode, json.loads(ended.stdout)


def test_the_command_from_rules_to_acknowledgement(folder: Path) -> None:
    """Each rule finds what the lake has, and the exit code says whether an alert fires."""
    code, found = watched(folder, "--rules", folder / "watch.yaml")
    arms = {
        check["dimension_value"]: check["fires"]
        for check in found["checks"]
        if check["rule"] == "by-arm"
    }
    modes = [alert for alert in found["alerts"] if alert["rule"] == "modes"]

    assert code == 1
    assert arms == {"a": False, "b": True}
    assert [alert["metric"] for alert in modes] == ["tool_hallucination"]
    assert modes[0]["evidence"]["observed"] >= 4
    assert len(modes[0]["evidence"]["run_ids"]) == 3
    assert any(alert["rule"] == "issues" for alert in found["alerts"])

    text = tracegrade("watch", "--lake", folder / "lake").stdout
    assert "FIRING" in text
    assert "{id: by-arm, metric: success, smallest: 0.05, by: arm}" in text
    for alert in found["alerts"]:
        named = ("--lake", folder / "lake", "--note", "ann")
        assert tracegrade("watch", "ack", alert["alert_id"], *named).returncode == 0
    assert watched(folder)[0] == 0


def test_errors_end_with_2(folder: Path, tmp_path: Path) -> None:
    """A file with an error, a lake without rules, and one that was never scored."""
    wrong = tmp_path / "watch.yaml"
    wrong.write_text("version: 1\nwatch:\n- {id: a, metric: succes, smallest: 1}\n")
    ended = tracegrade("watch", "--lake", folder / "lake", "--rules", wrong)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"{wrong}:3: no metric is named 'succes'" in ended.stderr
    Lake.create(tmp_path / "empty")
    assert tracegrade("watch", "--lake", tmp_path / "empty").returncode == 2


def test_sums_agree_with_the_scores(folder: Path) -> None:
    """Every sum is that of the scores of its runs, a conversation counted once."""
    lake = Lake.open(folder / "lake")
    with connect(lake, layers=(SCORES,)) as con:
        runs = con.sql(
            "SELECT scores.metric, scores.release, scores.task_id, scores.date, scores.value, "
            "coalesce(conversation_id, trajectory_id) AS attempt FROM scores "
            "JOIN trajectories USING (trajectory_id) "
            "WHERE metric IN ('success', 'tsa', 'step_ratio') AND value IS NOT NULL"
        ).fetchall()
        prepare(con)
        with watched_sums(con, None, ["success", "tsa", "step_ratio"]):
            names = ", ".join(("metric", "release", "task_id", "date", "scored", "value_sum"))
            found = con.sql(f"SELECT {names}, square_sum FROM watched_days").fetchall()
    attempts: dict[object, list[tuple[str, Any, Fraction]]] = {}
    for metric, release, task, date, value, attempt in runs:
        attempts.setdefault((metric, release, attempt), []).append((task, date, Fraction(value)))
    sums: dict[object, list[Fraction]] = {}
    for (metric, release, _), values in attempts.items():  # type: ignore[misc]
        task, date = min(each[0] for each in values), min(each[1] for each in values)
        value = sum((each[2] for each in values), Fraction()) / len(values)
        sums.setdefault((metric, release, task, date), []).append(value)

    assert {tuple(row[:4]): row[4] for row in found if row[4]} == {
        key: len(values) for key, values in sums.items()
    }
    for row in found:
        each = sums.get(tuple(row[:4]), [])
        assert row[5] == pytest.approx(float(sum(each)), abs=1e-12)
        assert row[6] == pytest.approx(float(sum(value**2 for value in each)), abs=1e-12)


def test_a_rule_watches_the_values_with_most_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arm with fewer runs is left out."""
    monkeypatch.setattr("tracegrade_watch.reading.MOST_VALUES", 1)
    _, found = watched(folder, "--rules", folder / "watch.yaml")
    arms = [check["dimension_value"] for check in found["checks"] if check["rule"] == "by-arm"]
    assert arms == ["b"]
