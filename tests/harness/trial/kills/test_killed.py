"""Kills, and the scores that come of them: one suite, run once by the command."""

import json
from typing import Any

import pytest
import yaml
from tests.harness.trial.agents import WROTE, HarnessRun, made
from tests.slow import slow_after

KILLS: dict[str, Any] = {"kill": {"points": ["early", "mid", "late"]}, "verify": [WROTE]}
LATE: dict[str, Any] = {**KILLS, "kill": {"points": ["late"]}}
CASES: dict[str, dict[str, Any]] = {
    "tidy": {**LATE, "agent": "undoing"},
    "careless": {**KILLS, "kill": {"points": ["early", "late"]}},
    "first_writes": KILLS,
    "genai": LATE,
    "shrinking": {**KILLS, "kill": {"points": ["mid"]}},
    "restless": {**KILLS, "environment": "clock", "kill": {"points": ["late"]}},
}
MORE: dict[str, dict[str, Any]] = {
    "reader": {"kill": KILLS["kill"]},
    "sly": {"kill": LATE["kill"]},
    "fickle": {**KILLS, "kill": {"points": ["mid"]}},
    "silent": LATE,
    "liar": LATE,
    "openinference": LATE,
    "chain": LATE,
    "chain_late": LATE,
}
CLOCK = """
import asyncio

def app(state):
    ticking = []

    async def tick():
        while True:
            state["now"] = state.get("now", 0) + 1
            await asyncio.sleep(0.01)

    async def answer(scope, receive, send):
        assert scope["type"] == "http"
        ticking.append(asyncio.create_task(tick()))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return answer
"""
UNDECLARED = "had changed after call 2; declare that it writes"
RECOVER = ["{python}", "-m", "tracegrade", "rollback", ".tracegrade/rollback.jsonl"]
"""Of the agent `undoing`; the others have no recovery command."""


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run with two trials at a time and scored."""
    suite = made(tmp_path_factory.mktemp("killed"), CASES)
    complete(suite)
    return suite.run("--jobs", 2, "--sandbox", "none", "--trust").score()


@pytest.fixture(scope="module")
def more(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """Agents of yet other conduct and instrumentation, run and scored."""
    suite = made(tmp_path_factory.mktemp("more"), MORE, RECOVER)
    return suite.run("--jobs", 2, "--sandbox", "none").score()


@pytest.fixture
def foreign(request: pytest.FixtureRequest, task_id: str) -> HarnessRun:
    """The suite that has a task."""
    found: HarnessRun = request.getfixturevalue("more" if task_id in MORE else "tried")
    return found


def complete(suite: HarnessRun) -> None:
    """Add an agent that recovers, and an environment with a service that never stands still."""
    (suite.suite.parent / "clock.py").write_text(CLOCK)
    content = yaml.safe_load(suite.suite.read_text())
    content["agents"]["undoing"] = {**content["agents"]["worker"], "recover": RECOVER}
    notes = content["environments"]["notes"]
    content["environments"]["clock"] = {
        **notes,
        "http": {"clock": {"app": "clock:app", "url_env": "CLOCK"}},
    }
    suite.suite.write_text(yaml.safe_dump(content, sort_keys=False))


def kills(tried: HarnessRun, task_id: str) -> dict[str, tuple[object, ...]]:
    """Return boundary, immediate score and score after recovery of each kill of a task."""
    keys = ("boundary", "immediate", "after_recovery")
    return {
        row["kill_point"]: tuple(row[key] for key in keys)
        for row in tried.rows
        if row["task_id"] == task_id and row["kill_point"]
    }


def left(tried: HarnessRun, task_id: str, kill_point: str) -> dict[str, object]:
    """Return what a kill left, by name: the record that names it."""
    found = json.loads(tried.row(task_id, kill_point)["leftovers"])
    return {each["object"]: each["named_by"] for each in found}


def rollback(tried: HarnessRun, task_id: str) -> list[dict[str, object]]:
    """Return the verdicts on kills of a task, which are on its undisturbed trajectory."""
    found = tried.verdicts(tried.row(task_id)["trajectory_id"])
    return [verdict for verdict in found if verdict["subject"] == "rollback"]


def scores(tried: HarnessRun, task_id: str) -> dict[str, object]:
    """Return scores of a task's undisturbed trajectory."""
    (found,) = tried.query(
        "SELECT ra_after_recovery.value AS after, ra_immediate.value AS at_once, "
        "late_ra.value AS late, ra_after_recovery.status AS status, "
        "ra_after_recovery.label AS label, ra_after_recovery.source AS source "
        f"FROM trajectory_scores WHERE trajectory_id = '{tried.row(task_id)['trajectory_id']}'"
    )
    return found


def test_text_of_what_a_kill_left_is_recorded(tried: HarnessRun) -> None:
    """A new file has none before the run; what was put right has none after recovery."""
    careless, tidy = (
        {each["object"]: each for each in json.loads(tried.row(task_id, "late")["states"])}
        for task_id in ("careless", "tidy")
    )
    assert careless["files:data/a"]["texts"] == {"killed": "x", "recovered": "x"}
    assert tidy["files:data/a"]["texts"] == {"killed": "x"}


def test_what_no_record_names_scores_0(tried: HarnessRun) -> None:
    """Early is before the first write: nothing is left. The rest stays."""
    assert kills(tried, "careless") == {"early": (1, 10, 10), "late": (3, 0, 0)}
    assert left(tried, "careless", "late") == {"files:data/a": None, "files:data/b": None}


def test_what_a_journal_names_scores_7_and_10_once_it_is_undone(tried: HarnessRun) -> None:
    """The recovery command undoes what the journal says."""
    assert kills(tried, "tidy") == {"late": (4, 7, 10)}
    assert left(tried, "tidy", "late") == {}


def test_kills_are_scored_on_the_undisturbed_trajectory(tried: HarnessRun) -> None:
    """The mean over kills, after recovery and at once."""
    assert scores(tried, "careless") == {
        "after": 5,
        "at_once": 5,
        "late": 0,
        "status": "scored",
        "label": "early, late",
        "source": "harness",
    }
    assert scores(tried, "tidy")["after"] == 10
    assert scores(tried, "tidy")["at_once"] == 7


def test_evidence_says_what_a_kill_was(tried: HarnessRun) -> None:
    """It names the trajectory that was killed."""
    late = rollback(tried, "careless")[1]
    evidence = json.loads(str(late["evidence"]))

    assert late["kill_point"] == "late"
    assert evidence["boundary"] == 3
    assert evidence["killed"] == tried.row("careless", "late")["trajectory_id"]
    assert [each["object"] for each in evidence["leftovers"]] == ["files:data/a", "files:data/b"]


def test_a_run_whose_first_call_writes_has_no_early_kill(tried: HarnessRun) -> None:
    """It is said why; the other kills count."""
    row = tried.row("first_writes", "early")

    assert (row["status"], row["reason"]) == ("not_applicable", "first_call_writes")
    assert rollback(tried, "first_writes")[0]["label"] == "not_applicable"
    assert scores(tried, "first_writes")["status"] == "scored"


def test_mid_and_late_at_one_call_are_one_kill(tried: HarnessRun) -> None:
    """It is stored twice, and counts once."""
    mid, late = (tried.row("first_writes", each) for each in ("mid", "late"))

    assert mid["boundary"] == late["boundary"] == 1
    assert mid["trajectory_id"] == late["trajectory_id"]
    assert json.loads(mid["notes"])[-1] == "one_kill: mid and late are both after call 1"
    assert scores(tried, "first_writes")["label"] == "late"


@pytest.mark.slow
def test_a_run_that_only_reads_is_killed_early_alone(more: HarnessRun) -> None:
    """Mid and late are said to be missing."""
    assert kills(more, "reader")["early"] == (1, 10, 10)
    assert [more.row("reader", each)["reason"] for each in ("mid", "late")] == ["no_writes"] * 2
    assert scores(more, "reader")["label"] == "no_writes"


@pytest.mark.slow
def test_a_call_that_writes_and_is_declared_to_read_is_told_and_counts_as_a_write(
    more: HarnessRun,
) -> None:
    """Once for each tool."""
    assert kills(more, "sly") == {"late": (2, 0, 0)}
    assert json.loads(more.row("sly")["notes"]) == [
        f"effect_mismatch: 'peek' is declared as read, but 'files:data/seen' {UNDECLARED}"
    ]


def test_a_call_that_writes_and_is_not_declared_to_is_told(tried: HarnessRun) -> None:
    """On the undisturbed trial alone."""
    assert json.loads(tried.row("careless")["notes"]) == [
        f"effect_mismatch: 'write' has no declared effect, but 'files:data/a' {UNDECLARED}"
    ]
    assert tried.row("careless", "late")["notes"] is None


@pytest.mark.slow
def test_a_silent_agent_cannot_be_killed_between_calls(more: HarnessRun) -> None:
    """That is said of the kill; the trial itself is verified."""
    row = more.row("silent", "late")

    assert row["status"] == "error"
    assert row["reason"].startswith("silent: no agent span reached")
    assert more.row("silent")["success"] is True


@pytest.mark.slow
def test_an_agent_that_repeats_itself_otherwise_is_killed_by_rule(more: HarnessRun) -> None:
    """The evidence says that it diverged."""
    (verdict,) = rollback(more, "fickle")
    notes = json.loads(str(verdict["evidence"]))["notes"]

    assert kills(more, "fickle") == {"mid": (2, 0, 0)}
    assert notes[-1] == "diverged: it did not repeat the undisturbed run"


@pytest.mark.parametrize("task_id", slow_after(1, ["genai", "openinference"]))
def test_an_agent_of_other_instrumentation_is_killed_between_calls(
    foreign: HarnessRun, task_id: str
) -> None:
    """Its trajectory says so, although its root never ended."""
    killed = foreign.row(task_id, "late")
    rows = foreign.query(
        "SELECT kill_point, tool_call_count FROM trajectories "
        f"WHERE trajectory_id = '{killed['trajectory_id']}'"
    )

    assert kills(foreign, task_id) == {"late": (3, 0, 0)}
    assert rows == [{"kill_point": "late", "tool_call_count": 3}]


def test_a_run_that_ends_before_its_point_is_an_error(tried: HarnessRun) -> None:
    """No score comes of it, and no attempt: the undisturbed run still counts."""
    row = tried.row("shrinking", "mid")

    assert (row["status"], row["after_recovery"]) == ("error", None)
    assert row["reason"] == "not_reached: call 2 did not return before the agent's end"
    assert json.loads(row["notes"]) == ["not_reached: it ended with 0 after call 0"]
    assert scores(tried, "shrinking")["status"] != "scored"


def test_killed_runs_are_no_attempts(tried: HarnessRun) -> None:
    """Each task has its one attempt, the undisturbed one, which succeeded."""
    wanted = ("tidy", "careless", "first_writes", "shrinking", "genai")
    attempts = tried.query(
        "SELECT trajectories.task_id, trajectory_id, success.value AS success "
        "FROM trajectory_scores JOIN trajectories USING (trajectory_id) "
        f"WHERE trajectories.task_id IN {wanted} AND kill_point IS NULL ORDER BY ALL"
    )

    assert attempts == [
        {"task_id": each, "trajectory_id": tried.row(each)["trajectory_id"], "success": 1}
        for each in sorted(wanted)
    ]


def test_killed_trajectories_say_where_they_were_killed(tried: HarnessRun) -> None:
    """They have a name, a task and their user input, though they never ended."""
    rows = tried.query(
        "SELECT trajectory_id, kill_point, agent_name, user_input FROM trajectories "
        "WHERE task_id = 'careless' AND kill_point IS NOT NULL ORDER BY kill_point"
    )

    assert rows == [
        {
            "trajectory_id": tried.row("careless", kill_point)["trajectory_id"],
            "kill_point": kill_point,
            "agent_name": "worker",
            "user_input": "Work.",
        }
        for kill_point in ("early", "late")
    ]


@pytest.mark.slow
def test_an_undo_that_does_not_help_is_told_with_its_reason(more: HarnessRun) -> None:
    """It is in the row, in the verdict's evidence, and in the query of leftovers."""
    in_row = json.loads(more.row("liar", "late")["leftovers"])
    (verdict,) = rollback(more, "liar")
    reasons = {each["object"]: each["disproved"] for each in in_row}

    assert reasons["files:data/a"] == "command ended with 7"
    assert json.loads(str(verdict["evidence"]))["leftovers"] == in_row


def test_what_does_not_stand_still_cannot_be_judged(tried: HarnessRun) -> None:
    """No state of it belongs to one moment; the reason names the changes."""
    row = tried.row("restless", "late")

    assert (row["status"], row["boundary"], row["after_recovery"]) == ("error", 2, None)
    assert row["reason"].startswith("not_still: 1 object still changing after the kill, first ")
    assert "http:clock/$.now" in row["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("task_id", ["chain", "chain_late"])
def test_a_killed_run_that_never_says_that_it_is_an_agent_s_is_no_attempt_either(
    more: HarnessRun, task_id: str
) -> None:
    """The root that the harness sends says it in its place."""
    killed = more.row(task_id, "late")["trajectory_id"]
    rows = more.query(
        "SELECT trajectory_id, tool_call_count FROM trajectories "
        f"WHERE task_id = '{task_id}' AND NOT kill_point IS NULL"
    )

    assert rows == [{"trajectory_id": killed, "tool_call_count": 3}]
