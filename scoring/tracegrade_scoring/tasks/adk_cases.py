"""Evalsets of Google's ADK → tasks; agentevals writes its cases in the same form.

Each case is a task. The calls of each invocation are expected in its turn, and its final response
is the reference.

The form is that of https://github.com/google/adk-python (`EvalCase`), as of June in 2025 (1.4) and
of 2026, and the one before 1.0 (`query`, `expected_tool_use`), which ADK still reads: a list of
cases in an `.evalset.json`, or of the turns of one case in a `.test.json`. Cases of
https://github.com/agentevals-dev/agentevals, as of May 2026, also have `case_id` and
`agent_content`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tracegrade_collector.importing.spellings import as_text, first
from tracegrade_scoring.tasks.cases import (
    CaseTask,
    as_list,
    as_object,
    decisions_of,
    filled,
    objects_in,
    text_of,
)

_CASES: Final = ("eval_cases", "evalCases")
_RUBRICS: Final = "rubrics"
_OLD_DATA: Final = "data"
_CASE_REST: Final = {
    "initial_session": "inputs of sessions",
    _RUBRICS: _RUBRICS,
    "conversation_scenario": "scenarios for a simulated user",
    "conversationScenario": "scenarios for a simulated user",
    "session_input": "inputs of sessions",
    "sessionInput": "inputs of sessions",
    "final_session_state": "final states of sessions",
    "finalSessionState": "final states of sessions",
}
_INVOCATION_REST: Final = {_RUBRICS: _RUBRICS}
_DATA_REST: Final = {
    "intermediate_responses": "turns with responses of sub-agents",
    "intermediateResponses": "turns with responses of sub-agents",
    "tool_responses": "turns with results of tools",
    "toolResponses": "turns with results of tools",
}


def fits(record: Any) -> bool:
    """Return whether a record is an evalset, or a case of the form before 1.0."""
    found = as_object(record)
    is_old = any(is_turn(each) for each in as_list(found.get(_OLD_DATA)))
    return is_old or any(isinstance(found.get(key), list) for key in _CASES)


def is_turn(record: Any) -> bool:
    """Return whether a record is a turn of the form before 1.0."""
    found = as_object(record)
    has_query = isinstance(found.get("query"), str)
    return has_query and ("expected_tool_use" in found or "reference" in found)


def read(record: Mapping[str, Any]) -> Iterator[CaseTask]:
    """Yield the task of each case."""
    if first(record, *_CASES) is None:
        turns = [_new_turn(turn) for turn in objects_in(record.get(_OLD_DATA))]
        yield _task({**record, "eval_id": record.get("name"), "conversation": turns}, 1)
    for number, case in enumerate(objects_in(first(record, *_CASES)), start=1):
        yield _task(case, number)


def case_of_turns(name: str, turns: Sequence[Mapping[str, Any]]) -> CaseTask:
    """Return the task of a file that holds the turns of one case, in the form before 1.0."""
    return next(read({"name": name, _OLD_DATA: list(turns)}))


def _new_turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    """Return a turn of the form before 1.0 as an invocation."""
    uses = list(objects_in(turn.get("expected_tool_use")))
    calls = [{"name": use.get("tool_name"), "args": use.get("tool_input")} for use in uses]
    data = {
        "tool_uses": None if turn.get("expected_tool_use") is None else calls,
        "tool_responses": [use for use in uses if use.get("mock_tool_output")],
        "intermediate_responses": turn.get("expected_intermediate_agent_responses"),
    }
    answer = turn.get("reference")
    response = {"final_response": _content(answer)} if isinstance(answer, str) and answer else {}
    return {"user_content": _content(turn.get("query")), "intermediate_data": data, **response}


def _content(text: Any) -> dict[str, Any]:
    return {"parts": [{"text": text if isinstance(text, str) else None}]}


def _task(case: Mapping[str, Any], number: int) -> CaseTask:
    left_out = filled(case, _CASE_REST)
    turns = list(objects_in(case.get("conversation")))
    name = first(case, "eval_id", "evalId", "case_id")
    calls = [_calls(turn) for turn in turns]
    expected = [
        decision
        for index, found in enumerate(calls)
        for decision in decisions_of(found, left_out, index if len(turns) > 1 else None)
    ]
    for turn in turns:
        left_out += filled(turn, _INVOCATION_REST) + filled(_data(turn), _DATA_REST)
    return CaseTask(
        as_text(name) if name else f"case-{number}",
        user_input=text_of(first(turns[0], "user_content", "userContent")) if turns else None,
        expected=None if all(found is None for found in calls) else expected,
        reference=_reference(turns, left_out),
        left_out=left_out,
    )


def _data(turn: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_object(first(turn, "intermediate_data", "intermediateData"))


def _calls(turn: Mapping[str, Any]) -> list[Any] | None:
    """Return the expected calls of an invocation; None if it has no record of any."""
    data = _data(turn)
    if (uses := first(data, "tool_uses", "toolUses")) is not None:
        return list(as_list(uses))
    events = first(data, "invocation_events", "invocationEvents")
    if events is None:
        return None
    parts = (
        part
        for event in objects_in(events)
        for part in objects_in(as_object(event.get("content")).get("parts"))
    )
    called = (first(part, "function_call", "functionCall") for part in parts)
    return [call for call in called if call is not None]


def _reference(turns: list[Mapping[str, Any]], left_out: Counter[str]) -> str | list[str] | None:
    """Return the final response of each turn, if all turns have one."""
    found = [
        text_of(first(turn, "final_response", "finalResponse", "agent_content")) for turn in turns
    ]
    if found and all(found):
        return found[0] if len(found) == 1 else found
    if any(found):
        left_out["final responses of conversations in which a turn has none"] += len(
            list(filter(None, found))
        )
    return None
