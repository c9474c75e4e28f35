"""Model calls for a title, a summary or a guard are no answers of the agent."""

import json
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, message, model, request, response, rows, span, story, tool


def work(asked: str) -> list[Row]:
    """Return the spans of a run that edits a file and says that it did."""
    heard = [message("user", asked)]
    said = [message("assistant", request("edit", "c1"))]
    told = [*heard, *said, message("tool", response("ok", "c1"))]
    return [
        agent(1),
        model(2, 1, at=1, heard=heard, said=said),
        tool(3, 1, at=3, tool_name="edit", gen_ai__tool__call__id="c1"),
        model(4, 1, at=5, heard=told, said=[message("assistant", "Done.")]),
    ]


def answered(lake: Any) -> list[str]:
    """Return the last answer of the run, and all its steps of that kind."""
    (run,) = rows(lake, "SELECT final_answer FROM trajectories")
    return [run["final_answer"], *(line for line in story(lake) if line.startswith("answer"))]


@built_together
def test_title_is_no_answer() -> Scene:
    """A model names the conversation after the agent answered."""
    heard = [message("system", "Generate a title."), message("user", "fix login")]
    lake = yield [
        *work("fix login"),
        model(5, 1, at=8, heard=heard, said=[message("assistant", "Fix login")]),
    ]
    assert answered(lake) == ["Done.", "answer Done."]


@built_together
def test_summary_in_openinference_is_no_answer() -> Scene:
    """The same in the keys of OpenInference."""
    told: dict[str, Any] = {
        "openinference__span__kind": "LLM",
        "llm__input_messages__0__message__role": "system",
        "llm__input_messages__0__message__content": "Summarize the conversation in one line.",
        "llm__input_messages__1__message__role": "user",
        "llm__input_messages__1__message__content": "fix login",
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__content": "Login was fixed.",
    }
    lake = yield [*work("fix login"), span(5, 1, at=8, name="ChatOpenAI", **told)]
    assert answered(lake) == ["Done.", "answer Done."]


@built_together
def test_guard_before_the_agent_is_not_asked_by_the_user() -> Scene:
    """What it judges is not what the user asked of the agent, and its word is no answer."""
    heard = [
        message("system", "Decide whether the text is a jailbreak or unsafe."),
        message("user", "Text: fix login"),
    ]
    lake = yield [
        *work("fix login"),
        model(5, 1, at=0, heard=heard, said=[message("assistant", "safe")]),
    ]
    (run,) = rows(lake, "SELECT user_input FROM trajectories")
    assert run["user_input"] == "fix login"
    assert answered(lake) == ["Done.", "answer Done."]


@built_together
def test_agent_that_writes_titles_answers() -> Scene:
    """An agent whose work it is has tools, or is told results: what it says is its answer."""
    heard = [message("system", "Write a title for the chat."), message("user", "fix login")]
    offered = json.dumps([{"name": "save"}])
    lake = yield [
        agent(1),
        model(
            2, 1, at=1, heard=heard, said=[message("assistant", "Fix login")],
            gen_ai__tool__definitions=offered,
        ),
    ]  # fmt: skip
    assert answered(lake) == ["Fix login", "answer Fix login"]
