"""Issues of scored lakes do not depend on the order of arrival or on how often it scored."""

import json
from pathlib import Path
from typing import Any

from tests.commands import tracegrade


def listed(lake: Path) -> list[dict[str, Any]]:
    """Return the issues of a lake, without the run that each names."""
    found = json.loads(tracegrade("issues", "list", "--lake", lake, "--format", "json").stdout)
    own = {"trajectory_id", "step_trajectory_id", "step_index", "sentence", "title"}
    rows = [{name: row[name] for name in row.keys() - own} for row in found["issues"]]
    return sorted(rows, key=lambda row: str(row["issue"]))


def filled(lake: Path, runs: Path, tasks: Path) -> Path:
    """Return the lake with these runs, scored once."""
    assert tracegrade("import", runs, "--lake", lake).returncode == 0
    assert tracegrade("score", "--lake", lake, "--tasks", tasks).returncode == 0
    return lake


def test_issues_are_the_same_in_any_order_and_after_scoring_again(tmp_path: Path) -> None:
    """Two releases of the sample, forward and backward."""
    tracegrade("sample", tmp_path)
    runs, tasks, backward = (tmp_path / name for name in ("runs.jsonl", "tasks.yaml", "b.jsonl"))
    backward.write_text("".join(reversed(runs.read_text().splitlines(keepends=True))))
    one = filled(tmp_path / "one", runs, tasks)
    other = filled(tmp_path / "other", backward, tasks)

    found = listed(one)
    assert {row["state"] for row in found} == {"new", "fixed"}
    assert listed(other) == found
    assert tracegrade("score", "--lake", one, "--full").returncode == 0
    assert listed(one) == found
