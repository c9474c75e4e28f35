"""Undisturbed trials: one suite, run once by the command."""

import json
from typing import Any

import psutil
import pytest
from tests.harness.trial.agents import WROTE, HarnessRun, exits, made

CASES: dict[str, dict[str, Any]] = {
    "careless": {"trials": 2, "verify": [WROTE]},
    "careless-fails": {"verify": [exits(1)]},
    "careless-unsure": {"verify": [exits(3)]},
    "careless-unseen": {},
    "genai": {"verify": [WROTE]},
    "silent": {"verify": [WROTE]},
    "stuck": {"verify": [WROTE], "limits": {"wall_secs": 4}},
    "stuck-idle": {"limits": {"idle_secs": 4, "wall_secs": 3600}},
    "many_calls": {
        "verify": [exits(0)],
        "limits": {"calls": 3},
        "kill": {"points": ["early", "late"]},
    },
    "hungry": {"limits": {"memory_mb": 600}},
    "daemon": {"verify": [WROTE]},
    "twice": {"verify": [exits(0)]},
}


NEVER_RUN = 2
"""Kills of an agent that a limit ended."""


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run with two trials at a time."""
    return made(tmp_path_factory.mktemp("undisturbed"), CASES).run("--jobs", 2).score()


def success(tried: HarnessRun, task_id: str) -> dict[str, object]:
    """Return the only verdict on the success of a task's first trial."""
    found = tried.verdicts(tried.row(task_id)["trajectory_id"])
    (verdict,) = (each for each in found if each["subject"] == "success")
    return {key: verdict[key] for key in ("subject", "source", "value", "label")}


def test_a_trial_whose_verifiers_hold_has_passed(tried: HarnessRun) -> None:
    """In its row, and by a verdict on its trajectory."""
    row = tried.row("careless")

    assert (row["status"], row["success"], row["exit_code"]) == ("done", True, 0)
    assert success(tried, "careless") == {
        "subject": "success",
        "source": "harness",
        "value": 1,
        "label": None,
    }


def test_a_verifier_that_ends_with_1_fails_the_trial(tried: HarnessRun) -> None:
    """The verdict says 0."""
    row = tried.row("careless-fails")

    assert (row["status"], row["success"]) == ("done", False)
    assert success(tried, "careless-fails")["value"] == 0


def test_a_verifier_that_ends_otherwise_could_not_tell(tried: HarnessRun) -> None:
    """The trial neither passed nor failed; the verdict has no value."""
    row = tried.row("careless-unsure")

    assert (row["status"], row["success"]) == ("error", None)
    assert row["reason"].startswith("verifier: ")
    verdict = success(tried, "careless-unsure")
    assert (verdict["value"], verdict["label"]) == (None, "error")


def test_a_trial_that_nothing_verifies_gets_no_verdict(tried: HarnessRun) -> None:
    """What scores it is left to others."""
    row = tried.row("careless-unseen")

    assert (row["status"], row["success"], row["verifiers"]) == ("done", None, None)
    assert tried.verdicts(row["trajectory_id"]) == []


@pytest.mark.parametrize("task_id", ["careless", "genai"])
def test_a_trajectory_says_which_trial_it_is(tried: HarnessRun, task_id: str) -> None:
    """Also where the agent knows of nothing but OpenTelemetry."""
    rows = tried.query(
        "SELECT task_id, trial, run_mode, release FROM trajectories "
        f"WHERE trajectory_id = '{tried.row(task_id)['trajectory_id']}'"
    )

    assert rows == [{"task_id": task_id, "trial": 1, "run_mode": "live", "release": "1"}]


def test_an_agent_that_begins_a_second_run_is_judged_by_its_first(tried: HarnessRun) -> None:
    """The second stays in the lake, and counts nowhere."""
    row = tried.row("twice")

    assert (row["status"], row["success"]) == ("done", True)
    said = [note for note in json.loads(row["notes"]) if note.startswith("several_runs")]
    assert len(said) == 1
    assert said[0].startswith("several_runs: 1 run more than the trial's, in no rate; ")
    assert success(tried, "twice")["value"] == 1


def test_each_trial_starts_from_the_same_environment(tried: HarnessRun) -> None:
    """The agent creates its files anew, which fails where they are."""
    second = tried.row("careless", trial=2)

    assert (second["success"], second["exit_code"]) == (True, 0)
    assert json.loads(second["changed"]) == {"added": ["files:data/a", "files:data/b"]}


def test_a_silent_agent_is_verified(tried: HarnessRun) -> None:
    """It just has no trajectory that a verdict could be on."""
    row = tried.row("silent")

    assert (row["status"], row["success"], row["trajectory_id"]) == ("done", True, None)


def test_an_agent_that_shows_no_sign_is_ended_before_its_time(tried: HarnessRun) -> None:
    """It has failed, and differs from an agent that took too long."""
    row = tried.row("stuck-idle")

    assert (row["status"], row["success"], row["reason"]) == (
        "budget",
        False,
        "idle_secs: no sign for 4 s",
    )


def test_an_agent_without_end_is_ended_by_its_time(tried: HarnessRun) -> None:
    """It has failed."""
    row = tried.row("stuck")

    assert (row["status"], row["success"], row["exit_code"]) == ("budget", False, None)
    assert row["reason"] == "wall_secs: more than 4 s"


def test_an_agent_with_too_many_calls_is_ended(tried: HarnessRun) -> None:
    """Although its verifier would hold."""
    row = tried.row("many_calls")

    assert (row["status"], row["success"]) == ("budget", False)
    assert row["reason"] == "calls: more than 3"
    assert success(tried, "many_calls")["value"] == 0


def test_an_agent_that_is_refused_memory_and_fails_is_ended_by_that_limit(
    tried: HarnessRun,
) -> None:
    """The kernel's refusal is an error of the agent's own, and yet it did not crash by itself."""
    row = tried.row("hungry")

    assert (row["status"], row["success"], row["reason"]) == (
        "budget",
        False,
        "memory_mb: more than 600",
    )
    assert success(tried, "hungry") == {
        "subject": "success",
        "source": "harness",
        "value": 0,
        "label": "budget",
    }


def test_a_limit_that_ended_a_run_is_one_reason_with_the_limit_in_it(tried: HarnessRun) -> None:
    """Its termination says the same."""
    rows = tried.query(
        "SELECT trajectory_scores.task_id, termination.label AS ended, object, sentence "
        "FROM trajectory_scores JOIN run_reasons USING (trajectory_id) "
        "WHERE kind IN ('budget', 'crashed') ORDER BY ALL"
    )

    assert [(row["task_id"], row["ended"], row["object"]) for row in rows] == [
        ("hungry", "budget", "memory_mb"),
        ("many_calls", "budget", "calls"),
        ("stuck", "budget", "wall_secs"),
        ("stuck-idle", "budget", "idle_secs"),
    ]
    assert rows[1]["sentence"] == "stopped at a limit (calls: more than 3) after 4 calls"


@pytest.mark.parametrize(("task_id", "calls"), [("stuck", 0), ("many_calls", 3), ("hungry", 1)])
def test_an_agent_that_a_limit_ended_is_an_attempt_that_failed(
    tried: HarnessRun, task_id: str, calls: int
) -> None:
    """Its trajectory has its task and is scored, although its root never ended."""
    trajectory_id = tried.row(task_id)["trajectory_id"]
    attempts = tried.query(
        "SELECT trajectory_id, success.value AS success, tool_call_count >= "
        f"{calls} AS has_calls FROM trajectory_scores JOIN trajectories USING (trajectory_id) "
        f"WHERE trajectories.task_id = '{task_id}' AND kill_point IS NULL"
    )

    assert attempts == [{"trajectory_id": trajectory_id, "success": 0, "has_calls": True}]


def test_an_agent_that_a_limit_ended_cannot_be_killed(tried: HarnessRun) -> None:
    """That is not the harness's fault: the trial has failed before."""
    for kill_point in ("early", "late"):
        row = tried.row("many_calls", kill_point)
        assert row["status"] == "not_applicable"
        assert row["reason"] == (
            "no_baseline: the undisturbed trial is 'budget' (calls: more than 3)"
        )
        assert row["baseline_trajectory_id"] == tried.row("many_calls")["trajectory_id"]


def test_a_daemon_is_named_and_does_not_outlive_its_trial(tried: HarnessRun) -> None:
    """Its command says which one it is."""
    (left,) = json.loads(tried.row("daemon")["changed"])["lives_on"]

    assert left.startswith("process:python")
    assert left.endswith("left-behind")
    assert not [each for each in psutil.process_iter() if _is_left(each)]


def _is_left(process: psutil.Process) -> bool:
    try:
        return bool(process.cmdline()[-1:] == ["left-behind"])
    except psutil.Error:
        return False


def test_of_a_trial_only_its_logs_stay(tried: HarnessRun) -> None:
    """Environments are removed, with all that agents put there."""
    (run,) = (tried.home / "runs").iterdir()

    assert list((run / "trials").iterdir()) == []
    assert len(list((run / "logs").glob("*-agent.log"))) == len(tried.rows) - NEVER_RUN


def test_the_command_ends_with_3_where_something_could_not_be_judged(tried: HarnessRun) -> None:
    """That comes before what failed; each trial was said as it ended."""
    assert tried.ended is not None
    assert tried.ended.returncode == 3
    assert "careless trial 2: passed\n" in tried.ended.stderr
    told = "1 of 15 could not be run or judged, first: careless-unsure trial 1: verifier: "
    assert told in tried.ended.stderr
    assert tried.ended.stdout.startswith("run: ")


def test_jobs_do_not_mix_trials(tried: HarnessRun) -> None:
    """Each trial has a trajectory of its own."""
    ids = [row["trajectory_id"] for row in tried.rows if row["trajectory_id"]]

    assert len(set(ids)) == len(ids) == 12
