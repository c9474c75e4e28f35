"""Results in the lake."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.harness.results import kill, result

from tracegrade_harness.lake import MAX_NAMED, write
from tracegrade_harness.trial.object_states import MAX_LOG_BYTES, log_end
from tracegrade_harness.trial.result import TrialResult
from tracegrade_lake import Lake

SECRET = "sk-proj-Zx91kQ7vT3bN8mW2pL5dR6yH0cJ4fG1sA9eU"  # noqa: S105 - not a real one


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


def rows(lake: Lake, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    dataset = lake.dataset(table)
    return dataset.to_table().to_pylist() if dataset else []


def verdict(lake: Lake, *results: TrialResult) -> dict[str, Any]:
    """Return the only verdict that comes of results."""
    write(lake, "r", "s", results)
    (found,) = rows(lake, "verdicts")
    return found


def test_a_run_is_written_once(lake: Lake) -> None:
    """Another run adds to it."""
    for run in ("r1", "r1", "r2"):
        write(lake, run, "s", [result(), kill()])

    assert sorted(row["run"] for row in rows(lake, "harness_trials")) == ["r1", "r1", "r2", "r2"]
    assert len(rows(lake, "verdicts")) == 2


def test_verdicts_follow_where_a_run_was_killed_between_the_tables(lake: Lake) -> None:
    """The rows are there already, and stay as they are."""
    in_the_way = lake.root / "verdicts"
    in_the_way.write_text("no folder")
    with pytest.raises(Exception, match="verdicts"):
        write(lake, "r", "s", [result()])
    in_the_way.unlink()

    write(lake, "r", "s", [result()])

    assert len(rows(lake, "harness_trials")) == len(rows(lake, "verdicts")) == 1


def test_secrets_do_not_land(lake: Lake) -> None:
    """Neither in names of leftovers, nor in what verifiers and recovery say."""
    left = [{"object": f"files:data/{SECRET}", "change": "added", "named_by": None}]
    seen = [{"verifier": "v", "outcome": "error", "evidence": f"said {SECRET}"}]
    write(
        lake,
        "r",
        "s",
        [
            result(success=None, status="error", reason=f"verifier: {SECRET}", verifiers=seen),
            kill(leftovers=left, changed={"added": [f"files:{SECRET}"]}, notes=[SECRET]),
        ],
    )

    found = [*rows(lake, "harness_trials"), *rows(lake, "verdicts")]
    assert len(found) == 4
    assert SECRET not in repr(found)
    trial, killed = sorted(found[:2], key=lambda row: row["kill_point"] or "")
    assert json.loads(killed["leftovers"])[0]["change"] == "added"
    assert json.loads(trial["verifiers"])[0]["outcome"] == "error"
    assert all(json.loads(row["evidence"]) for row in found[2:])


def test_a_secret_at_the_cut_of_a_log_does_not_land(lake: Lake, tmp_path: Path) -> None:
    """What tells that it is one stands before the part that is stored."""
    log = tmp_path / "recovery.log"
    token = SECRET.removeprefix("sk-proj-")
    log.write_text("y" * 99 + f" {SECRET} " + "x" * (MAX_LOG_BYTES - len(token) - 9) + " the end")
    write(lake, "r", "s", [kill(recovery_log=log_end(log))])

    (row,) = rows(lake, "harness_trials")
    assert row["recovery_log"].endswith("the end")
    assert len(row["recovery_log"]) == MAX_LOG_BYTES
    assert token not in row["recovery_log"]


def test_a_kill_is_a_verdict_on_the_run_that_it_repeats(lake: Lake) -> None:
    """With what judges of kills read of it."""
    found = verdict(lake, kill(immediate=3, after_recovery=7, leftovers=[{"object": "a"}]))

    keys = ("trajectory_id", "subject", "kill_point", "value", "label", "source")
    assert [found[key] for key in keys] == ["t-1", "rollback", "late", 7, None, "harness"]
    assert json.loads(found["evidence"]) == {
        "immediate": 3,
        "boundary": 3,
        "killed": "t-2",
        "leftovers": [{"object": "a"}],
        "left": 1,
    }


def test_a_run_that_a_limit_ended_has_failed_with_or_without_verifiers(lake: Lake) -> None:
    """It failed, even if the state is right; the label names the limit."""
    told = {"success": False, "status": "budget", "reason": "calls: more than 3"}
    found = verdict(lake, result(verifiers=None, **told))

    assert (found["subject"], found["value"], found["label"]) == ("success", 0.0, "budget")


def test_a_limit_ended_the_last_turn_of_a_conversation(lake: Lake) -> None:
    """All of its turns have failed together, and the earlier ones came to their ends."""
    told = {"success": False, "status": "budget", "reason": "calls: more than 3"}
    turns = ["t-2", "t-3"]
    write(lake, "r", "s", [result(trajectory_id="t-1", turns=turns, verifiers=None, **told)])

    found = {row["trajectory_id"]: (row["value"], row["label"]) for row in rows(lake, "verdicts")}
    assert found == {"t-1": (0.0, None), "t-2": (0.0, None), "t-3": (0.0, "budget")}


def test_evidence_names_some_of_many_leftovers(lake: Lake) -> None:
    """And says how many there are."""
    found = verdict(lake, kill(leftovers=[{"object": str(each)} for each in range(99)]))

    evidence = json.loads(found["evidence"])
    assert (len(evidence["leftovers"]), evidence["left"]) == (MAX_NAMED, 99)


@pytest.mark.parametrize(
    ("status", "label"), [("not_applicable", "not_applicable"), ("error", "error")]
)
def test_a_kill_that_was_not_judged_has_no_value(lake: Lake, status: str, label: str) -> None:
    """Its label says why."""
    found = verdict(lake, kill(status=status, immediate=None, after_recovery=None, leftovers=None))

    assert (found["value"], found["label"]) == (None, label)


@pytest.mark.parametrize(
    "unjudged",
    [
        result(status="invalid", success=None),
        result(success=None, verifiers=None),
        result(trajectory_id=None),
        kill(baseline_trajectory_id=None, status="error"),
    ],
    ids=["invalid", "no verifiers", "no trajectory", "no baseline"],
)
def test_what_says_nothing_of_a_trajectory_is_no_verdict(
    lake: Lake, unjudged: TrialResult
) -> None:
    """Its row is there."""
    write(lake, "r", "s", [unjudged])

    assert len(rows(lake, "harness_trials")) == 1
    assert rows(lake, "verdicts") == []


def test_trials_that_a_later_harness_ran_again_replace_what_was_there(lake: Lake) -> None:
    """Of a run that is resumed; other runs of the day stay, and so does what was done."""
    write(lake, "other", "s", [result()])
    broken = result(trial=2, status="invalid", success=None, verifiers=None, trajectory_id=None)
    write(lake, "r", "s", [result(), broken])

    write(lake, "r", "s", [result(), result(trial=2, trajectory_id="t-9")])

    found = sorted(
        (row["run"], row["trial"], row["status"]) for row in rows(lake, "harness_trials")
    )
    assert found == [("other", 1, "done"), ("r", 1, "done"), ("r", 2, "done")]
    assert {row["trajectory_id"] for row in rows(lake, "verdicts")} == {"t-1", "t-9"}


def test_notes_are_told(lake: Lake) -> None:
    """In the row, and in the verdict's evidence."""
    evidence = verdict(lake, result(notes=["several_runs: two", f"otlp: {SECRET}"]))["evidence"]
    (row,) = rows(lake, "harness_trials")

    assert json.loads(evidence)["notes"] == json.loads(row["notes"])
    assert json.loads(row["notes"])[0] == "several_runs: two"
    assert SECRET not in row["notes"]


def test_a_kill_that_is_the_harness_s_own_fault_gets_no_verdict(lake: Lake) -> None:
    """It is tried again when the run goes on."""
    write(lake, "r", "s", [kill(status="invalid", after_recovery=None)])

    assert rows(lake, "verdicts") == []
