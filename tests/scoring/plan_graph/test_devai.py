"""Completion with prerequisites, on human verdicts over 55 real tasks (DevAI).

Zhuge et al., "Agent-as-a-Judge", 2024: requirements met, met with their direct prerequisites, and
met with all ancestors, of OpenHands.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from ..build import call, trajectory
from .scored import Scored, score


@pytest.fixture(scope="module")
def verdicts(shared_data: Path) -> list[dict[str, Any]]:
    """The requirements of each task with the human verdicts on them, in order of name."""
    files = sorted((shared_data / "devai/judgment/OpenHands/human_as_a_judge").glob("*.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def scored(verdicts: list[dict[str, Any]], *, self_loops: bool) -> Scored:
    """Score one attempt per task: a call for each requirement, failed where it was not met."""
    tasks, steps = {}, []
    for task in verdicts:
        tasks[task["name"]] = {
            "sub_goals": {
                str(r["requirement_id"]): {
                    "serves": [f"requirement-{r['requirement_id']}"],
                    "deps": [
                        str(dep)
                        for dep in r["prerequisites"]
                        if self_loops or dep != r["requirement_id"]
                    ],
                }
                for r in task["requirements"]
            }
        }
        for i, r in enumerate(task["requirements"]):
            status = "ok" if r["satisfied"] else "error"
            tool = f"requirement-{r['requirement_id']}"
            steps.append(call(task["name"], i, tool, status=status))
    attempts = [trajectory(name, task_id=name) for name in tasks]
    return score(json.dumps({"tasks": tasks}), steps, attempts)


@pytest.fixture(scope="module")
def without_self_loops(verdicts: list[dict[str, Any]]) -> Scored:
    """The scores of all tasks, those of task 45 without the prerequisites that are itself."""
    return scored(verdicts, self_loops=False)


@pytest.mark.parametrize(
    ("metric", "met"),
    [
        ("sub_goal_coverage", 366),
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


def test_self_loops_spoil_their_own_task_alone(verdicts: list[dict[str, Any]]) -> None:
    """Task 45 depends on itself as published: its scores are errors that name it."""
    found = scored(verdicts, self_loops=True).scores
    errors = {t: s.reason for (t, _), s in found.items() if s.status == "error"}

    ((task, reason),) = errors.items()
    assert task.startswith("45_")
    assert task in (reason or "")
