"""Evalsets of Google's ADK → tasks; agentevals writes its cases in the same form.

Each case is a task. The calls of each invocation are expected in its turn, and its final response
is the reference.

The form is that of https://github.com/google/adk-python (`EvalCase`), as of June in 2025 (1.4) and
of 2026. Cases of https://github.com/agentevals-dev/agentevals, as of May 2026, also have `case_id`
and `agent_content`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
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
_CASE_REST: Final = {
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
    """Return whether a record is an evalset."""
    return any(isinstance(as_object(record).get(key), list) for key in _CASES)


def read(record: Mapping[str, Any]) -> Iterator[CaseTask]:
    """Yield the task of each case."""
    for number, case in enumerate(objects_in(first(record, *_CASES)), start=1):
        yield _task(case, number)


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
