"""Messages that agents send to the gate, protocol 1; each is checked, because none is trusted.

Unknown keys are ignored, so that a newer agent can send more.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

PROTOCOL: Final = 1
Count = Annotated[int, Field(ge=0, lt=2**63)]
SpanId = Annotated[str, Field(pattern=r"^[0-9a-f]{16}\z")]
TraceId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}\z")]


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class Hello(_Message):
    """A process has connected to the gate: the agent's, or one that it started."""

    type: Literal["hello"]
    protocol: int
    pid: int
    """Process id inside the process's own namespace."""
    python: str


class RunStarted(_Message):
    """The outermost agent's span has started; a second one in a trial is one too many."""

    type: Literal["run"]
    trace_id: TraceId
    span_id: SpanId
    parent_id: SpanId | None
    """NULL if its span is the root of its trace."""
    name: str
    start_ns: Count
    attributes: Mapping[str, Any]
    attributes_cut: bool
    """Whether some attributes were left out because of their size."""


class Planned(_Message):
    """A plan was written or replaced."""

    type: Literal["plan"]
    steps: Count | None
    """NULL if the agent does not report it."""
    plan: str | None
    """JSON, cut if it is long."""


class TokensUsed(_Message):
    """A model has answered."""

    type: Literal["usage"]
    model: str | None
    input_tokens: Count | None
    """Input tokens, including those from a cache."""
    output_tokens: Count | None
    """Output tokens, including reasoning."""
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    ok: bool = True
    """Whether the model answered; otherwise the call failed."""


class ToolReturned(_Message):
    """A call has returned; the agent waits."""

    type: Literal["tool"]
    ask: Count
    n: Annotated[int, Field(ge=1)]
    """Number of the call in its process, from 1."""
    span_id: SpanId
    name: str
    ok: bool
    arguments: str | None
    """Canonical JSON if it is JSON; a long text is cut and ends with its digest."""
    effect: str | None
    """The effect that the agent declares."""
    in_flight: Count
    """Other calls that have begun and not reached the gate."""


class AnswerPending(_Message):
    """The final answer is about to be written; the agent waits."""

    type: Literal["answer"]
    ask: Count
    in_flight: Count


class RunEnded(_Message):
    """The outermost agent's span has ended."""

    type: Literal["run_end"]
    span_id: SpanId
    ok: bool
    error: str | None = None
    """The error of a failed call, as its span has it; NULL if the span has none."""


class Flushed(_Message):
    """Ended spans were sent, as far as that was possible."""

    type: Literal["flushed"]
    ask: Count
    complete: bool
    """Whether the flush finished within the agent's own limit of two seconds."""
    lost: Count
    """Spans that the process could not send since its start."""


class ProcessLeft(NamedTuple):
    """A process is no longer at the gate: it ended, or was disconnected."""

    reason: str | None
    """Why it was disconnected; NULL if it left by itself."""


GateMessage: TypeAlias = (
    Hello | RunStarted | Planned | TokensUsed | ToolReturned | AnswerPending | RunEnded | Flushed
)

_GATE_MESSAGES: Final[TypeAdapter[GateMessage]] = TypeAdapter(
    Annotated[GateMessage, Field(discriminator="type")]
)


def read_message(text: bytes) -> GateMessage:
    """Return a message.

    Raises:
        ValueError: It is not a message.
    """
    return _GATE_MESSAGES.validate_json(text)
