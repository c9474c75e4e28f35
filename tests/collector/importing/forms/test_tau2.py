"""Results of tau2-bench become a run for each simulation, with the reward as a verdict."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import imported, written
from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.raw_counts.tau2 import raw_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

INFO = {
    "git_commit": "c0ffee",
    "num_trials": 2,
    "agent_info": {"implementation": "llm_agent", "llm": "model-a"},
    "user_info": {"implementation": "user_simulator", "llm": "model-b"},
    "environment_info": {
        "domain_name": "phones",
        "policy": "Be kind.",
        "tool_defs": {"find_line": {"name": "find_line", "doc": "Finds it.", "params": {}}},
    },
}


def message(role: str, content: str | None, second: int, **fields: Any) -> dict[str, Any]:
    """Return a message as tau2-bench writes it."""
    common = {"tool_calls": None, "cost": 0.01, "raw_data": None, "usage": None}
    time = f"2026-02-03T10:00:{second:02}"
    return {"role": role, "content": content, "timestamp": time, **common, **fields}


def call(number: int, name: str, requestor: str = "assistant", **arguments: Any) -> dict[str, Any]:
    """Return a call of the agent or of the user."""
    return {"id": f"c{number}", "name": name, "arguments": arguments, "requestor": requestor}


def result(number: int, content: str, requestor: str = "assistant", *, error: bool = False) -> Any:
    """Return a tool's message."""
    return {
        **{"role": "tool", "id": f"c{number}", "content": content, "requestor": requestor},
        **{"error": error, "timestamp": "2026-02-03T10:00:30"},
    }


def usage(given: int, output: int) -> dict[str, int]:
    """Return the tokens of a message."""
    return {"prompt_tokens": given, "completion_tokens": output}


def phone_call() -> list[dict[str, Any]]:
    """Return a conversation: parallel calls, one fails, and a call of the user."""
    thought = {"message": {"reasoning_content": "Look for the line."}}
    calls = [call(1, "find_line", id="L1"), call(2, "find_bill", id="B1")]
    return [
        message("assistant", "Hi! How can I help?", 1),
        message("user", "My phone is offline.", 2, usage=usage(900, 90)),
        message("assistant", None, 3, tool_calls=calls, usage=usage(10, 5), raw_data=thought),
        {
            "role": "tool",
            "tool_messages": [result(1, "active"), result(2, "none", error=True)],
        },
        message("assistant", "Switch it on again.", 31, usage=usage(20, 6)),
        message("user", None, 32, tool_calls=[call(3, "toggle", "user")]),
        result(3, "on", "user"),
        message("user", "It works. ###STOP###", 33),
    ]


def simulation(number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return a simulation that ended well."""
    return {
        "id": f"sim-{number}",
        "task_id": "offline",
        "start_time": "2026-02-03T10:00:00",
        "trial": 0,
        "seed": 7,
        "termination_reason": "user_stop",
        "reward_info": {
            "reward": 1.0,
            "reward_basis": ["DB", "COMMUNICATE"],
            "reward_breakdown": {"DB": 1.0, "COMMUNICATE": 1.0},
        },
        "messages": phone_call(),
        "user_cost": 0.2,
        **fields,
    }


def results(*simulations: Any) -> dict[str, Any]:
    """Return a results file of these simulations."""
    return {"timestamp": "2026-02-03", "info": INFO, "tasks": [], "simulations": [*simulations]}


@built_together
def test_simulation_gives_its_steps(folder: Path) -> Scene:
    """Calls, results and tokens are the agent's; greeting, thought and answer are steps."""
    outcome = yield imported(folder, written(folder, results(simulation())))

    assert [step[:2] + step[3:] for step in outcome.steps()] == [
        ("message", None, "Hi! How can I help?", None),
        ("thought", None, "Look for the line.", None),
        ("tool_call", "find_line", "active", "ok"),
        ("observation", "find_line", "active", None),
        ("tool_call", "find_bill", "none", "error"),
        ("observation", "find_bill", "none", None),
        ("answer", None, "Switch it on again.", None),
    ]
    assert outcome.rows("SELECT sum(input_tokens), sum(output_tokens) FROM steps") == [(30, 11)]
    found = outcome.rows(
        "SELECT task_id, task_category, trial, outcome, agent_name, release FROM trajectories"
    )
    assert found == [("phones/offline", "phones", 0, "success", "llm_agent", "c0ffee")]


@built_together
def test_calls_of_the_user_are_counted_apart(folder: Path) -> Scene:
    """A call of the user simulator is not a step; it is counted with its result."""
    outcome = yield imported(folder, written(folder, results(simulation())))

    assert "toggle" not in {tool for tool, _, _ in outcome.calls()}
    assert outcome.imported.ignored["tool calls in messages of role user"] == 1
    assert outcome.imported.ignored["replies to tools that the user called"] == 1
    assert outcome.imported.ignored["fields 'user_cost' of simulations"] == 1


@built_together
def test_reward_is_a_verdict_with_the_reason_of_the_end(folder: Path) -> Scene:
    """Its source is a judge's if a model judged assertions; 0 is a failure."""
    judged = {"reward": 0.0, "reward_basis": ["DB", "NL_ASSERTION"]}
    interrupted = simulation(2, trial=1, termination_reason="max_steps", reward_info=judged)
    outcome = yield imported(folder, written(folder, results(simulation(), interrupted)))

    assert outcome.imported_rows(
        "SELECT source, label, value, evidence FROM verdicts ORDER BY 1"
    ) == [
        ("judge:tau2 reward", "max_steps", 0.0, None),
        ("tau2 reward", "user_stop", 1.0, '{"DB": 1.0, "COMMUNICATE": 1.0}'),
    ]
    assert outcome.rows("SELECT trial, outcome FROM trajectories ORDER BY 1") == [
        (0, "success"),
        (1, "failure"),
    ]


@built_together
def test_infrastructure_error_is_no_attempt(folder: Path) -> Scene:
    """Its run is invalid and has no verdict, though tau2-bench writes a reward of 0."""
    lost = simulation(
        3, termination_reason="infrastructure_error", reward_info={"reward": 0.0}, messages=[]
    )
    outcome = yield imported(folder, written(folder, results(simulation(), lost)))

    assert outcome.rows("SELECT outcome FROM trajectories ORDER BY 1") == [
        ("invalid",),
        ("success",),
    ]
    assert outcome.imported_rows("SELECT count(*) FROM verdicts") == [(1,)]


def test_folder_of_simulations_gives_the_same_runs(tmp_path: Path) -> None:
    """The results name the agent and the domain for each file; a broken file costs itself."""
    outcome = imported(tmp_path, written(tmp_path, results(simulation(1), simulation(2, trial=1))))
    folder = tmp_path / "experiment" / "simulations"
    folder.mkdir(parents=True)
    file = written(folder.parent, {"info": INFO, "tasks": []}, "results.json")
    one = written(folder, simulation(1), "sim-1.json")
    written(folder, simulation(2, trial=1), "sim-2.json")
    (folder / "sim-3.json").write_text('{"task_id":')

    assert (outcome.again(one), outcome.again(file)) == (0, 0)
    assert [note.rpartition("/")[2].partition(":")[0] for note in outcome.notes] == ["sim-3.json"]


@built_together
def test_ticks_of_a_simulation_by_voice_are_joined(folder: Path) -> Scene:
    """Chunks of one side are one message; calls between them are the agent's."""
    ticks = [
        {"user_chunk": {"content": "My phone "}},
        {"user_chunk": {"content": "is offline."}, "agent_chunk": {"content": ""}},
        {
            "agent_tool_calls": [call(1, "find_line", id="L1")],
            "agent_tool_results": [result(1, "active")],
        },
        {"agent_chunk": {"content": "Switch it "}},
        {"agent_chunk": {"content": "on again."}},
    ]
    spoken = simulation(ticks=ticks)
    del spoken["messages"]
    outcome = yield imported(folder, written(folder, results(spoken)))

    assert [step[:2] + step[3:] for step in outcome.steps()] == [
        ("tool_call", "find_line", "active", "ok"),
        ("observation", "find_line", "active", None),
        ("answer", None, "Switch it on again.", None),
    ]
    assert outcome.rows("SELECT user_input FROM trajectories") == [("My phone is offline.",)]


@built_together
def test_words_of_spoken_chunks_are_in_scripts_and_transcripts(folder: Path) -> Scene:
    """An empty list of messages is as none; content of audio is base64, not words."""
    audio = {"content": "UklGRiQ=", "is_audio": True}
    ticks = [
        {"user_chunk": audio, "user_transcript": "My phone is offline."},
        {"agent_chunk": audio | {"audio_script_gold": "Switch it on."}},
    ]
    outcome = yield imported(
        folder, written(folder, results(simulation(ticks=ticks, messages=[])))
    )

    assert outcome.rows("SELECT user_input FROM trajectories") == [("My phone is offline.",)]
    assert outcome.steps() == [("answer", None, None, "Switch it on.", None)]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (
            {"ticks": [{"user_chunk": {"content": "UklGRiQ=", "is_audio": True}}]},
            "simulations whose speech is there as audio alone: each gives no steps",
        ),
        ({"ticks": [{}]}, "simulations of no words: each gives no steps"),
    ],
)
def test_simulations_without_words_are_counted(
    tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    """They cannot be a run; the summary of the import says why."""
    file = written(tmp_path, results(simulation(messages=[], **fields)))

    assert imported(tmp_path, file).imported.ignored[reason] == 1


@built_together
def test_release_and_agent_may_be_named(folder: Path) -> Scene:
    """`--map` distinguishes two results of one commit: here by the model."""
    file = written(folder, results(simulation()))
    paths = {"release": "agent_info.llm", "agent": "=phone agent"}
    outcome = yield imported(folder, file, paths=paths)

    assert outcome.rows("SELECT agent_name, release FROM trajectories") == [
        ("phone agent", "model-a")
    ]


@pytest.mark.parametrize("size", [0, 1, 40])
@built_together
def test_counts_of_the_raw_file_are_those_of_the_lake(folder: Path, size: int) -> Scene:
    """A file without simulations, with one, and with many and long ones, is read whole."""
    long = [*phone_call()[:-1], *phone_call()[1:] * size]
    runs = [simulation(number, trial=number, messages=long) for number in range(size)]
    file = written(folder, results(*runs))
    counted = raw_counts(file)

    assert counted == lake_counts((yield imported(folder, file)))
    assert counted == RunCounts(
        size,
        2 * size * (size + 1),
        size * (size + 1),
        size * (size + 1),
        30 * size * (size + 1),
        11 * size * (size + 1),
        size,
        size * (size + 1),
    )


def test_simulation_without_messages_is_a_fault(tmp_path: Path) -> None:
    """The others of the file are imported."""
    file = written(tmp_path, results({"task_id": "x"}, 7, simulation()))
    outcome = imported(tmp_path, file)

    assert outcome.imported.faults == 2
    assert outcome.imported.understood["trajectories"] == 1
    assert json.loads(file.read_text())["simulations"][1] == 7
