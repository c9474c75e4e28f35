"""Records that hold several runs: each is one, with what its record says for all of them."""

from pathlib import Path
from typing import Any

from tests.collector.importing.imports import Outcome, imported, written, written_lines
from tests.collector.importing.test_chats import asks, user
from tests.collector.importing.together import Scene
from tests.scenes import built_together

RIGHT, WRONG = [user("2+2?"), asks(text="4")], [user("2+2?"), asks(text="5")]


def runs(outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return task, trial, outcome and answer of each run."""
    return outcome.rows(
        "SELECT task_id, trial, outcome, final_answer FROM trajectories ORDER BY ALL"
    )


@built_together
def test_attempts_of_a_task(folder: Path) -> Scene:
    """They are its trials, in order; what came of all together is said of none."""
    attempts = [{"messages": RIGHT, "passed": True}, {"messages": WRONG, "passed": False}]
    record = {"task_id": "sum", "agent": "a", "success": True, "attempts": attempts}
    outcome = yield imported(folder, written(folder, [record]))

    assert runs(outcome) == [("sum", 0, "success", "4"), ("sum", 1, "failure", "5")]
    assert outcome.rows("SELECT DISTINCT agent_name FROM trajectories") == [("a",)]


@built_together
def test_runs_where_the_map_says(folder: Path) -> Scene:
    """Lists of messages are runs, too; their own trial counts before their place."""
    held = {"name": "sum", "data": {"chats": [RIGHT, {"history": WRONG, "trial_id": 7}]}}
    paths = {"runs": "data.chats", "task": "name"}
    outcome = yield imported(folder, written_lines(folder, [held]), paths=paths)

    assert runs(outcome) == [("sum", 0, None, "4"), ("sum", 7, None, "5")]


@built_together
def test_runs_in_runs(folder: Path) -> Scene:
    """Each level says what its own do not."""
    tasks = [
        {"task_id": name, "trials": [RIGHT, {"steps": [{"thought": "t", "answer": "5"}]}]}
        for name in "ab"
    ]
    outcome = yield imported(folder, written(folder, [{"model": "m", "runs": tasks}]))

    assert [(task, trial) for task, trial, *_ in runs(outcome)] == [
        *(("a", 0), ("a", 1)),
        *(("b", 0), ("b", 1)),
    ]


@built_together
def test_a_run_that_has_messages_is_one(folder: Path) -> Scene:
    """With any further lists; a list without any run is reported."""
    one = {"task_id": "one", "messages": RIGHT, "samples": [{"messages": WRONG}]}
    none = {"task_id": "none", "runs": [{"score": 1}]}
    outcome = yield imported(folder, written_lines(folder, [one, none]))

    assert runs(outcome) == [("one", None, None, "4")]
    (note,) = outcome.notes
    assert "export.jsonl:2: no messages in it; found: task_id, score, trial" in note


def test_runs_keep_their_ids(tmp_path: Path) -> None:
    """Imported again they add nothing, and one more adds only itself."""
    record = {"task_id": "sum", "runs": [RIGHT, WRONG]}
    file = written(tmp_path, [record])
    outcome = imported(tmp_path, file)
    assert outcome.again(file) == 0
    record["runs"] = [RIGHT, WRONG, RIGHT]
    assert outcome.again(written(tmp_path, [record])) == 2
