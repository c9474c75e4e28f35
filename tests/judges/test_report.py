"""Reports mark numbers that rest on judges whose reliability is unknown."""

import datetime
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.judges.conftest import RUNS

from tracegrade_collector.importing.verdict_rows import add_clean_verdicts
from tracegrade_lake import Lake
from tracegrade_scoring.calibrations import VERDICT_CALIBRATIONS, put_source_rows
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.lake import read_lake
from tracegrade_scoring.report.texts import render_markdown


@pytest.fixture
def judged(scored_lake: Lake, tmp_path: Path) -> Lake:
    """A lake with verdicts on success: of a judge, and in release 2 of a person as well."""
    lake = Lake.open(shutil.copytree(scored_lake.root, tmp_path / "lake"))
    verdicts: list[dict[str, Any]] = [
        {
            **{"trajectory_id": f"{trace:032x}-{1:016x}", "subject": "success"},
            **{"sub_goal": None, "kill_point": None, "evidence": None},
            **{"value": 1.0, "label": "yes", "source": source},
        }
        for trace in range(1, RUNS + 1)
        for source in ("judge:nodes", *(("human:judy",) if trace > RUNS // 2 else ()))
    ]
    add_clean_verdicts(lake, verdicts)
    assert tracegrade("score", "--lake", lake.root).returncode == 0
    return lake


def flags(lake: Lake) -> dict[str, bool]:
    """Return whether the success of each release is marked, in JSON and beside the number."""
    report = read_lake(lake.root, str)
    marked = {
        release["release"]: "uncalibrated" in release["metrics"]["success"]["flags"]
        for release in json.loads(render_json(report))["releases"]
    }
    assert ("uncalibrated judge" in render_markdown(report)) is any(marked.values())
    return marked


def test_numbers_of_an_uncalibrated_judge_are_marked(judged: Lake) -> None:
    """Where people decide, nothing is; and nothing any more once the judge is calibrated."""
    before = flags(judged)
    now = datetime.datetime(2026, 11, 24)  # noqa: DTZ001 - as the lake keeps times
    row = {"source": "judge:nodes", "calibrated": True, "calibrated_at": now}
    put_source_rows(judged, VERDICT_CALIBRATIONS, "judge:nodes", [row])

    assert before == {"1": True, "2": False}
    assert flags(judged) == {"1": False, "2": False}
