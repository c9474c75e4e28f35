"""A run of an agent in another tool's form → spans of tracegrade's own dialect.

A run becomes an `invoke_agent` span with task, trial and outcome. Below it are a `chat` span for
each message of the model, an `execute_tool` span for each result and a `plan` span for each plan.
A model call has the user's messages since the previous call as one turn, and only a mark for
earlier turns. So a growing log changes no span but the first. Ids are hashes of the run's
position. Times that the source lacks rise by a millisecond a message from the year 2000 on, and
are marked.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeAlias

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tracegrade import names
from tracegrade_collector.importing.open_calls import OpenCall, OpenCalls
from tracegrade_collector.importing.scores import COST
from tracegrade_collector.importing.spellings import joined

SCOPE: Final = "tracegrade.import"
NO_TIME_NS: Final = 946_684_800_000_000_000  # 2000-01-01: clearly not a real time
RECORD_NS: Final = 1_000_000_000
MESSAGE_NS: Final = 1_000_000
LEAST_NS: Final = 1_000  # what tells two messages of one time apart


class MessageText(NamedTuple):
    """Text of a message."""

    text: str


class Thought(NamedTuple):
    """Reasoning of the model."""

    text: str


class ToolCall(NamedTuple):
    """A tool call that the model requested."""

    call_id: str | None
    name: str
    arguments: str | None
    """JSON, as the source has it."""


class ToolResult(NamedTuple):
    """Result that a tool returned."""

    call_id: str | None
    name: str | None
    text: str
    failed: bool
    """Whether the source marks it as failed; the text is not examined."""

    error: str | None = None
    """The source's error message, if it has one in addition to the result."""

    of_user: bool = False
    """Whether the source marks it as a call of the user."""


class Plan(NamedTuple):
    """A plan inside a text of the model, which is also a piece of its own."""

    text: str


class HostedPart(NamedTuple):
    """A call that the model's provider ran itself, or its result."""

    block: dict[str, Any]
    """As the provider writes it, which builds read."""


Piece: TypeAlias = MessageText | Thought | ToolCall | ToolResult | Plan | HostedPart


@dataclass(frozen=True)
class Message:
    """One message of a run."""

    role: str
    """assistant | user | system | tool."""

    pieces: Sequence[Piece]
    time_ns: int | None = None
    model: str | None = None
    usage: dict[str, int] = field(default_factory=dict)
    """Tokens, by attribute of the GenAI conventions."""

    cost_usd: float | None = None
    """Stated cost of the model call."""

    by_model: bool = True
    """Whether a model wrote it; false where a program requested the calls."""


@dataclass(frozen=True)
class RunOrigin:
    """Position of a run in its source; makes its ids."""

    format: str
    source: str
    """The file, or what the tool calls the run."""

    position: str
    """In the source."""

    number: int
    """Number of the run in its file, used if it has no time."""

    def span_id(self, part: str) -> bytes:
        """Return the id of the span that this part of the run is."""
        return self._hash("span", part)[:8]

    def trace_id(self) -> bytes:
        """Return the id of the run's trace."""
        return self._hash("trace")[:16]

    def root_id(self) -> bytes:
        """Return the id of the span that is the run."""
        return self.span_id("run")

    def trajectory_id(self) -> str:
        """Return the id of the trajectory that the run becomes."""
        return f"{self.trace_id().hex()}-{self.root_id().hex()}"

    def _hash(self, *parts: str) -> bytes:
        key = "\0".join((self.format, self.source, self.position, *parts))
        return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True)
class Trajectory:
    """A run: its messages in order, and the source's data about it."""

    origin: RunOrigin
    location: str
    """File name and line, for people who look at the spans."""

    messages: Sequence[Message]
    task: str | None = None
    category: str | None = None
    trial: int | None = None
    retries: int | None = None
    """Number of times the run was restarted after errors; None or 0 if never."""
    outcome: str | None = None
    release: str | None = None
    agent: str | None = None
    conversation: str | None = None
    user_input: str | None = None
    time_ns: int | None = None
    system: str | None = None
    tools: str | None = None
    """JSON list of the tools that were offered."""

    answer: str | None = None
    """NULL where the messages hold it."""


def with_totals(
    messages: Sequence[Message], usage: dict[str, int], cost_usd: float | None
) -> list[Message]:
    """Return the messages with a run's totals at its last model call, if no call has its own.

    Args:
        messages: The messages, in order.
        usage: Tokens of the whole run, by attribute of the GenAI conventions.
        cost_usd: Cost of the whole run.
    """
    calls = [n for n, each in enumerate(messages) if each.role == "assistant" and each.by_model]
    found = list(messages)
    if calls and not any(found[n].usage or found[n].cost_usd is not None for n in calls):
        found[calls[-1]] = replace(found[calls[-1]], usage=usage, cost_usd=cost_usd)
    return found


def counts(trajectory: Trajectory) -> Counter[str]:
    """Return counts of understood content by kind."""
    pieces = Counter(
        _COUNTED[type(piece)] for message in trajectory.messages for piece in message.pieces
    )
    return Counter({"trajectories": 1, "messages": len(trajectory.messages)}) + pieces


def left_out(trajectory: Trajectory) -> Counter[str]:
    """Return counts of content that is understood but is on no span, by reason."""
    counted: Counter[str] = Counter()
    unheard = 0
    for message in trajectory.messages:
        if message.role == "assistant":
            unheard = 0
            continue
        kinds = (_COUNTED[type(each)] for each in message.pieces if isinstance(each, _OF_MODEL))
        counted.update(f"{kind} in messages of role {message.role}" for kind in kinds)
        if message.role == "user":
            unheard += any(isinstance(piece, MessageText) for piece in message.pieces)
    return counted + Counter({"messages of the user that no model call follows": unheard})


_OF_MODEL: Final = (Thought, ToolCall, HostedPart)
_COUNTED: Final = {
    MessageText: "texts",
    Thought: "thoughts",
    ToolCall: "tool calls",
    ToolResult: "tool results",
    Plan: "plans",
    HostedPart: "calls and results of the provider's tools",
}


def spans_of(trajectory: Trajectory) -> ExportTraceServiceRequest:
    """Return the run as one request of spans."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    _set(group.resource.attributes, names.SERVICE_NAME, trajectory.agent)
    _set(group.resource.attributes, names.SERVICE_VERSION, trajectory.release)
    scope = group.scope_spans.add()
    scope.scope.name = SCOPE
    scope.spans.extend(_Writer(trajectory).spans())
    return request


class _Writer:
    """Makes the spans of one run, message by message."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._run = trajectory
        self._origin = trajectory.origin
        self._trace_id = self._origin.trace_id()
        self._root_id = self._origin.root_id()
        self._now = trajectory.time_ns or NO_TIME_NS + self._origin.number * RECORD_NS
        self._open = OpenCalls()
        self._input: list[dict[str, Any]] = []
        self._user_texts: list[str] = []  # by the user since the last model call
        self._is_first_call = True

    def spans(self) -> Iterator[Span]:
        start = self._first_time()
        synthetic = self._run.time_ns is None and not any(m.time_ns for m in self._run.messages)
        self._now = start
        for index, message in enumerate(self._run.messages):
            before, self._now = self._now, self._time_of(message, index)
            for number, piece in enumerate(message.pieces):
                if isinstance(piece, ToolResult):
                    yield self._execution(piece, f"{index}.{number}", message)
                elif isinstance(piece, Plan):
                    yield self._plan(piece, f"{index}.{number}", message, before)
            if message.role == "assistant":
                if message.by_model:
                    yield self._chat(message, index, before)
                self._open_calls(message, index)
            elif message.role == "user":
                self._hear(message)
        yield self._root(start, synthetic=synthetic)

    def _first_time(self) -> int:
        first = next((m.time_ns for m in self._run.messages if m.time_ns), None)
        known = [time for time in (self._run.time_ns, first) if time]
        return min(known) if known else self._now

    def _time_of(self, message: Message, index: int) -> int:
        if index == 0:
            return max(message.time_ns or 0, self._now)
        if message.time_ns:
            return max(message.time_ns, self._now + LEAST_NS)
        return self._now + MESSAGE_NS

    def _hear(self, message: Message) -> None:
        """Take the user's messages: until the model answers, all of them are one turn."""
        texts = [piece.text for piece in message.pieces if isinstance(piece, MessageText)]
        self._user_texts += texts
        if texts and len(self._user_texts) > len(texts):
            self._input.pop()
        if texts:
            self._input.append({"role": "user", "parts": [_text_part(joined(self._user_texts))]})

    def _chat(self, message: Message, index: int, before: int) -> Span:
        span = self._span("chat", f"message.{index}", before, self._now)
        set_ = span.attributes
        _set(set_, names.OPERATION_NAME, "chat")
        _set(set_, "gen_ai.request.model", message.model)
        if self._is_first_call:
            _set(set_, names.TOOL_DEFINITIONS, self._run.tools)
            _set(set_, "gen_ai.system_instructions", _system(self._run.system))
        if self._input:
            _set(set_, names.INPUT_MESSAGES, _json(self._input))
        parts = [as_part(piece) for piece in _joined_texts(message.pieces)]
        output = [{"role": "assistant", "parts": parts}]
        _set(set_, names.OUTPUT_MESSAGES, _json(output))
        for key, tokens in message.usage.items():
            _set(set_, key, tokens)
        _set(set_, COST, message.cost_usd)
        self._mark_synthetic(span, synthetic=message.time_ns is None)
        self._is_first_call = False
        self._input = [_EARLIER_INPUT for _ in self._input]
        self._user_texts = []
        return span

    def _open_calls(self, message: Message, index: int) -> None:
        """Remember the message's calls until their results come."""
        for number, piece in enumerate(message.pieces):
            if isinstance(piece, ToolCall):
                part, synthetic = f"call.{index}.{number}", message.time_ns is None
                self._open.add(index, OpenCall(*piece, part, self._now, synthetic))

    def _plan(self, plan: Plan, part: str, message: Message, at: int) -> Span:
        span = self._span(names.PLAN, f"plan.{part}", at, at)
        _set(span.attributes, names.OPERATION_NAME, names.PLAN)
        _set(span.attributes, names.STEP_KIND, names.PLAN)
        _set(span.attributes, names.PLAN_STEPS, plan.text)
        self._mark_synthetic(span, synthetic=message.time_ns is None)
        return span

    def _execution(self, result: ToolResult, part: str, message: Message) -> Span:
        is_synthetic = message.time_ns is None
        call = self._open.take(result.call_id, result.name) or OpenCall(
            result.call_id, result.name or "", None, f"result.{part}", self._now, is_synthetic
        )
        name = call.name or result.name or ""
        title = f"{names.EXECUTE_TOOL} {name}".rstrip()
        span = self._span(title, call.part, call.start_ns, self._now)
        _set(span.attributes, names.OPERATION_NAME, names.EXECUTE_TOOL)
        _set(span.attributes, names.TOOL_NAME, name)
        _set(span.attributes, names.TOOL_CALL_ID, call.call_id)
        _set(span.attributes, names.TOOL_CALL_ARGUMENTS, call.arguments)
        _set(span.attributes, names.TOOL_CALL_RESULT, result.text)
        if result.failed:
            span.status.code = Status.STATUS_CODE_ERROR
            span.status.message = result.error or ""
        self._mark_synthetic(span, synthetic=call.synthetic or is_synthetic)
        return span

    def _root(self, start: int, *, synthetic: bool) -> Span:
        run = self._run
        name = f"{names.INVOKE_AGENT} {run.agent or ''}".rstrip()
        span = self._span(name, "run", start, self._now)
        span.parent_span_id = b""
        user_input = run.user_input or joined(self._first_turn()) or None
        found: dict[str, str | int | None] = {
            names.OPERATION_NAME: names.INVOKE_AGENT,
            names.AGENT_NAME: run.agent,
            names.CONVERSATION_ID: run.conversation,
            names.TASK_ID: run.task,
            names.TASK_CATEGORY: run.category,
            names.TRIAL: run.trial,
            names.RETRIES: run.retries or None,
            names.OUTCOME: run.outcome,
            names.INPUT_MESSAGES: _messages_json("user", user_input),
            names.OUTPUT_MESSAGES: _messages_json("assistant", run.answer),
            names.IMPORT_FORMAT: run.origin.format,
            names.IMPORT_PLACE: run.location,
        }
        for key, value in found.items():
            _set(span.attributes, key, value)
        self._mark_synthetic(span, synthetic=synthetic)
        return span

    def _first_turn(self) -> list[str]:
        """Return all that the user said before the model's first answer to it."""
        texts: list[str] = []
        for message in self._run.messages:
            if message.role == "user":
                texts += (each.text for each in message.pieces if isinstance(each, MessageText))
            elif message.role == "assistant" and texts:
                break
        return texts

    def _span(self, name: str, part: str, start: int, end: int) -> Span:
        return Span(
            trace_id=self._trace_id,
            span_id=self._origin.span_id(part),
            parent_span_id=self._root_id,
            name=name,
            start_time_unix_nano=start,
            end_time_unix_nano=end,
        )

    @staticmethod
    def _mark_synthetic(span: Span, *, synthetic: bool) -> None:
        if synthetic:
            span.attributes.add(key=names.SYNTHETIC_TIME).value.bool_value = True


_EARLIER_INPUT: Final = {"role": "user", "parts": [{"type": "text", "content": "…"}]}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


def _joined_texts(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the model's output, with consecutive texts as one."""
    put_out = (piece for piece in pieces if not isinstance(piece, ToolResult | Plan))
    for is_text, group in groupby(put_out, key=lambda piece: isinstance(piece, MessageText)):
        if is_text:
            yield MessageText(
                joined([each.text for each in group if isinstance(each, MessageText)])
            )
        else:
            yield from group


def as_part(piece: Piece) -> dict[str, Any]:
    """Return the piece as a part of a message in the GenAI conventions."""
    if isinstance(piece, ToolCall):
        return {
            "type": "tool_call",
            "id": piece.call_id,
            "name": piece.name,
            "arguments": piece.arguments,
        }
    if isinstance(piece, HostedPart):
        return piece.block
    if isinstance(piece, Thought):
        return {"type": "reasoning", "content": piece.text}
    return _text_part(piece.text)


def _messages_json(role: str, text: str | None) -> str | None:
    return _json([{"role": role, "parts": [_text_part(text)]}]) if text else None


def _system(text: str | None) -> str | None:
    return _json([_text_part(text)]) if text else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _set(attributes: Any, key: str, value: str | float | None) -> None:
    """Add an attribute; None adds nothing."""
    if value is None:
        return
    entry: KeyValue = attributes.add(key=key)
    if isinstance(value, int):
        entry.value.int_value = value
    elif isinstance(value, float):
        entry.value.double_value = value
    else:
        entry.value.string_value = value
