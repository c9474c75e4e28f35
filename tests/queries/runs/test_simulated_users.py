"""A model that plays the user, as in τ²-bench, is not a call of the agent in the same trace."""

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from tests.queries.traces import Row, agent, built_apart, message, model, rows, span, story_apart

GUIDELINES: Final = (
    "# User Simulation Guidelines\nYou are playing the role of a customer contacting a customer "
    "service representative. \n\n<scenario>\nCancel.\n</scenario>"
)
POLICY: Final = "<policy>\nYou help customers, who may simulate users.\n</policy>"
Model = Callable[..., Row]


def genai(number: int, at: float, *heard: tuple[str, str], said: str) -> Row:
    """Return a model call as the conventions write it."""
    told = [message(role, text) for role, text in heard]
    usage: Row = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 1}
    return model(number, 1, at=at, heard=told, said=[message("assistant", said)], **usage)


def openinference(number: int, at: float, *heard: tuple[str, str], said: str) -> Row:
    """Return a model call in indexed keys."""
    key = "llm__{}__{}__message__{}"
    told: Row = {
        key.format("input_messages", i, name): value
        for i, each in enumerate(heard)
        for name, value in zip(("role", "content"), each, strict=True)
    }
    told |= {
        key.format("output_messages", 0, "role"): "assistant",
        key.format("output_messages", 0, "content"): said,
        "llm__token_count__prompt": 10,
        "llm__token_count__completion": 1,
    }
    return span(number, 1, at=at, openinference__span__kind="LLM", **told)


def langfuse(number: int, at: float, *heard: tuple[str, str], said: str) -> Row:
    """Return a model call as Langfuse tells it."""
    told: Row = {
        "langfuse__observation__type": "generation",
        "langfuse__observation__input": json.dumps(
            [{"role": role, "content": text} for role, text in heard]
        ),
        "langfuse__observation__output": json.dumps({"role": "assistant", "content": said}),
        "langfuse__observation__usage_details": json.dumps({"input": 10, "output": 1}),
    }
    return span(number, 1, at=at, **told)


def conversation(call: Model, guidelines: str = GUIDELINES) -> list[Row]:
    """Return a run in which a model asks, and the agent answers."""
    return [
        agent(1),
        call(
            2, 1, ("system", guidelines), ("user", "Hi! How can I help?"), said="Cancel, please."
        ),
        call(3, 10, ("system", POLICY), ("user", "Cancel, please."), said="It is cancelled."),
        call(4, 20, ("system", guidelines), ("user", "It is cancelled."), said="###STOP###"),
    ]


TOTALS: Final = (
    "SELECT user_input, input_tokens, llm_call_count FROM trajectories ORDER BY trajectory_id"
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[list[str]], list[Row]]:
    """The stories and totals of such runs, and of those that look alike."""
    runs = [
        *map(conversation, (genai, openinference, langfuse)),
        conversation(genai, "You are a user interacting with an agent.\n\nInstruction: Cancel."),
        [agent(1), genai(2, 1, ("system", GUIDELINES), ("user", "Hi!"), said="Cancel, please.")],
        conversation(genai, "You help those who write User Simulation Guidelines."),
    ]
    lake: Any = built_apart(tmp_path_factory.mktemp("users"), runs)
    return story_apart(lake, len(runs)), rows(lake, TOTALS)


def test_the_agent_alone_is_read(found: tuple[list[list[str]], list[Row]]) -> None:
    """What it was asked and said, and its tokens."""
    stories, totals = found
    assert stories[:4] == 4 * [["answer It is cancelled."]]
    assert [tuple(row.values()) for row in totals[:4]] == 4 * [("Cancel, please.", 10, 1)]


def test_an_agent_that_does_nothing_else(found: tuple[list[list[str]], list[Row]]) -> None:
    """To play the user is its work."""
    assert found[0][4] == ["answer Cancel, please."]


def test_an_agent_that_is_told_of_users(found: tuple[list[list[str]], list[Row]]) -> None:
    """Its instructions do not begin so."""
    assert found[1][5]["llm_call_count"] == 3
