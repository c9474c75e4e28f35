"""What only the plan of a killed run says of undoing, and the lake alone still holds."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.harness.trial.agents import HarnessRun

AGENT = '''
"""Plans four steps, and says of three of them how to undo what they write."""

from pathlib import Path

import tracegrade

tracegrade.init(service="ignored")


@tracegrade.tool(effect="read")
def look():
    return Path("data/notes").read_text()


@tracegrade.tool(effect="write")
def write(name):
    Path("data", name).write_text(name)


PLAN = [
    {"id": "look", "tool": "look"},
    {"id": "a", "tool": "write", "outputs": ["data/a"], "rollback": {"delete": "data/a"}},
    {"id": "b", "tool": "write", "outputs": ["files:data/b"], "rollback": "Ask ann."},
    {"id": "c", "tool": "write", "outputs": ["data/c"], "rollback": {"delete": "data/d"}},
]

with tracegrade.agent_run("planner", user_input="Write.") as run:
    run.plan(PLAN)
    look()
    for name in "abc":
        write(name)
    run.answer("Written.")
'''
LAST = {"by-plan": ["late"]}
ALSO = {"by-plan": ["early", "mid"], "by-files": ["late"]}
"""Of each agent the points at which it is killed."""
NOTHING = "it still differs from before"


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The program, killed after the last of its calls."""
    return run(tmp_path_factory.mktemp("planned"), LAST)


@pytest.fixture(scope="module")
def more(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """It, killed elsewhere, and judged without its plan."""
    return run(tmp_path_factory.mktemp("more"), ALSO)


def run(folder: Path, points: dict[str, list[str]]) -> HarnessRun:
    """Run one program under two names; the suite lets one be judged by its plan as well."""
    (folder / "fixtures").mkdir()
    (folder / "fixtures/notes").write_text("Buy milk.")
    (folder / "agent.py").write_text(AGENT)
    agent = {
        "command": ["{python}", "{suite}/agent.py"],
        "environment": {"pass": ["PYTHONPATH"]},
        "records": [{"journal": ".tracegrade/rollback.jsonl"}],
    }
    planned = {**agent, "records": [*agent["records"], {"lake": "plan"}]}
    suite: dict[str, Any] = {
        "version": 1,
        "suite": "planned",
        "agents": {"by-plan": planned, "by-files": agent},
        "environments": {"notes": {"files": {"data": {"from": "fixtures", "at": "data"}}}},
        "cases": {
            name: {"environment": "notes", "agent": name, "kill": {"points": each}}
            for name, each in points.items()
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite))
    known = HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
    return known.run("--jobs", 2, "--sandbox", "none")


def judged(tried: HarnessRun, agent: str) -> dict[str, tuple[object, ...]]:
    """Return of each kill the call after which it was, and its score."""
    return {
        row["kill_point"]: (row["boundary"], row["after_recovery"])
        for row in tried.rows
        if row["task_id"] == agent and row["kill_point"]
    }


def test_plan_in_the_lake_names_what_a_kill_left(tried: HarnessRun) -> None:
    """Two have a way to undo them; the undo of one is wrong: 3."""
    assert tried.ended
    assert tried.ended.returncode == 0, tried.ended.stderr
    assert judged(tried, "by-plan") == {"late": (4, 3)}


@pytest.mark.slow
def test_plan_is_of_use_wherever_a_run_is_killed(more: HarnessRun) -> None:
    """Nothing left: 10; all that is left has a way to undo it: 7."""
    assert judged(more, "by-plan") == {"early": (1, 10), "mid": (2, 7)}


@pytest.mark.slow
def test_plan_names_nothing_where_the_suite_does_not_say_so(more: HarnessRun) -> None:
    """An operator without the traces does not know it."""
    assert judged(more, "by-files") == {"late": (4, 0)}


def test_evidence_tells_what_the_plan_said_and_what_was_disproved(tried: HarnessRun) -> None:
    """A text is a human's to follow; a wrong undo does not count."""
    found = json.loads(tried.row("by-plan", "late")["leftovers"])

    assert found == [
        _left("a", named_by="lake:plan"),
        _left("b", named_by="lake:plan", manual=True),
        _left("c", disproved=NOTHING),
    ]


def _left(name: str, **told: object) -> dict[str, object]:
    known = {"named_by": None, "manual": False, "disproved": None}
    return {"object": f"files:data/{name}", "change": "added", **known, **told}
