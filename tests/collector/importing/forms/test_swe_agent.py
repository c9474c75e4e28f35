"""Files of SWE-agent: commands as calls, attempts, limits, and broken files."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import imported, written
from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.raw_counts.swe_agent import raw_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.known_formats import read_file

Row = dict[str, Any]
STATS = {"instance_cost": 0.25, "tokens_sent": 100, "tokens_received": 10, "api_calls": 2}


def step(thought: str, action: str, observation: str = "") -> Row:
    """Return a step as SWE-agent writes it."""
    response = f"{thought}\n```\n{action}\n```"
    return {"action": action, "observation": observation, "response": response, "state": {}} | {
        "thought": thought,
        "execution_time": 0.1,
    }


def said(number: int, text: str, action: str, name: str | None = None, **arguments: Any) -> Row:
    """Return an answer of the model in the history; with a name it called a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"c{number}", "type": "function", "function": function}] if name else None
    return {"role": "assistant", "content": text, "thought": text, "action": action} | {
        "tool_calls": calls,
        "agent": "main",
        "message_type": "action",
    }


def run(*steps: Row, history: list[Row] | None = None, **info: Any) -> Row:
    """Return a run that submitted."""
    opening = [{"role": "system", "content": "Edit."}, {"role": "user", "content": "Fix it."}]
    config = {"problem_statement": {"id": "repo-1"}, "agent": {"model": {"name": "model-a"}}}
    return {
        "environment": "main",
        "trajectory": list(steps),
        "history": [*opening, *(history or [])],
        "info": {"exit_status": "submitted", "submission": "diff", "model_stats": STATS} | info,
        "replay_config": json.dumps(config),
    }


@built_together
def test_a_file_is_a_run(folder: Path) -> Scene:
    """Commands have the names of SWE-agent's tools, or are the shell's."""
    steps = [step("Look.", "ls -F\n", "a b"), step("Open.", "open a.py 3\n", "x = 1")]
    outcome = yield imported(folder, written(folder, run(*steps, step("Done.", "submit", "diff"))))

    assert outcome.notes == []
    assert outcome.steps() == [
        ("thought", None, None, "Look.", None),
        ("tool_call", "bash", '{"command":"ls -F"}', "a b", "ok"),
        ("observation", "bash", None, "a b", None),
        ("thought", None, None, "Open.", None),
        ("tool_call", "open", '{"command":"open a.py 3"}', "x = 1", "ok"),
        ("observation", "open", None, "x = 1", None),
        ("thought", None, None, "Done.", None),
        ("tool_call", "submit", '{"command":"submit"}', "diff", "ok"),
        ("observation", "submit", None, "diff", None),
        ("answer", None, None, "diff", None),
    ]
    assert outcome.rows(
        "SELECT agent_name, task_id, outcome, user_input, final_answer, input_tokens, "
        "output_tokens, model_usage[1].stated_usd, model_usage[1].model FROM trajectories"
    ) == [("swe-agent", "repo-1", None, "Fix it.", "diff", 100, 10, 0.25, "model-a")]


@built_together
def test_a_called_tool_has_its_own_name_and_arguments(folder: Path) -> Scene:
    """The history has the calls of models that call tools; demonstrations do not count."""
    history = [
        {"role": "user", "content": "Example.", "is_demo": True},
        said(9, "Demo.", "ls", "bash", command="demo") | {"is_demo": True},
        said(1, "Look.", "ls", "bash", command="ls"),
        said(2, "View.", "str_replace_editor view /x", "str_replace_editor", path="/x")
        | {"thinking_blocks": [{"type": "thinking", "thinking": "Deep."}]},
    ]
    steps = [step("Look.", "ls"), step("View.", "str_replace_editor view /x", "text")]
    outcome = yield imported(folder, written(folder, run(*steps, history=history)))

    assert outcome.imported.ignored == {"messages of demonstrations": 2}
    assert outcome.calls() == [
        ("bash", '{"command":"ls"}', "ok"),
        ("str_replace_editor", '{"path":"/x"}', "ok"),
    ]
    assert outcome.rows(
        "SELECT content FROM steps WHERE kind = 'thought' ORDER BY step_index"
    ) == [
        ("Look.",),
        ("Deep.",),
        ("View.",),
    ]


@pytest.mark.parametrize(
    ("status", "submission", "outcome", "labels"),
    [
        ("submitted", "diff", None, []),
        ("submitted (exit_cost)", "diff", None, []),
        ("exit_cost", None, "failure", ["budget"]),
        ("exit_context", "", "failure", ["budget"]),
        ("exit_forfeit", None, "failure", []),
        ("exit_environment_error", None, "invalid", []),
        ("exit_api", None, "invalid", []),
        (None, None, None, []),
    ],
)
def test_the_end_of_a_run_is_its_outcome(
    tmp_path: Path, status: str | None, submission: str | None, outcome: str, labels: list[str]
) -> None:
    """A submission may be right or wrong; an error of the environment is not an attempt."""
    value = run(step("Look.", "ls"), exit_status=status, submission=submission)
    found = imported(tmp_path, written(tmp_path, value))
    (root,) = (each for each in found.spans() if not each["parent_span_id"])
    assert dict(root["attributes"]).get("tracegrade.outcome") == outcome
    assert found.imported_rows("SELECT label FROM verdicts") == [(each,) for each in labels]


@built_together
def test_of_several_attempts_the_chosen_one_is_the_run(folder: Path) -> Scene:
    """While they run there is no choice, and the last one counts."""
    attempts = [run(step("First.", "ls")), run(step("Second.", "ls"))]
    chosen = written(folder, attempts[0] | {"attempts": attempts}, "chosen.traj")
    running = written(folder, {"attempts": attempts}, "running.traj")
    outcome = yield imported(folder, chosen, running)

    assert outcome.imported.ignored == {"attempts that were not chosen": 2}
    assert outcome.rows("SELECT content FROM steps WHERE kind = 'thought' ORDER BY content") == [
        ("First.",),
        ("Second.",),
    ]


@pytest.mark.parametrize("size", [0, 1, 2000])
@built_together
def test_counts_of_the_raw_file_are_those_of_the_lake(folder: Path, size: int) -> Scene:
    """An empty run, a short one with an exit, and a long one."""
    steps = [step("Look.", "ls", "Error: no"), step("Give up.", "")] * size
    file = written(folder, run(*steps), "repo-1.traj")
    counted = raw_counts(file)
    if not size:
        counted = counted._replace(input_tokens=0, output_tokens=0)  # no call has them

    assert lake_counts((yield imported(folder, file))) == counted
    assert counted == RunCounts(1, size, size, 1, 100 * (size > 0), 10 * (size > 0), 0, 2 * size)


@pytest.mark.parametrize(("folder", "task"), [("repo__2", "repo__2"), ("out", None)])
def test_a_file_in_a_folder_of_its_name_is_named_after_its_task(
    tmp_path: Path, folder: str, task: str | None
) -> None:
    """Older files do not name the problem; batches write TASK/TASK.traj."""
    value = run(step("Look.", "ls")) | {"replay_config": "{"}
    (tmp_path / folder).mkdir()
    found = imported(tmp_path, written(tmp_path / folder, value, "repo__2.traj"))
    (root,) = (each for each in found.spans() if not each["parent_span_id"])
    assert dict(root["attributes"]).get("tracegrade.task.id") == task


def test_broken_files_cost_themselves(tmp_path: Path) -> None:
    """Values of other types, a cut file, and a file that is none."""
    odd = run(5, step("", "", "left over"), {"action": 7, "thought": [], "observation": {}})  # type: ignore[arg-type]
    odd |= {"info": [], "replay_config": 5, "history": [1, {"role": "assistant"}]}
    cut = tmp_path / "cut.traj"
    cut.write_text(json.dumps(run())[:90])
    found = imported(tmp_path, written(tmp_path, odd, "odd.traj"), cut)

    assert found.imported.ignored["steps that are not objects"] == 1
    assert found.imported.ignored["observations without an action"] == 1
    assert (found.imported.faults, found.imported.understood["trajectories"]) == (1, 1)
    (part,) = read_file(written(tmp_path, {"history": []}), ReadOptions("swe-agent"))
    assert "no trajectory of SWE-agent" in str(part.fault)
