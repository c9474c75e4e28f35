"""Folders of Harbor's jobs: trials with rewards, exceptions, continued runs, and broken files."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.forms.atif_documents import (
    Row,
    agent,
    call,
    document,
    plain,
    result,
    user,
)
from tests.collector.importing.imports import imported
from tests.collector.importing.raw_counts.harbor import raw_counts
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

OUTCOMES = "SELECT task_id, trial, outcome FROM trajectories ORDER BY trial, outcome"


def trial(
    job: Path, name: str, minute: int = 0, reward: Any = 1.0, error: str = "", **fields: Any
) -> Path:
    """Write a trial of a job; return its folder."""
    folder = job / name
    (folder / "agent").mkdir(parents=True)
    (folder / "verifier").mkdir()
    rewards = {"reward": reward} if not isinstance(reward, dict) else reward
    found: Row = {
        "task_name": "bench/count",
        "trial_name": name,
        "source": "bench",
        "config": {"job_id": "job-1", "trial_name": name},
        "agent_info": {"name": "coder", "version": "3.1"},
        "agent_result": {"n_input_tokens": 30, "cost_usd": 0.1},
        "verifier_result": None if reward is None else {"rewards": rewards},
        "exception_info": {"exception_type": error} if error else None,
        "started_at": f"2026-04-01T09:{minute:02}:00",
    }
    write(folder / "result.json", found | fields)
    write(folder / "config.json", found["config"] | {"task": {"path": "/tasks/count"}})
    return folder


def write(path: Path, value: Any) -> None:
    """Write a JSON document."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def job(folder: Path) -> Path:
    """Return a folder of a job, with what Harbor writes next to its trials."""
    found = folder / "2026-04-01__09-00-00"
    write(found / "result.json", {"id": "job-1", "n_total_trials": 2, "stats": {}})
    write(found / "config.json", {"job_name": "x"})
    (found / "job.log").write_text("started\n")
    return found


@built_together
def test_a_trial_is_a_run_with_its_reward_as_verdict(folder: Path) -> Scene:
    """Trials of a task are numbered by their beginning."""
    whole = job(folder)
    write(trial(whole, "count__b", 1, 0.0) / "agent" / "trajectory.json", plain())
    write(trial(whole, "count__a", 2, 1) / "agent" / "trajectory.json", document(agent("2")))
    outcome = yield imported(folder, whole)

    assert outcome.notes == []
    assert lake_counts(outcome) == raw_counts(whole)
    assert outcome.rows(OUTCOMES) == [("bench/count", 0, "failure"), ("bench/count", 1, "success")]
    assert outcome.rows(
        "SELECT task_category, agent_name, release, conversation_id, tool_call_count "
        "FROM trajectories ORDER BY trial"
    ) == [("bench", "coder", "3.1", "session-1", 1), ("bench", "coder", "3.1", "session-1", 0)]
    assert outcome.imported_rows("SELECT subject, source, value FROM verdicts ORDER BY value") == [
        ("success", "harbor reward", 0.0),
        ("success", "harbor reward", 1.0),
    ]


@pytest.mark.parametrize(
    ("reward", "error", "outcome", "verdicts"),
    [
        (0.0, "AgentTimeoutError", "failure", 1),
        (1.0, "NonZeroAgentExitCodeError", "success", 1),
        (None, "AgentTimeoutError", "invalid", 0),
        (0.0, "EnvironmentStartTimeoutError", "invalid", 0),
        (0.0, "ApiRateLimitError", "invalid", 0),
        (None, "VerifierTimeoutError", "invalid", 0),
        (None, "", None, 0),
        (0.5, "", None, 1),
        (7, "", None, 0),
    ],
)
def test_an_error_of_the_infrastructure_is_no_attempt(
    tmp_path: Path, reward: Any, error: str, outcome: str | None, verdicts: int
) -> None:
    """The agent's own errors are attempts, if the verifier ran after them."""
    trial(job(tmp_path), "count__a", 0, reward, error)
    found = imported(tmp_path, *tmp_path.glob("2026*"))
    (run,) = (dict(each["attributes"]) for each in found.spans())
    assert run.get("tracegrade.outcome") == outcome
    assert found.imported.verdicts["added"] == verdicts


def test_harbor_itself_says_which_rewards_count(tmp_path: Path) -> None:
    """Newer results have `reward_valid`, which a policy of the job may have changed."""
    whole = job(tmp_path)
    trial(whole, "count__a", 0, 1.0, "OwnError", reward_valid=False)
    trial(whole, "count__b", 1, 1.0, "ApiError", reward_valid=True)
    found = imported(tmp_path, whole)
    assert sorted(dict(each["attributes"])["tracegrade.outcome"] for each in found.spans()) == [
        "invalid",
        "success",
    ]
    assert found.imported.ignored["rewards of trials that the infrastructure ended"] == 1


@pytest.mark.parametrize(
    ("paths", "verdicts"), [({}, ["harbor reward"]), ({"success": "style"}, ["harbor style"])]
)
def test_one_of_several_rewards_tells_success(
    tmp_path: Path, paths: dict[str, str], verdicts: list[str]
) -> None:
    """The one named `reward`, or the one that `--map success=NAME` names."""
    whole = job(tmp_path)
    trial(whole, "count__a", 0, {"reward": 1.0, "style": 0.0})
    found = imported(tmp_path, whole, paths=paths)
    assert found.imported_rows("SELECT source FROM verdicts") == [(each,) for each in verdicts]
    assert found.imported.ignored["rewards that do not tell success"] == 1


@built_together
def test_files_that_continue_a_trajectory_are_one_run(folder: Path) -> Scene:
    """Steps that were copied count once; other files of the folder are sub-agents' runs."""
    place = trial(job(folder), "count__a") / "agent"
    first = document(user("Go."), agent("", call(1), results=[result(1, "x")]))
    write(
        place / "trajectory.json", first | {"continued_trajectory_ref": "trajectory.cont-1.json"}
    )
    again = [{**each, "is_copied_context": True} for each in first["steps"]]
    rest = document(*again, agent("Done."), continued_trajectory_ref="/x/trajectory.cont-1.json")
    write(place / "trajectory.cont-1.json", rest)
    write(place / "trajectory.summary.json", document(agent("Sum."), session="other"))
    (place / "gemini-cli.trajectory.json").write_text("[]")  # the agent's own session
    outcome = yield imported(folder, place.parent.parent)

    assert outcome.notes == []
    assert outcome.rows(
        "SELECT task_id, trial, conversation_id, tool_call_count, final_answer FROM trajectories "
        "ORDER BY task_id"
    ) == [("bench/count", 0, "session-1", 1, "Done."), (None, None, "session-1", 0, "Sum.")]


@built_together
def test_steps_of_a_trial_are_turns_of_one_run(folder: Path) -> Scene:
    """A trial in steps has a folder for each; the result tells their order."""
    place = trial(job(folder), "count__a", step_results=[{"step_name": "z"}, {"step_name": "a"}])
    for name, text in (("a", "second"), ("z", "first")):
        write(
            place / "steps" / name / "agent" / "trajectory.json",
            document(user("Go."), agent(text)),
        )
    outcome = yield imported(folder, place)
    assert outcome.rows(
        "SELECT content FROM steps WHERE role = 'assistant' ORDER BY step_index"
    ) == [
        ("first",),
        ("second",),
    ]


def test_an_unfinished_trial_is_kept_without_an_outcome(tmp_path: Path) -> None:
    """A killed job leaves a trial with its configuration alone; a later import completes it."""
    whole = job(tmp_path)
    place = trial(whole, "count__a")
    write(place / "agent" / "trajectory.json", plain())
    finished = (place / "result.json").read_text()
    (place / "result.json").unlink()
    found = imported(tmp_path, whole)
    assert [note.split(": ")[1] for note in found.notes] == [
        "the trial has no result.json, so it is imported without an outcome"
    ]
    runs = [dict(each["attributes"]) for each in found.spans() if not each["parent_span_id"]]
    assert [each["tracegrade.task.id"] for each in runs] == ["count"]
    (place / "result.json").write_text(finished)
    assert found.again(whole) == 1  # the run itself; its steps are known


def test_broken_files_of_a_trial_cost_themselves(tmp_path: Path) -> None:
    """A cut result, a trajectory that is none, a pipe: the rest of the job is imported."""
    whole = job(tmp_path)
    (trial(whole, "count__a") / "result.json").write_text('{"task_name": "x')
    (trial(whole, "count__b") / "agent" / "trajectory.json").write_text('{"steps": 5}')
    place = trial(whole, "count__c") / "agent"
    os.mkfifo(place / "trajectory.json")
    (place / "trajectory.x.json").write_text("")
    found = imported(tmp_path, whole)

    assert found.imported.faults == 3
    assert found.imported.understood["trajectories"] == 3


def test_other_folders_are_named(tmp_path: Path) -> None:
    """Any other folder costs itself, under each format."""
    for format_ in ("auto", "harbor", "otlp"):
        place = tmp_path / format_
        (place / "sub").mkdir(parents=True)
        found = imported(place, place / "sub", format_=format_)
        assert found.imported.faults == 1
        assert "no job" in found.notes[0]
