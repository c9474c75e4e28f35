"""Finds content missing from a run's spans: it was redacted, cut, or never captured."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from tracegrade.redact.marks import MARK_START
from tracegrade_harness.conversations.conversation import Part, ToolRequest
from tracegrade_harness.draft.runs import CapturedRun, CapturedStep, CapturedTool, ModelCall

Reason = Literal["redacted", "truncated", "not captured"]

_CUT: Final = "…[capped: "
"""Beginning of the end of a text that the collector cut."""
_FLAGS: Final[dict[str, Reason]] = {
    "redacted": "redacted",
    "result_redacted": "redacted",
    "truncated": "truncated",
    "result_truncated": "truncated",
    "salvaged": "truncated",
    "dropped_attributes": "not captured",
}
_IN_TEXTS: Final[dict[str, Reason]] = {MARK_START: "redacted", _CUT: "truncated"}


class MissingContent(NamedTuple):
    """Content that a case of a run would lack."""

    reason: Reason
    what: str
    """The position in the run."""


def missing_content(captured: CapturedRun) -> list[MissingContent]:
    """Return the content that a case of this run would lack, without duplicates."""
    found = [
        *_of_input(captured.run.user_input),
        *(each for step in captured.running_steps for each in _of_step(step)),
        *(each for tool in captured.tool_calls for each in _of_tool(tool)),
        *_of_calls(captured.calls),
    ]
    return [*dict.fromkeys(found)]


def _of_input(text: str | None) -> Iterator[MissingContent]:
    if text is None:
        yield MissingContent("not captured", "the user's request")
    for reason in _reasons((), [text]):
        yield MissingContent(reason, "the user's request")


def _of_step(step: CapturedStep) -> Iterator[MissingContent]:
    for reason in _reasons(step.flags, (step.arguments, step.result, step.content)):
        yield MissingContent(reason, step.name())
    if step.kind == "tool_call" and step.arguments is None:
        yield MissingContent("not captured", f"{step.name()}: its arguments")


def _of_tool(tool: CapturedTool) -> Iterator[MissingContent]:
    for reason in _reasons(tool.flags, (tool.arguments, tool.result)):
        yield MissingContent(reason, tool.name())
    if tool.arguments is None:
        yield MissingContent("not captured", f"{tool.name()}: its arguments")
    if not tool.failed and tool.result is None:
        yield MissingContent("not captured", f"{tool.name()}: its result")


def _of_calls(calls: Sequence[ModelCall]) -> Iterator[MissingContent]:
    if not calls:
        yield MissingContent("not captured", "every call of a model")
    for number, call in enumerate(calls, 1):
        name = f"model call {number}"
        texts = [_text(part) for part in (*call.messages, *call.answer.parts)]
        for reason in _reasons(call.flags, texts):
            yield MissingContent(reason, name)
        if not call.messages:
            yield MissingContent("not captured", f"{name}: its messages")
        if not call.answer.parts and not call.failed:
            yield MissingContent("not captured", f"{name}: its answer")
        for kind in call.unread:
            yield MissingContent("not captured", f"{name}: a part of type {kind}")


def _text(part: Part) -> str:
    return part.arguments if isinstance(part, ToolRequest) else part.text


def _reasons(flags: Iterable[str], texts: Iterable[str | None]) -> list[Reason]:
    """Return the reasons in flags and texts why content is missing, each once."""
    by_flag = [_FLAGS[flag] for flag in flags if flag in _FLAGS]
    some = [text for text in texts if text]
    by_text = [reason for mark, reason in _IN_TEXTS.items() if any(mark in text for text in some)]
    return [*dict.fromkeys([*by_flag, *by_text])]
