"""Plans and code that models write into their texts, where the caller says how they look."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import Outcome, imported, written
from tests.collector.importing.together import Scene
from tests.commands import tracegrade
from tests.scenes import built_together

from tracegrade.errors import BadInput
from tracegrade_collector.importing.fenced_code import Block, blocks, parse_languages
from tracegrade_collector.importing.plan_marker import parse_marker, plan_text

Row = dict[str, Any]
PLAN = "Sure!\n\nHere is my plan:\n1. Look it up\n   - if it fails, ask\n2. Pay\n\nLet me begin."


def said(*texts: str, first: str = "user") -> list[Row]:
    """Return messages of user and model by turns."""
    roles = ["user", "assistant"] if first == "user" else ["assistant", "user"]
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]


def read(folder: Path, messages: list[Row], **options: Any) -> Outcome:
    """Return what becomes of a chat."""
    return imported(folder, written(folder, {"messages": messages}), **options)


def steps(outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return kind, tool, arguments, text and status of each step."""
    found = outcome.rows(
        "SELECT kind, tool_name, arguments, coalesce(plan, content, result), status FROM steps "
        "ORDER BY trajectory_id, step_index"
    )
    return [tuple(each for each in row if each is not None) for row in found]


@built_together
def test_marked_plans_are_plans_and_the_text_stays(folder: Path) -> Scene:
    """Each of the model's that has the marker; the user's is what the user wants."""
    messages = said(
        "Here is my plan: pay.", PLAN, "Go.", "Here is my plan: ask Bob", "Why?", "So."
    )
    outcome = yield read(folder, messages, plan_marker=parse_marker("(?i)here is my plan"))

    assert outcome.notes == []
    assert steps(outcome) == [
        ("plan", "Here is my plan:\n1. Look it up\n   - if it fails, ask\n2. Pay"),
        ("answer", PLAN),
        ("message", "Go."),
        ("plan", "Here is my plan: ask Bob"),
        ("answer", "Here is my plan: ask Bob"),
        ("message", "Why?"),
        ("answer", "So."),
    ]
    assert outcome.rows("SELECT final_answer FROM trajectories") == [("So.",)]


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("计划:\n• 查\n• 付\n好", "计划:\n• 查\n• 付\n好"),
        ("Plan\n\n- a\n\n- b\n\nok", "Plan\n\n- a\n\n- b"),
        ('Plan: [{"id": "a", "tool": "look"}, "b"] ok', '[{"id": "a", "tool": "look"}, "b"]'),
        ('Plan:\n```json\n{"steps": ["a [x]"]}\n```', '{"steps": ["a [x]"]}'),
        ("Plan: [1] says so\n1. a([2])\n2. b", "Plan: [1] says so\n1. a([2])\n2. b"),
        ("Plan: " + "[" * 100_000, "Plan: " + "[" * 100_000),
        ("Plan, as they say.", "Plan, as they say."),
    ],
)
def test_a_plan_ends_where_its_list_or_its_json_does(text: str, plan: str) -> None:
    """A footnote is not a list of steps; without any list all of the text is the plan."""
    assert plan_text(text) == plan


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [("(", "missing"), ("(?=x)", "RE2"), (r"(a)\1", "RE2"), ("", "every text"), ("x*", "every")],
)
def test_a_marker_that_cannot_be_is_refused(pattern: str, fault: str) -> None:
    """Also one that would make each text a plan."""
    with pytest.raises(BadInput, match=fault):
        parse_marker(pattern)


def test_no_marker_makes_an_import_hang() -> None:
    """A pattern that takes other engines exponential time takes its text's length."""
    assert parse_marker("(a+)+$x|(a|a)*b").search("a" * 200_000) is None
    assert plan_text(" \t" * 100_000 + "step " + "1" * 100_000)


def test_a_marker_and_code_that_are_nowhere_are_told(tmp_path: Path) -> None:
    """An empty search does not prove that there is nothing."""
    options = {"plan_marker": parse_marker("PLAN"), "code_calls": True}
    outcome = read(tmp_path, said("Hi.", "Hello.\n```py\nlast()\n```"), **options)

    file = tmp_path / "export.json"
    assert outcome.notes == [
        f"{file}: no text of the model has what --plan-marker looks for",
        f"{file}: no fenced code has a reply after it, as --code-calls looks for",
    ]


CODE = "I list them.\n```Bash\nls -l\n```\nThen I wait."


@built_together
def test_fenced_code_and_the_reply_are_a_call(folder: Path) -> Scene:
    """The language is the tool; code without a reply is part of the model's text."""
    messages: list[Row] = [
        *said("Which files?", CODE, "a.txt\nb.txt", "Two.\n```python\nlen(x)\n\n```<end_code>"),
        {"role": "tool", "content": "Error: x is not defined"},
        *said("```\nls b*\n```\nor\n~~~ {.python}\nopen('b')\n~~~", "b.txt", first="assistant"),
        *said("There are two:\n```\na.txt\n```", first="assistant"),
    ]
    outcome = yield read(folder, messages, code_calls=True)

    assert steps(outcome) == [
        ("thought", "I list them."),
        ("tool_call", "bash", '{"code":"ls -l"}', "a.txt\nb.txt", "ok"),
        ("observation", "bash", "a.txt\nb.txt"),
        ("message", "Then I wait."),
        ("thought", "Two."),
        ("tool_call", "python", '{"code":"len(x)\\n"}', "Error: x is not defined", "error"),
        ("observation", "python", "Error: x is not defined"),
        ("tool_call", "code", '{"code":"ls b*"}', "unknown"),
        ("thought", "or"),
        ("tool_call", "python", '{"code":"open(\'b\')"}', "b.txt", "ok"),
        ("observation", "python", "b.txt"),
        ("answer", "There are two:\n```\na.txt\n```"),
    ]
    assert outcome.rows("SELECT max(turn) FROM steps") == [(0,)]


FENCES = {
    "same": ("```py\n1\n```", "python"),
    "shell": ("```sh\nls\n```", "sh"),
    "script": ("```js\nf()\n```", "javascript"),
    "data": ('```json\n{"a": 1}\n```', None),
    "output": ("```text\nprint(1)\n```", None),
}


@built_together
def test_each_language_is_a_tool_of_its_own(folder: Path) -> Scene:
    """Names of one language are one tool; data and outputs, which are not run, stay text."""
    records = [
        {"task_id": task, "messages": said("Go.", text, "x", "Done.")}
        for task, (text, _) in FENCES.items()
    ]
    outcome = yield imported(folder, written(folder, records), code_calls=True)

    found = dict(
        outcome.rows(
            "SELECT task_id, any_value(tool_name) FROM steps JOIN trajectories USING "
            "(trajectory_id) WHERE kind IN ('tool_call', 'message') GROUP BY ALL"
        )
    )
    assert found == {task: tool for task, (_, tool) in FENCES.items()}
    assert ("answer", FENCES["data"][0]) in [step[:2] for step in steps(outcome)]


@built_together
def test_languages_can_be_named(folder: Path) -> Scene:
    """A model may show code of another language than it acts by; its fence is what it says."""
    shown = "```python\nf()\n```\nSo:\n```bash\nls\n```"
    languages = parse_languages(["Bash,sh"])
    outcome = yield read(
        folder, said("Go.", shown, "a", "Done."), code_calls=True, code_languages=languages
    )

    assert steps(outcome)[:2] == [
        ("thought", "```python\nf()\n```\nSo:"),
        ("tool_call", "bash", '{"code":"ls"}', "a", "ok"),
    ]


def test_a_language_is_a_word(tmp_path: Path) -> None:
    """Other values are refused, and a language without code is reported."""
    with pytest.raises(BadInput, match="--code-language must be LANGUAGE,…, such as python,bash"):
        parse_languages(["python, "])
    file = written(tmp_path, {"messages": said("Go.", "```bash\nls\n```", "a", "Done.")})
    outcome = imported(tmp_path, file, code_calls=True, code_languages=parse_languages(["py"]))
    assert outcome.notes == [
        f"{file}: no fenced code of python has a reply after it, as --code-language looks for"
    ]


@built_together
def test_messages_that_request_tools_keep_their_code(folder: Path) -> Scene:
    """In these, code is a text, and the user's next message is not a result."""
    call = {"id": "a", "function": {"name": "run", "arguments": "{}"}}
    messages: list[Row] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "```py\n1\n```", "tool_calls": [call]},
        {"role": "user", "content": "Wait!"},
        {"role": "assistant", "content": "Yes?"},
    ]
    outcome = yield read(folder, messages, code_calls=True)

    assert [step[:2] for step in steps(outcome)] == [
        ("message", "```py\n1\n```"),
        ("tool_call", "run"),
        ("message", "Wait!"),
        ("answer", "Yes?"),
    ]


def test_options_of_chats_say_nothing_of_other_formats(tmp_path: Path) -> None:
    """This is reported, since the file may have another format than expected."""
    file = written(tmp_path, {"resourceSpans": []})
    outcome = imported(tmp_path, file, code_calls=True, roles={"a": "user"})

    told = f"{file}: read as otlp, which --role, --code-calls does not affect"
    assert (outcome.notes, outcome.imported.faults) == ([told], 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a ```b``` c", [Block(None, "a ```b``` c")]),
        ("```py print(1)```", [Block(None, "```py print(1)```")]),
        ("````md\n```py\n1\n```\n````", [Block(None, "````md\n```py\n1\n```\n````")]),
        ("```python title=x\r\n1\r\n", [Block("python", "1")]),
        ("  ```c++\n1\n  ```  \n2", [Block("c++", "1"), Block(None, "2")]),
        ("```\n\n```", []),
        ("~~~\n```\n~~~", [Block("code", "```")]),
    ],
)
def test_fences_are_read_as_markdown_has_them(text: str, expected: list[Block]) -> None:
    """An end has at least as many marks of the same kind; what is open ends with the text."""
    assert list(blocks(text)) == expected


def test_options_of_an_import_come_from_the_command_line(tmp_path: Path) -> None:
    """The run that each of them makes readable, and the run that says so."""
    messages = said("Which?", "MY PLAN\n1. ls\n```sh\nls\n```", "a.txt", "a.txt it is.")
    for message in messages:
        message["role"] = {"user": "world", "assistant": "me"}[message["role"]]
    file = tmp_path / "chat.json"
    file.write_text(json.dumps([*messages, {"role": "judge", "content": "Fine."}]))
    command = ["import", file, "--lake", tmp_path / "lake"]
    options = ["--role", "world=user,me=assistant", "--plan-marker", "MY PLAN", "--code-calls"]
    failed = tracegrade(*command)
    done = tracegrade(*command, *options)

    assert failed.returncode == 2
    assert "5 of 5 messages are not understood (2 messages of role 'world'" in failed.stderr
    assert done.returncode == 0, done.stderr
    assert "1 plans" in done.stderr
    assert "1 tool calls" in done.stderr
    assert "not understood: 1 messages of role 'judge'" in done.stderr
    assert "1 of 1 runs name neither an agent nor a release" in done.stderr
