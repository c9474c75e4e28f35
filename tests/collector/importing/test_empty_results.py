"""Tools that return nothing have returned; steps that leave out arguments or what was observed."""

from pathlib import Path
from typing import Any

from tests.collector.importing.imports import imported, written
from tests.collector.importing.test_chats import Row, asks, chats, reply, stories, user
from tests.collector.importing.together import Scene
from tests.scenes import built_together

GO, DONE = user("Go."), asks(text="Done.")
TOUCH = {"type": "tool_use", "id": "a", "name": "touch", "input": {}}
BEDROCK = {"toolUse": {"toolUseId": "a", "name": "touch", "input": {}}}
OPENAI = asks(("a", "touch"))


def said(block: Row) -> Row:
    """Return a message of the model that is one block."""
    return {"role": "assistant", "content": [block]}


def told(**result: Any) -> Row:
    """Return a message with one result as Anthropic writes it."""
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", **result}]}


EMPTY = {
    "text": [OPENAI, reply("a", "")],
    "null": [OPENAI, reply("a", None)],
    "no parts": [OPENAI, reply("a", [])],
    "a part": [OPENAI, reply("a", [{"type": "text", "text": ""}])],
    "an item": [OPENAI, {"type": "function_call_output", "call_id": "a", "output": ""}],
    "a block": [said(TOUCH), told(content="")],
    "without blocks": [said(TOUCH), told(content=[])],
    "without content": [said(TOUCH), told()],
    "Bedrock's": [
        said(BEDROCK),
        {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": []}}]},
    ],
}


@built_together
def test_an_empty_result_is_one_in_every_spelling(folder: Path) -> Scene:
    """The call ended well and the observation is empty, not unknown."""
    outcome = yield chats(folder, {name: [GO, *told, DONE] for name, told in EMPTY.items()})

    story = ["0 tool_call touch  ok", "0 observation touch ", "0 answer Done."]
    assert stories(outcome) == dict.fromkeys(EMPTY, story)
    assert outcome.rows("SELECT DISTINCT arguments FROM steps WHERE kind = 'tool_call'") == [
        ("{}",)
    ]


@built_together
def test_a_list_that_a_tool_returned_stays(folder: Path) -> Scene:
    """An empty list has no content only if content is a list of blocks."""
    item = {"type": "function_call_output", "call_id": "a", "output": []}
    outcome = yield chats(folder, {"list": [GO, OPENAI, item, DONE]})

    assert stories(outcome)["list"][1] == "0 observation touch []"


@built_together
def test_steps_without_arguments_or_observation(folder: Path) -> Scene:
    """No arguments are none; nothing observed is empty if it is stated, and unknown if not."""
    runs = {
        "without": [{"action": "ls", "observation": "x"}],
        "empty": [{"action": "ls", "action_input": "", "observation": ""}],
        "null": [{"action": "ls", "action_input": None, "observation": ""}],
        "object": [{"action": {"name": "ls"}, "observation": ""}],
        "unknown": [{"action": "ls", "action_input": {}}],
        "pair": [[{"tool": "ls", "tool_input": "", "log": ""}, ""]],
        "apart": [{"action": "ls"}, {"observation": "x"}],
    }
    records = [{"task_id": task, "steps": steps} for task, steps in runs.items()]
    outcome = yield imported(folder, written(folder, records))

    assert not outcome.notes
    calls = {
        task: lines[0].removeprefix("0 tool_call ls") for task, lines in stories(outcome).items()
    }
    assert calls == {
        **dict.fromkeys(("without", "apart"), " x ok"),
        **dict.fromkeys(("empty", "null", "object", "pair"), "  ok"),
        "unknown": " unknown",
    }


@built_together
def test_what_was_observed_without_an_action_is_no_call(folder: Path) -> Scene:
    """It is counted, and an empty text is not even that."""
    seen = [{"thought": "t", "observation": "x"}, {"thought": "u", "observation": ""}]
    outcome = yield imported(folder, written(folder, [{"steps": seen}]))

    assert [kind for kind, *_ in outcome.steps()] == ["thought", "thought"]
    assert outcome.imported.ignored == {"observations without an action": 1}
