"""A framework's texts in the user's name are distinguished from those of a user or a tool."""

from pathlib import Path
from typing import Any

import pytest
from tests.queries.traces import Row, agent, built_apart, message, model, rows, span, story

ANSWER = "It is 22C."
NOTICE = (
    "Now let's retry: take care not to repeat previous errors! "
    "If you have retried several times, try a completely different approach."
)
SMOLAGENTS = "opentelemetry.instrumentation.genai.smolagents"
ASKED_BY_SMOLAGENTS = ("New task:\nBook it. New task: go.", "Now write the final answer.")
ABOUT_ERRORS = "Explain this:\nError:\nlet's retry"


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


def transferred(*parts: str) -> list[Row]:
    """Return a run whose model got this in its user's name after a question."""
    heard = [message("user", "Where to?"), message("user", *parts)]
    return [agent(1), model(2, 1, at=1, heard=heard, said=[message("assistant", ANSWER)])]


# What was said in the users' name, and what users asked: first, and in later turns.
CASES: dict[str, tuple[list[Row], list[str]]] = {
    # Words with which smolagents puts tasks to its models are a user's elsewhere.
    "a new task later": (
        conversation("What is open?", "New task:\nBook it."),
        ["What is open?", "New task:\nBook it."],
    ),
    "a new task in a line": (
        conversation("New task: look it up.", "And in Rome?"),
        ["New task: look it up.", "And in Rome?"],
    ),
    "a new task first": (
        conversation("New task:\nLook it up.", "And in Rome?"),
        ["New task:\nLook it up.", "And in Rome?"],
    ),
    "a new task after thanks": (
        conversation("Thanks.\nNew task:\nLook it up.", "And in Rome?"),
        ["Thanks.\nNew task:\nLook it up.", "And in Rome?"],
    ),
    # What smolagents asks for besides is not the user's.
    "a task of smolagents": (
        conversation(*ASKED_BY_SMOLAGENTS, scope=SMOLAGENTS),
        ["Book it. New task: go."],
    ),
    "a task of smolagents, by OpenInference": (
        conversation(*ASKED_BY_SMOLAGENTS, scope="openinference.instrumentation.smolagents"),
        ["Book it. New task: go."],
    ),
    # The span of the agent never arrived, and that of its model names no framework.
    "a task of smolagents whose process died": (
        conversation("New task:\nBook it.", scope=SMOLAGENTS)[1:],
        ["Book it."],
    ),
    # Only what its notice follows is an error that it reports.
    "a task of smolagents that speaks of errors": (
        conversation(f"New task:\n{ABOUT_ERRORS}", scope=SMOLAGENTS),
        [ABOUT_ERRORS],
    ),
    # Some clients join messages of one role.
    "an error that was joined to a task": (
        conversation(f"New task:\nBook it.\nError:\nno seat\n{NOTICE}\n", scope=SMOLAGENTS),
        ["Book it."],
    ),
    # Only a framework's own words, after a call of a model, are what a tool gave.
    "an error that a user reports": (
        conversation("What is open?", "Error: it was shut, let's retry"),
        ["What is open?", "Error: it was shut, let's retry"],
    ),
    "an observation that a user reports": (
        conversation("Observation: the door is open. Why?", "And now?"),
        ["Observation: the door is open. Why?", "And now?"],
    ),
    # ReAct agents get the results of their tools in the user's name.
    "an observation of a tool": (
        conversation("What is open?", "Observation: it is open"),
        ["What is open?"],
    ),
    "an error of a tool": (
        conversation("What is open?", f"Error:\nno seat\n{NOTICE}\n"),
        ["What is open?"],
    ),
    # A user who gives a context asks with it; what a framework tells of agents does not.
    "a context": (
        transferred("For context:", "The shop is shut.", "When does it open?"),
        ["For context:\nThe shop is shut.\nWhen does it open?"],
    ),
    "what another agent said": (
        transferred("For context:", "[guide] said: The shop is shut."),
        ["Where to?"],
    ),
    "what another agent did": (
        transferred("For context: below is a transcript of what another agent did."),
        ["Where to?"],
    ),
    "a transfer": (
        transferred("Transferred to guide, adopting the role of guide immediately."),
        ["Where to?"],
    ),
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What the users of each case are found to have asked."""
    lake = built_apart(tmp_path_factory.mktemp("phrases"), [spans for spans, _ in CASES.values()])
    runs = rows(lake, "SELECT user_input FROM trajectories ORDER BY trace_id")
    found = {name: [run["user_input"]] for name, run in zip(CASES, runs, strict=True)}
    later = "SELECT * FROM steps WHERE role = 'user' ORDER BY trace_id, step_index"
    for step in rows(lake, later):
        found[list(CASES)[int(step["trace_id"], 16) - 1]].append(step["content"])
    return found


@pytest.mark.parametrize("name", CASES)
def test_what_a_framework_says_is_not_asked_by_a_user(
    asked: dict[str, list[str]], name: str
) -> None:
    """Nor is what a user says taken for a framework's."""
    assert asked[name] == CASES[name][1]


def test_answer_to_a_user_who_names_the_end_of_plans_is_no_plan(tmp_path: Path) -> None:
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

    assert story(built_apart(tmp_path, [spans])) == [f"answer {ANSWER}"]


def test_plans_are_found_by_each_form_of_the_sentence_that_asks_for_them(tmp_path: Path) -> None:
    """Up to smolagents 1.18 a backslash and an n stand before the mark, elsewhere a line break."""
    runs = []
    for before in (r"\n", "\n", ""):
        asked = f"At the end of the plan, write the '{before}<end_plan>' tag and stop there."
        heard: dict[str, Any] = {
            "llm__input_messages__0__message__role": "user",
            "llm__input_messages__0__message__content": asked,
            "llm__output_messages__0__message__role": "assistant",
            "llm__output_messages__0__message__content": "1. Look.\n2. Answer.",
        }
        spans = [
            span(1, openinference__span__kind="AGENT", ms=9),
            span(2, 1, at=1, openinference__span__kind="LLM", **heard),
        ]
        runs.append(spans)

    kinds = rows(built_apart(tmp_path, runs), "SELECT kind FROM steps WHERE plan IS NOT NULL")
    assert [step["kind"] for step in kinds] == ["plan"] * 3
