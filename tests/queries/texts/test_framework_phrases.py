"""What a framework says in the user's name is told from what a user or a tool says themselves."""

from typing import Any

import pytest
from tests.queries.traces import Row, agent, land, message, model, request_of, rows, span, story

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

ANSWER = "It is 22C."
NOTICE = (
    "Now let's retry: take care not to repeat previous errors! "
    "If you have retried several times, try a completely different approach."
)
SMOLAGENTS = "opentelemetry.instrumentation.genai.smolagents"


def conversation(*asked: str, scope: str = "test") -> list[Row]:
    """Return an agent's run in which the user said more before each model call."""
    heard: list[Row] = []
    spans = [agent(1, scope=scope)]
    for number, text in enumerate(asked, 2):
        heard.append(message("user", text))
        said = message("assistant", ANSWER)
        spans.append(model(number, 1, at=number, heard=[*heard], said=[said]))
        heard.append(said)
    return spans


def told(lake: Lake, *spans: Row) -> list[str]:
    """Return what the users of the spans' only run asked: first, and in later turns."""
    land(lake, request_of(spans))
    build(lake)
    (run,) = rows(lake, "SELECT user_input FROM trajectories")
    later = "SELECT content FROM steps WHERE role = 'user' ORDER BY step_index"
    return [run["user_input"], *(step["content"] for step in rows(lake, later))]


@pytest.mark.parametrize(
    "asked",
    [
        ["What is open?", "New task:\nBook it."],
        ["New task: look it up.", "And in Rome?"],
        ["New task:\nLook it up.", "And in Rome?"],
        ["Thanks.\nNew task:\nLook it up.", "And in Rome?"],
    ],
)
def test_user_of_another_framework_may_say_new_task(lake: Lake, asked: list[str]) -> None:
    """Words with which smolagents puts tasks to its models are a user's elsewhere."""
    assert told(lake, *conversation(*asked)) == asked


@pytest.mark.parametrize("scope", [SMOLAGENTS, "openinference.instrumentation.smolagents"])
def test_task_of_smolagents_is_what_stands_below_its_heading(lake: Lake, scope: str) -> None:
    """What it asks for besides is not the user's."""
    asked = ["New task:\nBook it. New task: go.", "Now write the final answer."]

    assert told(lake, *conversation(*asked, scope=scope)) == ["Book it. New task: go."]


def test_task_of_smolagents_whose_process_died_is_known(lake: Lake) -> None:
    """The span of its agent never arrived, and that of its model names no framework."""
    spans = conversation("New task:\nBook it.", scope=SMOLAGENTS)

    assert told(lake, *spans[1:]) == ["Book it."]


def test_smolagents_task_may_speak_of_errors(lake: Lake) -> None:
    """Only what its notice follows is an error that it reports."""
    task = "Explain this:\nError:\nlet's retry"
    spans = conversation(f"New task:\n{task}", scope=SMOLAGENTS)

    assert told(lake, *spans) == [task]


def test_error_that_was_joined_to_a_task_is_no_part_of_it(lake: Lake) -> None:
    """Some clients join messages of one role."""
    spans = conversation(f"New task:\nBook it.\nError:\nno seat\n{NOTICE}\n", scope=SMOLAGENTS)

    assert told(lake, *spans) == ["Book it."]


@pytest.mark.parametrize(
    "asked",
    [
        ["What is open?", "Error: it was shut, let's retry"],
        ["Observation: the door is open. Why?", "And now?"],
    ],
)
def test_user_may_report_an_error_or_an_observation(lake: Lake, asked: list[str]) -> None:
    """Only a framework's own words, after a call of a model, are what a tool gave."""
    assert told(lake, *conversation(*asked)) == asked


@pytest.mark.parametrize(
    "text", ["Observation: it is open", f"Error:\nno seat\n{NOTICE}\n"], ids=["react", "notice"]
)
def test_observation_in_the_users_name_is_none_of_the_users(lake: Lake, text: str) -> None:
    """ReAct agents are told in the user's name what their tools gave."""
    assert told(lake, *conversation("What is open?", text)) == ["What is open?"]


def test_answer_to_a_user_who_names_the_end_of_plans_is_no_plan(lake: Lake) -> None:
    """The sentence with which smolagents asks for plans is whole."""
    heard: dict[str, Any] = {
        "llm__input_messages__0__message__role": "user",
        "llm__input_messages__0__message__content": "What does <end_plan> stand for?",
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__content": ANSWER,
    }
    spans = [
        span(1, openinference__span__kind="AGENT", ms=9),
        span(2, 1, at=1, openinference__span__kind="LLM", **heard),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert story(lake) == [f"answer {ANSWER}"]


@pytest.mark.parametrize(
    ("parts", "asked"),
    [
        (
            ["For context:", "The shop is shut.", "When does it open?"],
            "For context:\nThe shop is shut.\nWhen does it open?",
        ),
        (["For context:", "[guide] said: The shop is shut."], "Where to?"),
        (["For context: below is a transcript of what another agent did."], "Where to?"),
        (["Transferred to guide, adopting the role of guide immediately."], "Where to?"),
    ],
)
def test_what_other_agents_did_is_no_question(lake: Lake, parts: list[str], asked: str) -> None:
    """A user who gives a context asks with it; what a framework tells of agents does not."""
    heard = [message("user", "Where to?"), message("user", *parts)]
    said = [message("assistant", ANSWER)]

    assert told(lake, agent(1), model(2, 1, at=1, heard=heard, said=said)) == [asked]
