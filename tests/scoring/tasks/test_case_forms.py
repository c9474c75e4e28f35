"""Test cases of other tools become tasks; what a task file cannot express is counted."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from tracegrade_scoring.tasks import load
from tracegrade_scoring.tasks.case_forms import FORMS, form_of
from tracegrade_scoring.tasks.ground_truth import task_file

Row = dict[str, Any]


def text(words: str) -> Row:
    """Return a content of one text."""
    return {"role": "user", "parts": [{"text": words}]}


def invocation(words: str, *calls: Row, answer: str | None = None, **fields: Any) -> Row:
    """Return a turn of a case of ADK."""
    response = {} if answer is None else {"final_response": text(answer)}
    data = {"tool_uses": [*calls], "tool_responses": [], "intermediate_responses": []}
    return {"user_content": text(words), "intermediate_data": data, **response, **fields}


EVALSET: Row = {
    "eval_set_id": "lamps",
    "eval_cases": [
        {
            "eval_id": "off",
            "conversation": [
                invocation("Lamp off?", {"name": "set", "args": {"on": False}}, answer="Off."),
                invocation("And on.", {"name": "set", "args": {"on": True}}, answer="On."),
            ],
            "session_input": {"app_name": "home", "user_id": "u", "state": {}},
            "rubrics": [{"rubric_id": "kind", "rubric_content": {"text_property": "Kind?"}}],
        },
        {"eval_id": "free", "conversation_scenario": {"starting_prompt": "Hi"}},
    ],
}
OLD_TURNS: list[Row] = [
    {"query": "Lamp off?", "expected_tool_use": [], "reference": "Which?"},
    {
        "query": "台灯 💡",
        "expected_tool_use": [
            {"tool_name": "set", "tool_input": {"on": False}, "mock_tool_output": "ok"}
        ],
        "expected_intermediate_agent_responses": [{"author": "a", "text": "Wait."}],
        "reference": "Off.",
    },
]
OLD_CASE: Row = {"name": "off", "data": OLD_TURNS, "initial_session": {"app_name": "home"}}
AGENTEVALS: Row = {
    "eval_cases": [
        {
            "case_id": "greeting",
            "conversation": [{"userContent": text("Hi!"), "agent_content": text("Hello!")}],
        },
        {
            "evalId": "events",
            "conversation": [
                {
                    "userContent": text("Roll."),
                    "intermediateData": {
                        "invocationEvents": [
                            {"content": {"parts": [{"functionCall": {"name": "roll"}}]}},
                            {"content": {"parts": [{"text": "Rolling."}]}},
                        ]
                    },
                }
            ],
        },
    ]
}
GOLDENS: list[Row] = [
    {
        "input": "Pay 1.",
        "expected_output": "Paid.",
        "expected_tools": [
            {"name": "pay", "type": "FUNCTION", "inputParameters": {"n": 1}, "output": "ok"}
        ],
        "context": ["Prices"],
        "actual_output": None,
        "name": None,
    },
    {"input": "Same", "expectedOutput": "A", "name": "one"},
    {"input": "Same", "expectedOutput": "B", "name": "two"},
    {"input": "", "expected_output": "Empty"},
    {"scenario": "A buyer", "expected_outcome": "Bought", "turns": None},
]
EXPERIMENT: Row = {
    "cases": [
        {
            "name": "math",
            "input": "2x2?",
            "expected_trajectory": ["calculator", {"name": "show", "input": {"n": 4}}, 7],
            "expected_output": "4",
            "expected_assertion": "It is polite.",
            "metadata": {"category": "math", "level": 1},
        }
    ],
    "evaluators": [{"evaluator_type": "Contains"}, {"evaluator_type": "ToolCalled"}],
}
TAU2: Row = {
    "id": 3,
    "user_scenario": {"instructions": {"domain": "phones", "reason_for_call": "Offline"}},
    "initial_state": {"message_history": []},
    "evaluation_criteria": {
        "actions": [
            {"name": "find", "arguments": {"id": "L1", "note": "x"}, "compare_args": ["id"]},
            {"name": "restart", "arguments": {}, "requestor": "assistant"},
            {"name": "toggle", "arguments": {}, "requestor": "user"},
        ],
        "communicate_info": ["10"],
        "nl_assertions": ["It is kind.", "It is short."],
    },
}


def made(folder: Path, value: Any) -> tuple[Row, list[str]]:
    """Return the tasks of a file, once the checker accepts them, and the notes."""
    file, notes = folder / "cases.json", list[str]()
    file.write_text(json.dumps(value))
    written = task_file([file], {}, "false", notes.append)
    (folder / "tasks.yaml").write_text(written)
    assert load([folder / "tasks.yaml"]).errors == []
    return yaml.safe_load(written)["tasks"], notes


def test_turns_of_an_evalset_are_expected_in_order(tmp_path: Path) -> None:
    """Calls have their turn, responses are the reference; a scenario expects nothing."""
    tasks, notes = made(tmp_path, EVALSET)

    assert tasks == {
        "off": {
            "match": {"user_input": r"^Lamp off\?$"},
            "expected": [
                {"tool": "set", "arguments": {"on": False}, "turn": 0},
                {"tool": "set", "arguments": {"on": True}, "turn": 1},
            ],
            "expected_complete": False,
            "reference": ["Off.", "On."],
        }
    }
    assert sorted(notes) == [
        "not carried over: 1 cases without a name, or that expect neither calls nor a text as "
        "answer",
        "not carried over: 1 inputs of sessions",
        "not carried over: 1 rubrics",
        "not carried over: 1 scenarios for a simulated user",
    ]


@pytest.mark.parametrize(("value", "name"), [([OLD_CASE], "off"), (OLD_TURNS, "cases")])
def test_evalsets_before_1_0_are_evalsets(tmp_path: Path, value: Any, name: str) -> None:
    """A file of turns alone is one case, which has the name of the file."""
    tasks, notes = made(tmp_path, value)

    assert tasks == {
        name: {
            "match": {"user_input": r"^Lamp off\?$"},
            "expected": [{"tool": "set", "arguments": {"on": False}, "turn": 1}],
            "expected_complete": False,
            "reference": ["Which?", "Off."],
        }
    }
    assert sorted(notes) == [
        *["not carried over: 1 inputs of sessions"] * (name == "off"),
        "not carried over: 1 turns with responses of sub-agents",
        "not carried over: 1 turns with results of tools",
    ]


def test_cases_of_agentevals_are_evalsets(tmp_path: Path) -> None:
    """They have names of their own; calls may stand in events, and keys in camelCase."""
    tasks, notes = made(tmp_path, AGENTEVALS)

    assert tasks["greeting"] == {"match": {"user_input": "^Hi!$"}, "reference": "Hello!"}
    assert tasks["events"]["expected"] == [{"tool": "roll"}]
    assert notes == []


def test_goldens_are_named_by_their_input(tmp_path: Path) -> None:
    """Expected tools are calls; an input that two goldens share matches neither."""
    tasks, notes = made(tmp_path, GOLDENS)

    assert tasks == {
        "Pay 1.": {
            "match": {"user_input": r"^Pay 1\.$"},
            "expected": [{"tool": "pay", "arguments": {"n": 1}}],
            "expected_complete": False,
            "reference": "Paid.",
        },
        "one": {"reference": "A"},
        "two": {"reference": "B"},
    }
    assert "not carried over: 2 inputs that several tasks share" in notes
    assert "not carried over: 1 contexts" in notes
    assert "not carried over: 1 outputs of expected tools" in notes
    assert "not carried over: 1 expected outcomes of conversations, in words" in notes


def test_goldens_may_be_rows_of_csv(tmp_path: Path) -> None:
    """`save_as` writes expected tools as JSON into a cell, and leaves cells empty."""
    path = tmp_path / "goldens.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["input", "actual_output", "expected_output", "name", "expected_tools"])
        rows.writerow(
            ["Pay 1.", "", "Paid,\nthen.", "", '[{"name": "pay", "inputParameters": {}}]']
        )
        rows.writerow(["Hi", "Hello", "", "greet", ""])
    notes: list[str] = []
    tasks = yaml.safe_load(task_file([path], {}, "false", notes.append))["tasks"]

    assert tasks == {
        "Pay 1.": {
            "match": {"user_input": r"^Pay 1\.$"},
            "expected": [{"tool": "pay", "arguments": {}}],
            "expected_complete": False,
            "reference": "Paid,\nthen.",
        }
    }
    assert notes == [f"{path}:4: no task or no expected actions"]


def test_trajectory_of_an_experiment_is_expected(tmp_path: Path) -> None:
    """Names of tools and calls are expected; assertions and evaluators are counted."""
    tasks, notes = made(tmp_path, EXPERIMENT)

    assert tasks == {
        "math": {
            "category": "math",
            "match": {"user_input": r"^2x2\?$"},
            "expected": [{"tool": "calculator"}, {"tool": "show", "arguments": {"n": 4}}],
            "expected_complete": False,
            "reference": "4",
        }
    }
    assert sorted(notes) == [
        "not carried over: 1 assertions in words",
        "not carried over: 1 expected calls that name no tool or no arguments",
        "not carried over: 1 metadata 'level'",
        "not carried over: 2 evaluators",
    ]


@pytest.mark.parametrize("is_results", [False, True])
def test_actions_of_the_agent_are_expected(tmp_path: Path, *, is_results: bool) -> None:
    """Only compared arguments count; the domain is the scenario's or that of the results."""
    info = {"environment_info": {"domain_name": "phones"}, "agent_info": {}}
    tasks, notes = made(tmp_path, {"info": info, "tasks": [TAU2]} if is_results else [TAU2])

    assert tasks == {
        "phones/3": {
            "category": "phones",
            "expected": [
                {"tool": "find", "arguments": {"id": "L1"}},
                {"tool": "restart", "arguments": {}},
            ],
            "expected_complete": False,
        }
    }
    assert sorted(notes) == [
        "not carried over: 1 actions of the simulated user",
        "not carried over: 1 initial states",
        "not carried over: 1 texts that the agent must say",
        "not carried over: 2 assertions in natural language",
    ]


@pytest.mark.parametrize("value", [EVALSET, OLD_CASE, AGENTEVALS, *GOLDENS, EXPERIMENT, TAU2])
def test_broken_cases_never_stop_the_others(value: Row) -> None:
    """With any value in a field, each form reads on to the end, or does not fit."""
    source = random.Random(str(value))  # noqa: S311 - no secret
    for _ in range(200):
        broken = json.loads(json.dumps(value))
        at: Any = broken
        while isinstance(at, dict | list) and at:
            key = source.choice(list(at)) if isinstance(at, dict) else source.randrange(len(at))
            if not isinstance(at[key], dict | list) or source.random() < 0.3:
                at[key] = source.choice([None, True, -1, "", "x", [], {}, [1], [None]])
                break
            at = at[key]
        if form := form_of(broken):
            assert all(isinstance(task.name, str) for task in form.read(broken))


def test_each_form_is_one_of_its_own() -> None:
    """No record fits two forms."""
    for value in (EVALSET, OLD_CASE, AGENTEVALS, *GOLDENS, EXPERIMENT, TAU2):
        assert len([form.name for form in FORMS if form.fits(value)]) == 1
