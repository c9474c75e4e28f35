"""Agents that write no spans are stopped, recorded, killed and judged at the channel `mcp`."""

import shutil
from pathlib import Path

import pytest
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.shopping import KILLS, made, steps

WROTE = {"verify": [{"files": "data", "path": "a"}]}
ASKED = 'Note: a, b; ü and "nothing" else.'
LONG = f"{ASKED}{'!' * 20_000}"
CASES = {
    "careless": {**KILLS, "kill": {"points": ["early", "late"]}, "user_input": ASKED},
    "undone": {
        **KILLS,
        "agent": "recovering",
        "kill": {"points": ["mid"]},
        "user_input": LONG,
    },
    "clumsy": WROTE,
    "abrupt": WROTE,
    "parallel": WROTE,
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run once with two trials at a time and scored."""
    return made(tmp_path_factory.mktemp("mcp"), CASES).run("--jobs", 2).score()


def kills(tried: HarnessRun, task_id: str) -> dict[str, tuple[object, ...]]:
    """Return boundary, immediate score and score after recovery of each kill of a task."""
    keys = ("boundary", "immediate", "after_recovery")
    return {
        row["kill_point"]: tuple(row[key] for key in keys)
        for row in tried.rows
        if row["task_id"] == task_id and row["kill_point"]
    }


def test_all_trials_pass(tried: HarnessRun) -> None:
    """Their verifiers hold, also of an agent that ended while a call was under way."""
    assert tried.ended is not None
    assert tried.ended.returncode == 0, tried.ended.stderr
    assert {tried.row(task_id)["success"] for task_id in CASES} == {True}


def test_kills_fall_after_the_same_calls(tried: HarnessRun) -> None:
    """Whichever run it is: after the look, the first write and the last."""
    assert kills(tried, "careless") == {"early": (1, 10, 10), "late": (4, 0, 0)}
    assert tried.row("undone", "mid")["boundary"] == 2


def test_what_a_recovery_removes_counts_as_undone(tried: HarnessRun) -> None:
    """The recovery command runs in what the kill left."""
    assert kills(tried, "undone") == {"mid": (2, 0, 10)}


def test_calls_are_steps_in_the_lake(tried: HarnessRun) -> None:
    """With their arguments and failures, though the agent sent nothing."""
    assert steps(tried, "careless")[:4] == [
        ("tool_call", "look", {}, "ok"),
        ("observation", "look", None, None),
        ("tool_call", "write", {"name": "a"}, "ok"),
        ("observation", "write", None, None),
    ]
    assert [step for step in steps(tried, "clumsy") if step[0] == "tool_call"] == [
        ("tool_call", "write", {"name": "a"}, "ok"),
        ("tool_call", "write", {"name": "a"}, "error"),
    ]


def test_what_the_user_asks_is_in_the_lake(tried: HarnessRun) -> None:
    """Also for killed runs, unless it is long; the other agents had no user input."""
    rows = tried.query("SELECT task_id, kill_point, user_input FROM trajectories")
    said = {(row["task_id"], row["kill_point"]): row["user_input"] for row in rows}

    assert {said["careless", point] for point in (None, "early", "late")} == {ASKED}
    assert said["undone", None] == LONG
    assert said["undone", "mid"] is said["clumsy", None] is None


def test_each_of_several_calls_under_way_is_recorded(tried: HarnessRun) -> None:
    """In the order in which they return."""
    calls = [step for step in steps(tried, "parallel") if step[0] == "tool_call"]

    assert sorted(call[2]["name"] for call in calls[1:]) == ["a", "b"]


def test_runs_are_scored_and_killed_ones_are_no_attempts(tried: HarnessRun) -> None:
    """Each task has one attempt, with a score of rollback-ability."""
    rows = tried.query(
        "SELECT task_id, agent_name, success.value AS success, ra_after_recovery.value AS ra "
        "FROM trajectory_scores WHERE task_id IN ('careless', 'undone') "
        "AND trajectory_id NOT IN (SELECT trajectory_id FROM trajectories WHERE kill_point "
        "IS NOT NULL) ORDER BY task_id"
    )

    assert [(row["task_id"], row["agent_name"], row["success"]) for row in rows] == [
        ("careless", "worker", 1),
        ("undone", "recovering", 1),
    ]
    assert rows[0]["ra"] == 5


@pytest.mark.slow
def test_a_node_client_is_killed_after_the_same_calls(tmp_path: Path) -> None:
    """It finds its servers in the file that `{mcp}` names."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no program 'node'; install nodejs")
    suite = made(tmp_path, {"task": KILLS}, [node, "{suite}/agent.js", "{mcp}"])
    tried = suite.run()

    assert tried.row("task")["success"] is True
    assert kills(tried, "task") == {"early": (1, 10, 10), "mid": (2, 0, 0), "late": (4, 0, 0)}


def test_a_server_that_does_not_start_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    """The trial is invalid, and says which server it was."""
    tried = made(tmp_path, {"careless": {}}, server=["{suite}/no-such-program"]).run()

    assert tried.ended is not None
    assert tried.ended.returncode == 3
    assert tried.row("careless")["status"] == "invalid"
    assert tried.row("careless")["reason"] == "mcp server 'notes' did not start; see its log"
