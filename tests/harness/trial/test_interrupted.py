"""Harnesses that are killed or interrupted in the middle, and go on: real processes."""

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import tracegrade
from tests.harness.trial.agents import WROTE, HarnessRun, hanging, living, made
from tests.waiting import wait_until

CASES: dict[str, dict[str, Any]] = {
    "careless": {"kill": {"points": ["late"]}, "verify": [WROTE]},
    "stuck": {"verify": [WROTE], "limits": {"wall_secs": 3600}},
}
KEPT = 2
"""Results that a harness keeps before it comes to the agent that hangs."""


def begun(suite: HarnessRun) -> str:
    """Return the id of the only run."""
    (run,) = (suite.home / "runs").iterdir()
    return run.name


def results(suite: HarnessRun) -> list[str]:
    """Return what the file of the run holds of results."""
    return (suite.home / "runs" / begun(suite) / "run.jsonl").read_text().splitlines()[1:]


def answer_instead(suite: HarnessRun) -> None:
    """Let the agent that hangs answer from now on."""
    agent = suite.suite.parent / "agent.py"
    agent.write_text(agent.read_text().replace("    hang()\n", '    write("a")\n'))


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[HarnessRun, HarnessRun]:
    """A suite whose harness was killed while an agent hung, and how it was resumed before that."""
    suite = made(tmp_path_factory.mktemp("interrupted"), CASES)
    with hanging(suite) as harness:
        too_early = suite.run("--resume", begun(suite))
        os.kill(harness.pid, signal.SIGKILL)
    wait_until(lambda: not living(suite))
    return suite, too_early


@pytest.fixture(scope="module")
def killed(interrupted: tuple[HarnessRun, HarnessRun]) -> HarnessRun:
    """It, resumed after the end of its harness, and scored."""
    suite, _ = interrupted
    assert len(results(suite)) == KEPT
    answer_instead(suite)
    return suite.run("--sandbox", "none", "--resume", begun(suite)).score()


def test_nothing_outlives_a_killed_harness_and_a_resumed_run_ends(killed: HarnessRun) -> None:
    """Agents and collector have ended, which the fixture waited for; the run is whole."""
    assert killed.ended is not None
    assert killed.ended.returncode == 0, killed.ended.stderr
    rows = [(row["task_id"], row["kill_point"], row["status"]) for row in killed.rows]
    assert rows == [
        ("careless", None, "done"),
        ("careless", "late", "done"),
        ("stuck", None, "done"),
    ]
    assert {row["run"] for row in killed.rows} == {begun(killed)}


def test_what_was_done_is_not_done_again(killed: HarnessRun) -> None:
    """The trials that were kept are those of the harness that was killed."""
    runs = killed.query(
        "SELECT task_id, kill_point, count(*) AS runs FROM trajectories "
        "WHERE task_id = 'careless' GROUP BY ALL ORDER BY kill_point NULLS FIRST"
    )

    assert [(row["kill_point"], row["runs"]) for row in runs] == [(None, 1), ("late", 1)]


def test_each_task_has_succeeded_once(killed: HarnessRun) -> None:
    """What the harness's end interrupted has no verdict."""
    attempts = killed.query(
        "SELECT task_id, success.value AS success FROM trajectory_scores WHERE trajectory_id IN "
        "(SELECT trajectory_id FROM verdicts WHERE subject = 'success') ORDER BY task_id"
    )

    assert attempts == [{"task_id": "careless", "success": 1}, {"task_id": "stuck", "success": 1}]


@pytest.mark.slow
def test_resuming_a_run_that_has_ended_changes_nothing(killed: HarnessRun) -> None:
    """Rows and verdicts are those that were there."""
    verdicts = killed.query("FROM verdicts ORDER BY ALL")

    again = killed.run("--sandbox", "none", "--resume", begun(killed))

    assert again.rows == killed.rows
    assert again.query("FROM verdicts ORDER BY ALL") == verdicts


@pytest.mark.slow
def test_rows_that_a_harness_wrote_last_get_their_verdicts_later(
    killed: HarnessRun, tmp_path: Path
) -> None:
    """It was killed between the two tables."""
    lake = tmp_path / "lake"
    shutil.copytree(killed.lake, lake)
    whole = killed._replace(lake=lake)
    verdicts = whole.query("SELECT * EXCLUDE (date) FROM verdicts ORDER BY ALL")
    shutil.rmtree(lake / "verdicts")
    run = killed.home / "runs" / begun(killed) / "run.jsonl"
    folder = tmp_path / "home" / "runs" / begun(killed)
    folder.mkdir(parents=True)
    (folder / run.name).write_text(run.read_text().replace(str(killed.lake), str(lake), 1))

    again = whole._replace(home=tmp_path / "home").run("--resume", begun(killed))

    assert again.rows == killed.rows
    assert again.query("SELECT * EXCLUDE (date) FROM verdicts ORDER BY ALL") == verdicts


def test_a_run_of_another_suite_is_not_resumed(killed: HarnessRun, tmp_path: Path) -> None:
    """It is said what differs."""
    other = yaml.safe_load(killed.suite.read_text())
    del other["cases"]["stuck"]
    changed = killed.suite.with_name("other.yaml")
    changed.write_text(yaml.safe_dump(other))

    ended = killed._replace(suite=changed).run("--resume", begun(killed)).ended

    assert ended is not None
    assert ended.returncode == 2
    assert (
        f"run '{begun(killed)}' was begun with another content of the suite, choice of cases "
        '(["careless", "stuck"], now ["careless"]); give what it was begun with, or leave out '
        "--resume for a new run"
    ) in ended.stderr


def test_a_run_whose_file_is_damaged_is_not_resumed(killed: HarnessRun, tmp_path: Path) -> None:
    """The line is named."""
    run = killed.home / "runs" / begun(killed) / "run.jsonl"
    folder = tmp_path / "home" / "runs" / begun(killed)
    folder.mkdir(parents=True)
    first, *_ = run.read_text().splitlines()
    (folder / run.name).write_text(f"{first}\n{{}}\n")

    ended = killed._replace(home=tmp_path / "home").run("--resume", begun(killed)).ended

    assert ended is not None
    assert ended.returncode == 2
    assert f"'{folder}/run.jsonl:2' is not a record of a run; omit --resume" in ended.stderr


def test_a_run_that_never_began_is_not_resumed(killed: HarnessRun) -> None:
    """A new one would have another id."""
    ended = tracegrade(*killed.command("--resume", "r0"))

    assert ended.returncode == 2
    assert "no run 'r0' in " in ended.stderr


def test_ctrl_c_ends_agents_and_lands_what_was_sent(tmp_path: Path) -> None:
    """The trial that it interrupts is not kept; what came before is."""
    suite = made(tmp_path, {**CASES, "careless": {"verify": [WROTE]}})
    with hanging(suite) as harness:
        os.kill(harness.pid, signal.SIGINT)
        harness.wait()

    assert harness.returncode == 130
    assert living(suite) == []
    assert len(results(suite)) == 1
    spans = suite.query("SELECT count(DISTINCT trace_id) AS runs FROM spans")
    assert spans[0]["runs"] >= 1


@pytest.mark.slow
def test_a_repeat_that_its_harness_never_killed_is_no_attempt(tmp_path: Path) -> None:
    """It was to be killed; its harness was. A harness that goes on at once repeats it anew."""
    suite = made(tmp_path, {"balky": CASES["careless"]})
    with hanging(suite) as harness:
        os.kill(harness.pid, signal.SIGKILL)

    resumed = suite.run("--sandbox", "none", "--resume", begun(suite)).score()

    assert resumed.ended is not None
    assert resumed.ended.returncode == 0, resumed.ended.stderr
    assert resumed.row("balky", "late")["boundary"] == 2
    runs = resumed.query(
        "SELECT trajectory_id, kill_point FROM trajectories WHERE task_id = 'balky' "
        "AND kill_point IS NULL"
    )
    assert runs == [{"trajectory_id": resumed.row("balky")["trajectory_id"], "kill_point": None}]


def test_a_run_that_goes_on_cannot_be_resumed(interrupted: tuple[HarnessRun, HarnessRun]) -> None:
    """Two harnesses would do everything twice."""
    suite, too_early = interrupted
    ended = too_early.ended

    assert ended is not None
    assert ended.returncode == 2
    assert f"run '{begun(suite)}' is still in progress; wait for its end" in ended.stderr
