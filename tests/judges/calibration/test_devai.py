"""The whole way on real judgments: judged, labeled, calibrated, corrected.

Source: [Zhuge 2024], of OpenHands: verdicts of people and of an agent-as-a-judge on 366
requirements. The judge's recorded verdicts are the model's answers, and people's verdicts are the
labels.
"""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.judges.conftest import judge_file
from tests.judges.model_server import Json, Reply, model_server, quoted_in, verdict
from tests.judges.reading import rows
from tests.scoring.build import specification

from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score

from . import plain

pytestmark = pytest.mark.slow

Answers = dict[tuple[str, str], bool]


def judgments(folder: Path) -> list[dict[str, Any]]:
    """Return the judged tasks of a folder."""
    found = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))]
    return [{**task, "name": task["name"].removesuffix(".json")} for task in found]


def said(tasks: list[dict[str, Any]]) -> Answers:
    """Return what was said of each task and requirement."""
    return {
        (task["name"], str(each["requirement_id"])): each["satisfied"]
        for task in tasks
        for each in task["requirements"]
    }


@pytest.fixture(scope="module")
def people(shared_data: Path) -> list[dict[str, Any]]:
    """What people say."""
    return judgments(shared_data / "devai/judgment/OpenHands/human_as_a_judge")


@pytest.fixture(scope="module")
def judge(shared_data: Path) -> Answers:
    """What the judge says."""
    folder = shared_data / "devai/judgment/OpenHands/agent_as_a_judge/gray_box"
    return said(judgments(folder))


@pytest.fixture(scope="module")
def home(
    people: list[dict[str, Any]], judge: Answers, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with a lake in which the judge was asked all."""
    home = tmp_path_factory.mktemp("devai")
    lake = Lake.create(home / "lake")
    messages = [{"role": "user", "content": "Begin."}, {"role": "assistant", "content": "Done."}]
    records = [json.dumps({"task_id": t["name"], "messages": messages}) + "\n" for t in people]
    (home / "runs.jsonl").write_text("".join(records))
    import_files(lake, [home / "runs.jsonl"], lambda _: None)
    tasks = {
        task["name"]: {
            "sub_goals": {
                str(each["requirement_id"]): {"success": {"judge": each["criteria"]}}
                for each in task["requirements"]
            }
        }
        for task in people
    }
    score(lake, specification(json.dumps({"tasks": tasks})))

    def recorded(request: Json, number: int) -> Reply:
        del number
        named = re.search(
            r"It is sub-goal (\S+) of task (\S+)\.", request["messages"][0]["content"]
        )
        listed = quoted_in(request["messages"][1]["content"])[-1]
        step = int(re.findall(r"^(\d+) answer", listed, re.MULTILINE)[0])
        assert named is not None
        met = "yes" if judge[named[2], named[1]] else "no"
        return verdict({"met": met, "evidence_steps": [step], "quote": "Done.", "reason": "r"})

    path = judge_file(home, evidence="any", tools=[])
    with model_server(recorded) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_BASE_URL", server.url)
        command = ("judge", "run", path, "--lake", lake.root, "--max-tokens", 10_000_000)
        assert tracegrade(*command).returncode == 0
    return home


def label(home: Path, name: str, count: int, truth: Answers) -> list[dict[str, str]]:
    """Draw verdicts and label them as people did; return the file's rows."""
    lake, file = home / "lake", home / f"{name}.csv"
    command = ("judge", "label", "--lake", lake, "--judge", "nodes")
    drawn = tracegrade(*command, "--count", count, "--out", file)
    assert drawn.returncode == 0
    with file.open(newline="", encoding="utf-8") as opened:
        found = list(csv.DictReader(opened))
    for row in found:
        row["label"] = "yes" if truth[row["task_id"], row["sub_goal"]] else "No"
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, list(found[0]))
        writer.writeheader()
        writer.writerows(found)
    assert tracegrade(*command, "--labels", file, "--by", name).returncode == 0
    return found


def test_devai_all_the_way(home: Path, people: list[dict[str, Any]], judge: Answers) -> None:
    """A sample of 100 corrects as its plain definition; all labels give the published counts."""
    lake, truth = Lake.open(home / "lake"), said(people)
    command = ("judge", "calibrate", "--lake", lake.root, "--judge", "nodes")

    sample = label(home, "ann", 100, truth)
    first = tracegrade(*command)
    (rate,) = rows(lake, "corrected_rates")
    label(home, "bob", 400, truth)
    second = tracegrade(*command)
    (whole,) = rows(lake, "verdict_calibrations")

    pairs = [(judge[key], truth[key]) for key in ((r["task_id"], r["sub_goal"]) for r in sample)]
    yes = sum(judge[key] for key in truth)
    assert (first.returncode, second.returncode) == (0, 0)
    assert (len(sample), rate["judged"], rate["judged_yes"]) == (100, 366, yes)
    found = [rate[f"corrected_rate{end}"] for end in ("", "_low", "_high")]
    assert found == pytest.approx(plain.corrected(yes, 366, pairs), abs=1e-12)
    beside = [rate[f"ppi_rate{end}"] for end in ("", "_low", "_high")]
    assert beside == pytest.approx(plain.prediction_powered(yes, 366, pairs), abs=1e-12)
    assert rate["labels"] == 100
    assert f"PPI++ by its 100 labels {beside[0]:.3f} ({beside[1]:.3f} to " in first.stdout
    assert whole["labels"] == 366
    assert whole["both_yes"] + whole["only_people_yes"] == 157
    assert round(100 * whole["agreement"], 2) == 90.16
    everything = [(judge[key], truth[key]) for key in truth]
    assert whole["kappa"] == pytest.approx(plain.kappa(everything), abs=1e-12)
    assert whole["ac1"] == pytest.approx(plain.ac1(everything), abs=1e-12)
    assert whole["calibrated"]
    assert "labels 366 (undecided 0)" in second.stdout
