"""Follows a running agent by its gate messages: its calls, its plan, its answer."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.control.gate import Event, Gate
from tracegrade_harness.control.gate_messages import (
    AnswerPending,
    Planned,
    ProcessLeft,
    RunEnded,
    RunStarted,
    TokensUsed,
    ToolReturned,
)
from tracegrade_harness.parts.diff import diff
from tracegrade_harness.parts.state import State
from tracegrade_harness.sandbox.processes import Running
from tracegrade_harness.trial.points import Boundary
from tracegrade_harness.trial.root_span import RootSpan
from tracegrade_harness.trial.spending import Spending

FLUSH_SECS: Final = 5.0
UNFLUSHED: Final = "flush: not all spans before the kill may have arrived"
WRITES: Final = frozenset({"write", "destructive"})


class Moment(NamedTuple):
    """A moment at which the agent waits: after a call, or before its answer."""

    event: Event
    boundary: Boundary | None
    """None before the final answer."""
    in_flight: int
    """Calls that had begun and not returned."""


@dataclass
class AgentWatch:
    """A running agent, and its actions so far."""

    gate: Gate
    running: Running
    deadline: Deadline
    effect_of: Callable[[str, str | None], str | None]
    before: State
    """The environment as it was before the agent started."""
    state: Callable[[], State] | None = None
    """Reads the environment after each call, if calls are observed; the agent's clock is paused
    for it."""
    root_of: Callable[[RunStarted], RootSpan] = RootSpan.of
    """Returns the root span of a run that starts, without claims that the agent must not make."""
    on_run: Callable[[RootSpan], None] = lambda _: None
    """Called with each run as it starts."""
    spending: Spending = field(default_factory=Spending)

    root: RootSpan | None = None
    """Root span of the first run that the agent announced at the gate."""
    root_ended: bool = False
    """The agent itself sends its root span."""
    error: str | None = None
    """The error of that run, if the agent reported one."""
    planned_steps: int | None = None
    """Steps of the last plan before the first call."""
    boundaries: list[Boundary] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """Problems of the agent that a reader of the trial should know."""
    effect_mismatches: dict[str, str] = field(default_factory=dict)
    """Tool → how its first call that changed something differs from its declared effect."""

    def moments(self) -> Generator[Moment, None, None]:
        """Yield each moment at which the agent waits; the next request lets it continue.

        The caller may kill the agent instead. The moments end with the agent, its time or its
        money. After its money ends, the agent gets no answer of a model. It may still reach a
        moment, so that its spans can be sent.
        """
        last = self.before
        for event in self.gate.events(self.deadline, self.running):
            match event.message:
                case ToolReturned() as call:
                    now = self._read() if self.state else last
                    boundary = self._boundary(call, diff(last, now).names)
                    last = now
                    self.boundaries.append(boundary)
                    yield Moment(event, boundary, call.in_flight)
                    self.gate.go(event)
                case AnswerPending(in_flight=in_flight):
                    yield Moment(event, None, in_flight)
                    self.gate.go(event)
                case TokensUsed() as used:
                    was_stopped = self.spending.stop is not None
                    self.spending.add_from_spans(used)
                    if was_stopped:
                        return
                case _:
                    self._note(event)
                    if isinstance(event.message, ProcessLeft) and self.spending.stop is not None:
                        return

    @property
    def open_root(self) -> RootSpan | None:
        """The root span that a killed agent can no longer end."""
        return None if self.root_ended else self.root

    def _read(self) -> State:
        assert self.state  # noqa: S101 - the caller has looked
        with self.deadline.paused():
            return self.state()

    def _boundary(self, call: ToolReturned, changed: list[str]) -> Boundary:
        number = len(self.boundaries) + 1
        effect = self.effect_of(call.name, call.effect)
        if (
            changed and effect not in WRITES and not call.in_flight
        ):  # else it may be another call's
            fact = _mismatch(call.name, effect, f"'{changed[0]}' had changed after call {number}")
            self.effect_mismatches.setdefault(call.name, fact)
        wrote = bool(changed) or effect in WRITES
        return Boundary(number, call.name, call.arguments, wrote)

    def _note(self, event: Event) -> None:
        match event.message:
            case RunStarted() as run:
                self._start(run)
            case Planned(steps=steps) if not self.boundaries:
                self.planned_steps = steps
            case RunEnded(span_id=span_id) as end if self.root and span_id == self.root.span_id:
                self.root_ended, self.error = True, end.error
            case ProcessLeft(reason=reason) if reason is not None:
                self.faults.append(f"turned away at the gate: {reason}")

    def _start(self, run: RunStarted) -> None:
        root = self.root_of(run)
        self.on_run(root)
        if self.root is None:
            self.root = root


def _mismatch(tool: str, effect: str | None, seen: str) -> str:
    declared = "has no declared effect" if effect is None else f"is declared as {effect}"
    return f"effect_mismatch: '{tool}' {declared}, but {seen}; declare that it writes"


def flush(gate: Gate, moment: Moment) -> list[str]:
    """Let an agent that waits send the spans that ended; return notes for the trial."""
    flushed = gate.flush(moment.event, FLUSH_SECS)
    if flushed is None or not flushed.complete:
        return [UNFLUSHED]
    return [f"flush: {flushed.lost} spans were lost"] if flushed.lost else []
