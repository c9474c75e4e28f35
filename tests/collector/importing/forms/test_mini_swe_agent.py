"""Files of mini-swe-agent: called and written commands, return codes, limits, broken files."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import imported, written
from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.raw_counts.mini_swe_agent import raw_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

Row = dict[str, Any]
OPENING: list[Row] = [
    {"role": "system", "content": "You have a shell."},
    {"role": "user", "content": "Fix it."},
]
EXIT: Row = {"role": "exit", "content": "diff"}
EXIT["extra"] = {"exit_status": "Submitted", "submission": "diff"}


def run(*messages: Row, status: str = "Submitted", submission: str = "diff") -> Row:
    """Return a run of version 2."""
    info = {"exit_status": status, "submission": submission, "mini_version": "2.4.6"}
    info |= {"config": {"model": {"model_name": "model-a"}}}  # type: ignore[dict-item]
    info |= {"model_stats": {"instance_cost": 0.5, "api_calls": 2}}  # type: ignore[dict-item]
    return {
        "info": info,
        "messages": [*OPENING, *messages],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "repo-1",
    }


def asks(second: int, text: str | None, *commands: str, **fields: Any) -> Row:
    """Return an answer that calls `bash`, with its response."""
    calls = [
        {"id": f"c{second}.{n}", "type": "function"}
        | {"function": {"name": "bash", "arguments": json.dumps({"command": command})}}
        for n, command in enumerate(commands)
    ]
    message = {"role": "assistant", "content": text, "tool_calls": calls or None} | fields
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    response = {"model": "model-b", "usage": usage, "choices": [{"message": message}]}
    extra = {"response": response, "cost": 0.2, "timestamp": 1780000000.0 + second}
    actions = [
        {"command": each, "tool_call_id": f"c{second}.{n}"} for n, each in enumerate(commands)
    ]
    return message | {"extra": extra | {"actions": actions}}


def ran(second: int, number: int, code: int, output: str, **extra: Any) -> Row:
    """Return the result of a call."""
    content = f"<returncode>{code}</returncode>\n<output>\n{output}\n</output>"
    facts = {"raw_output": output, "returncode": code, "timestamp": 1780000000.5 + second}
    return {"role": "tool", "tool_call_id": f"c{second}.{number}", "content": content} | {
        "extra": facts | extra
    }


@built_together
def test_a_file_is_a_run(folder: Path) -> Scene:
    """Calls, results, times, costs; the command that submits has the submission as result."""
    messages = [
        asks(1, "I look.", "ls", "cat x", reasoning_content="Look first."),
        ran(1, 1, 1, "no x", exception_info="it failed"),
        ran(1, 0, 0, "a b"),
        asks(2, None, "echo COMPLETE"),
        EXIT,
    ]
    outcome = yield imported(folder, written(folder, run(*messages)))

    assert outcome.imported.ignored == {}
    assert outcome.rows(
        "SELECT kind, coalesce(arguments, content), result LIKE '%a b%' OR result = 'diff', "
        "status FROM steps WHERE kind <> 'observation' ORDER BY step_index"
    ) == [
        ("thought", "Look first.", None, None),
        ("message", "I look.", None, None),
        ("tool_call", '{"command":"ls"}', True, "ok"),
        ("tool_call", '{"command":"cat x"}', False, "error"),
        ("tool_call", '{"command":"echo COMPLETE"}', True, "ok"),
        ("answer", "diff", None, None),
    ]
    assert outcome.rows(
        "SELECT agent_name, release, task_id, outcome, user_input, final_answer, input_tokens, "
        "model_usage[1].stated_usd, model_usage[1].model FROM trajectories"
    ) == [("mini-swe-agent", "2.4.6", "repo-1", None, "Fix it.", "diff", 200, 0.4, "model-b")]


@built_together
def test_written_commands_are_calls(folder: Path) -> Scene:
    """The first version writes commands in fenced code, and their return codes in the reply."""
    code = "```bash\nls\n```"
    messages = [
        {"role": "assistant", "content": f"THOUGHT: Look.\n\n{code}"},
        {"role": "user", "content": "<returncode>2</returncode>\n<output>\nno\n</output>"},
        {"role": "assistant", "content": f"{code}\n{code}"},
        {"role": "user", "content": "Give one command."},
        {"role": "assistant", "content": "```mswea_bash_command\nsubmit\n```"},
        EXIT,
    ]
    value = run(*messages) | {"trajectory_format": "mini-swe-agent-1"}
    outcome = yield imported(folder, written(folder, value))

    assert outcome.calls() == [
        ("bash", '{"command":"ls"}', "error"),
        ("bash", '{"command":"submit"}', "ok"),
    ]
    assert outcome.rows(
        "SELECT content FROM steps WHERE kind IN ('message', 'answer') AND role = 'assistant' "
        "AND content <> 'diff' ORDER BY step_index"
    ) == [("THOUGHT: Look.",), (f"{code}\n{code}",)]
    assert outcome.rows("SELECT model_usage[1].stated_usd FROM trajectories") == [(0.5,)]


@built_together
def test_an_answer_of_the_responses_interface_is_one_message(folder: Path) -> Scene:
    """Its items are a thought, a text and a call; the result is an item as well."""
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look first."}]},
        {"type": "message", "role": "assistant", "content": "I."},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command":1}'},
    ]
    usage = {"input_tokens": 7, "output_tokens": 3}
    answer = {"object": "response", "model": "model-r", "output": output, "usage": usage}
    answer["extra"] = {"actions": [{"command": "ls"}], "cost": 0.1, "timestamp": 1780000000.0}
    reply = {"type": "function_call_output", "call_id": "c1", "output": "a b"}
    reply["extra"] = {"returncode": 0, "timestamp": 1780000001.0}  # type: ignore[assignment]
    outcome = yield imported(folder, written(folder, run(answer, reply, submission="")))

    assert outcome.imported.ignored == {}
    assert outcome.steps() == [
        ("thought", None, None, "Look first.", None),
        ("message", None, None, "I.", None),
        ("tool_call", "bash", '{"command":1}', "a b", "ok"),
        ("observation", "bash", None, "a b", None),
    ]
    assert outcome.rows("SELECT input_tokens, llm_call_count FROM trajectories") == [(7, 1)]


@built_together
def test_an_answer_that_could_not_be_parsed_is_a_message(folder: Path) -> Scene:
    """mini-swe-agent keeps it in the message that rejects it; it cost tokens as well."""
    answer = asks(1, "No command.")
    reject = {"role": "user", "content": "Call a tool."}
    reject["extra"] = {"interrupt_type": "FormatError", "cost": 0.2} | {  # type: ignore[assignment]
        "response": answer["extra"]["response"]
    }
    outcome = yield imported(folder, written(folder, run(reject, asks(2, None, "ls"))))
    assert outcome.rows("SELECT role, kind, content FROM steps ORDER BY step_index LIMIT 2") == [
        ("assistant", "answer", "No command."),
        ("user", "message", "Call a tool."),
    ]
    assert outcome.rows("SELECT input_tokens FROM trajectories") == [(200,)]


@pytest.mark.parametrize(
    ("status", "submission", "outcome", "labels"),
    [
        ("Submitted", "diff", None, []),
        ("Submitted", "", "failure", []),
        ("LimitsExceeded", "", "failure", ["budget"]),
        ("RepeatedFormatError", "", "failure", []),
        ("RateLimitError", "", "invalid", []),
        ("", "", None, []),
    ],
)
def test_the_end_of_a_run_is_its_outcome(
    tmp_path: Path, status: str, submission: str, outcome: str | None, labels: list[str]
) -> None:
    """A run that was killed has no status, and so no outcome."""
    value = run(asks(1, None, "ls"), status=status, submission=submission)
    found = imported(tmp_path, written(tmp_path, value))
    (root,) = (each for each in found.spans() if not each["parent_span_id"])
    assert dict(root["attributes"]).get("tracegrade.outcome") == outcome
    assert found.imported_rows("SELECT label FROM verdicts") == [(each,) for each in labels]


@pytest.mark.parametrize("size", [0, 1, 1000])
@built_together
def test_counts_of_the_raw_file_are_those_of_the_lake(folder: Path, size: int) -> Scene:
    """An empty run, a short one and a long one."""
    pairs = [
        (asks(n, None, "ls", reasoning_content="Look."), ran(n, 0, n % 2, "x"))
        for n in range(size)
    ]
    file = written(folder, run(*(each for pair in pairs for each in pair)))
    counted = raw_counts(file)

    assert lake_counts((yield imported(folder, file))) == counted
    assert counted == RunCounts(1, size, size // 2, 1, 100 * size, 10 * size, 0, size)


def test_broken_files_cost_themselves(tmp_path: Path) -> None:
    """Values of other types, and a cut file."""
    odd = run(
        5, {"role": "robot", "content": "x"}, {"role": "assistant", "content": 7},  # type: ignore[arg-type]
        {"role": "tool", "content": None, "extra": {"returncode": "x"}}, asks(1, None, "ls"),
        {"role": "user", "content": "u", "extra": {"response": {"choices": [3]}}},
    )  # fmt: skip
    odd |= {"info": 5, "instance_id": []}
    cut = tmp_path / "cut.traj.json"
    cut.write_text(json.dumps(run())[:90])
    found = imported(tmp_path, written(tmp_path, odd, "odd.traj.json"), cut)

    assert found.imported.ignored["messages that are not objects"] == 1
    assert found.imported.ignored["messages of role 'robot'"] == 1
    assert (found.imported.faults, found.imported.understood["trajectories"]) == (1, 1)


def alone(*texts: str) -> list[Row]:
    """Return the messages of a run alone: the prompt of mini-swe-agent, and texts in turn."""
    prompt = "Your response must contain exactly ONE bash code block with ONE command."
    opening: list[Row] = [{"role": "system", "content": prompt}, OPENING[1]]
    roles = ("assistant", "user")
    return opening + [{"role": roles[n % 2], "content": each} for n, each in enumerate(texts)]


SUBMITS = "Done.\n\n```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff\n```"


@built_together
def test_messages_alone_are_a_run(folder: Path) -> Scene:
    """The last one is what was submitted; commands may stand in a tag."""
    file = written(
        folder,
        alone(
            "I look.\n\n```bash\nls\n```",
            "<returncode>0</returncode>\n<output>\n文件\n</output>",
            "Again.\n<mswea_bash_command>cat x</mswea_bash_command>",
            "<returncode>1</returncode>\n<output>\nno x\n</output>",
            SUBMITS,
            "diff --git a/x b/x",
        ),
        "repo-1.traj.json",
    )
    outcome = yield imported(folder, file)

    assert outcome.imported.recognized == {"mini-swe-agent (by its content)": 1}
    assert [(arguments, status) for _, arguments, status in outcome.calls()] == [
        ('{"command":"ls"}', "ok"),
        ('{"command":"cat x"}', "error"),
        ('{"command":"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff"}', "ok"),
    ]
    assert outcome.rows("SELECT user_input, final_answer FROM trajectories") == [
        ("Fix it.", "diff --git a/x b/x")
    ]
    assert lake_counts(outcome) == raw_counts(file)


@pytest.mark.parametrize(
    ("texts", "outcome_of_run", "answer"),
    [(("```bash\nls\n```",), None, None), ((SUBMITS, ""), "failure", None), ((), None, None)],
)
@built_together
def test_messages_alone_may_end_anywhere(
    folder: Path, texts: tuple[str, ...], outcome_of_run: str | None, answer: str | None
) -> Scene:
    """An empty submission is a failure; nothing tells why others ended."""
    outcome = yield imported(folder, written(folder, alone(*texts)))
    found = outcome.rows("SELECT outcome, final_answer FROM trajectories")
    assert found == [(outcome_of_run, answer)]


def test_a_message_that_is_none_costs_itself(tmp_path: Path) -> None:
    """The others are the run."""
    file = written(tmp_path, [*alone(SUBMITS)[:2], {"x": 1}, *alone(SUBMITS)[2:]])
    outcome = imported(tmp_path, file)
    assert outcome.notes == [f"{file}:1: no message of mini-swe-agent"]
    assert outcome.imported.understood["tool calls"] == 1
