"""Model calls for a title, a summary or a guard are not answers of the agent."""

import json
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, message, model, request, response, rows, span, story, tool


def work(asked: str, number: int = 2) -> list[Row]:
    """Return the spans of a run that edits a file and says that it did, numbered from there."""
    heard = [message("user", asked)]
    said = [message("assistant", request("edit", "c1"))]
    told = [*heard, *said, message("tool", response("ok", "c1"))]
    return [
        agent(1),
        model(number, 1, at=1, heard=heard, said=said),
        tool(number + 1, 1, at=3, tool_name="edit", gen_ai__tool__call__id="c1"),
        model(number + 2, 1, at=5, heard=told, said=[message("assistant", "Done.")]),
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
    """What it judges is not what the user asked of the agent, and its output is not an answer."""
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


TITLE = """### Task:
Generate a concise, 3-5 word title summarizing the chat history.
### Chat History:
<chat_history>
USER: fix login
ASSISTANT: Done.
</chat_history>"""
NEXT_QUESTIONS = """### Task:
Suggest 3 relevant follow-up questions that the user might ask next, based on the chat history.
### Chat History:
<chat_history>USER: fix login</chat_history>"""
LABELS = (
    "Generate 1-3 broad tags for the main themes.\n\nConversation:\nUser: fix login\nAI: Done."
)
GUARD = """Task: Check if there is unsafe content in 'Agent' messages in conversations.
<BEGIN UNSAFE CONTENT CATEGORIES>"""
COMPACTION = (
    "Your task is to create a detailed summary of the conversation so far, with all that is open."
)
EXTRACTION = (
    "<role>\nContext Extraction Assistant\n</role>\nMessages to summarize:\nHuman: fix login"
)


@built_together
def test_prompts_in_the_users_place_ask_for_no_answer() -> Scene:
    """Programs put titles, tags, questions, guards and summaries into messages of the user."""
    asked = [TITLE, NEXT_QUESTIONS, LABELS, GUARD, COMPACTION]
    lake = yield [
        model(
            4, 1, at=0, heard=[message("user", EXTRACTION)], said=[message("assistant", "None")]
        ),
        *(
            model(
                10 + at,
                1,
                at=8 + at,
                heard=[message("user", text)],
                said=[message("assistant", "B")],
            )
            for at, text in enumerate(asked)
        ),
        *work("fix login", 20),
    ]
    (run,) = rows(lake, "SELECT user_input FROM trajectories")
    assert run["user_input"] == "fix login"
    assert answered(lake) == ["Done.", "answer Done."]


@built_together
def test_openinference_prompt_in_the_users_place_asks_for_no_answer() -> Scene:
    """The same in the keys of OpenInference."""
    told: dict[str, Any] = {
        "openinference__span__kind": "LLM",
        "llm__input_messages__0__message__role": "user",
        "llm__input_messages__0__message__content": LABELS,
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__content": "login",
    }
    lake = yield [*work("fix login"), span(5, 1, at=8, name="ChatOpenAI", **told)]
    assert answered(lake) == ["Done.", "answer Done."]


@built_together
def test_notes_of_what_to_remember_are_no_answer() -> Scene:
    """A memory's instructions are not an agent's."""
    heard = [
        message("system", "You are a Personal Information Organizer, who stores facts."),
        message("user", "user: fix login"),
    ]
    said = [message("assistant", '{"facts": []}')]
    lake = yield [*work("fix login"), model(5, 1, at=8, heard=heard, said=said)]
    assert answered(lake) == ["Done.", "answer Done."]


@built_together
def test_user_may_ask_for_a_title_or_a_summary() -> Scene:
    """What a user asks in a few words, the agent answers."""
    first = [message("user", "Generate a title for my chat show")]
    then = [*first, message("assistant", "Moon"), message("user", "Summarize our conversation")]
    lake = yield [
        agent(1),
        model(2, 1, at=1, heard=first, said=[message("assistant", "Moon")]),
        model(3, 1, at=5, heard=then, said=[message("assistant", "A title.")]),
    ]
    assert answered(lake) == ["A title.", "answer Moon", "answer A title."]


@built_together
def test_agent_that_does_nothing_else_answers() -> Scene:
    """The agent's only model call is for a title: that is its work."""
    said = [message("assistant", "Fix login")]
    lake = yield [agent(1), model(2, 1, at=1, heard=[message("user", TITLE)], said=said)]
    assert answered(lake) == ["Fix login", "answer Fix login"]


@built_together
def test_agent_that_writes_titles_answers() -> Scene:
    """An agent whose work it is has tools, or gets results: its output is its answer."""
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
