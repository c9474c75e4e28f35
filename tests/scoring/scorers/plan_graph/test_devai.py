"""Completion with prerequisites, from imported human verdicts over 55 real tasks (DevAI).

Source: [Zhuge 2024]: requirements met, met with their direct prerequisites, and met with all
ancestors, of OpenHands.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from tests.scoring.build import specification

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect

from .scored import Scored, graph_scores

pytestmark = pytest.mark.slow

PATHS: Final = {
    "verdicts": "requirements",
    "task": "name",
    "sub_goal": "requirement_id",
    "value": "satisfied",
}
"""Where the judgments of DevAI say what a verdict says."""


@pytest.fixture(scope="module")
def files(shared_data: Path) -> list[Path]:
    """The human judgments of the 55 tasks."""
    return sorted((shared_data / "devai/judgment/OpenHands/human_as_a_judge").glob("*.json"))


@pytest.fixture(scope="module")
def lake(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with one run of each task, with verdicts and no other data."""
    folder = tmp_path_factory.mktemp("devai")
    lake, runs = Lake.create(folder / "lake"), folder / "runs.jsonl"
    messages = [{"role": "user", "content": "Begin."}, {"role": "assistant", "content": "Done."}]
    names = [json.loads(file.read_text(encoding="utf-8"))["name"] for file in files]
    records = [json.dumps({"task_id": name, "messages": messages}) + "\n" for name in names]
    runs.write_text("".join(records))
    notes: list[str] = []
    import_files(lake, [runs], notes.append)
    imported = import_files(lake, files, notes.append, reading=ReadOptions("verdicts", PATHS))
    assert (imported.verdicts["added"], notes) == (366, [])
    build(lake)
    return lake


def scored(lake: Lake, files: list[Path], *, self_loops: bool, asks: bool = True) -> Scored:
    """Score the runs against graphs that ask a judge for each requirement, or ask no judge."""
    tasks: dict[str, Any] = {}
    for file in files:
        task = json.loads(file.read_text(encoding="utf-8"))
        tasks[task["name"]] = {
            "sub_goals": {
                str(r["requirement_id"]): {
                    **({"success": {"judge": r["criteria"]}} if asks else {}),
                    "deps": [
                        str(dep)
                        for dep in r["prerequisites"]
                        if self_loops or dep != r["requirement_id"]
                    ],
                }
                for r in task["requirements"]
            }
        }
    with connect(lake) as con:
        con.execute("CREATE TEMP TABLE steps AS FROM memory.main.steps")
        return graph_scores(con, specification(json.dumps({"tasks": tasks})))


@pytest.fixture(scope="module")
def without_self_loops(lake: Lake, files: list[Path]) -> Scored:
    """The scores of all tasks, those of task 45 without the prerequisites that are itself."""
    return scored(lake, files, self_loops=False)


@pytest.mark.parametrize(
    ("metric", "met"),
    [
        ("sub_goal_completion", 157),
        ("completion_with_direct_deps", 105),
        ("completion_with_all_deps", 95),
    ],
)
def test_published_counts(without_self_loops: Scored, metric: str, met: int) -> None:
    """Pooled over 366 requirements, the counts are those of the human judges."""
    found = [s for (_, name), s in without_self_loops.scores.items() if name == metric]

    assert sum(s.numerator or 0 for s in found) == met
    assert sum(s.denominator or 0 for s in found) == 366


def test_one_task_was_solved(without_self_loops: Scored) -> None:
    """Exactly one task had all of its requirements met."""
    found = without_self_loops.scores

    assert sum(s.value == 1 for (_, m), s in found.items() if m == "sub_goal_completion") == 1


def test_coverage_needs_more_than_verdicts_of_failure(without_self_loops: Scored) -> None:
    """Whoever failed may have tried or not: coverage is known of the solved task alone."""
    found = [s for (_, m), s in without_self_loops.scores.items() if m == "sub_goal_coverage"]

    assert [s.value for s in found if s.status == "scored"] == [1]
    assert {s.reason for s in found if s.status != "scored"} == {"not_judged"}


def test_verdicts_need_no_criterion(
    lake: Lake, files: list[Path], without_self_loops: Scored
) -> None:
    """Requirements that have only names in the task file are scored the same."""
    untold = scored(lake, files, self_loops=False, asks=False)

    assert untold.scores == without_self_loops.scores


def test_self_loops_spoil_the_order_of_their_own_task(
    lake: Lake, files: list[Path], without_self_loops: Scored
) -> None:
    """Task 45 depends on itself, twice, as published: what reads no order is scored."""
    scores = scored(lake, files, self_loops=True).scores
    errors = {key: s.reason or "" for key, s in scores.items() if s.status == "error"}

    assert {metric for _, metric in errors} == {
        "completion_with_direct_deps",
        "completion_with_all_deps",
        "dependency_violation",
    }
    (reason,) = set(errors.values())
    assert reason.startswith("specification_error: task '45_")
    assert [walk in reason for walk in ("3 -> 3", "4 -> 4")] == [True, True]
    others = {key: score for key, score in scores.items() if key not in errors}
    assert others == {key: without_self_loops.scores[key] for key in others}
