"""Spans that the harness sends for runs that it ends, on purpose or by a limit.

A run that is killed on purpose is not an attempt. A span below the root marks the run as soon as
it starts (docs/metrics.md, section 6.1). That span names the same agent and adds no step. The
harness also sends the root span, which the killed agent cannot send. Without a root span, the run
would have no name and no task, and readers would wait for its end.
"""

import secrets
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self

from opentelemetry.trace import Status, StatusCode

from tracegrade import names
from tracegrade_harness.control.gate_messages import RunStarted
from tracegrade_harness.telemetry.harness_spans import HarnessSpan, send_spans
from tracegrade_harness.telemetry.relay import Endpoint

KILLED: Final = "killed by the harness"
AGENT_KINDS: Final = {
    "openinference.span.kind": "AGENT",
    "traceloop.span.kind": "agent",
    names.OPERATION_NAME: names.INVOKE_AGENT,
}
"""Attributes with which each convention marks a span as an agent's run."""


class RootSpan(NamedTuple):
    """The root span of a run, as its agent started it."""

    trace_id: str
    """32 lower-case hex digits."""
    span_id: str
    """16 lower-case hex digits."""
    name: str
    attributes: Mapping[str, Any]
    start_ns: int
    parent_id: str | None = None
    """NULL for the root of its trace."""

    @classmethod
    def of(cls, run: RunStarted) -> Self:
        """Return the root span of a run that an agent announced at the gate."""
        return cls(
            run.trace_id, run.span_id, run.name, run.attributes, run.start_ns, run.parent_id
        )

    @property
    def trajectory_id(self) -> str:
        """The id of the trajectory whose root it is."""
        return f"{self.trace_id}-{self.span_id}"


def new_span_id() -> str:
    """Return an id that cannot be predicted: 16 lower-case hex digits."""
    return secrets.token_hex(8)


def send_mark(
    collector: Endpoint, root: RootSpan, kill_point: str, resource: Mapping[str, str]
) -> None:
    """Send a span that marks a run, which has just started, as one to be killed.

    Args:
        collector: The collector that receives it.
        root: The run's root span.
        kill_point: early | mid | late.
        resource: The resource attributes of the agent's spans.

    Raises:
        EnvironmentFailed: The collector did not take it.
    """
    inside = root._replace(span_id=new_span_id(), parent_id=root.span_id)
    mark = _ended(inside, kill_point, KILLED)
    send_spans(collector, [mark], resource, f"mark of {root.trajectory_id}")


def send_root(
    collector: Endpoint,
    root: RootSpan,
    kill_point: str | None,
    resource: Mapping[str, str],
    why: str = KILLED,
) -> None:
    """Send the root span of a run that has just been ended.

    Args:
        collector: The collector that receives it.
        root: The span.
        kill_point: early | mid | late; None for an attempt.
        resource: The resource attributes of the agent's spans.
        why: The cause of its end.

    Raises:
        EnvironmentFailed: The collector did not take it.
    """
    ended = _ended(root, kill_point, why)
    send_spans(collector, [ended], resource, f"root span of {root.trajectory_id}")


def _ended(root: RootSpan, kill_point: str | None, why: str) -> HarnessSpan:
    marks = {} if kill_point is None else {names.KILL_POINT: kill_point}
    # The outermost span may be a chain's, or may name its kind only at its end.
    key = next((key for key in AGENT_KINDS if key in root.attributes), names.OPERATION_NAME)
    return HarnessSpan(
        root.trace_id,
        root.span_id,
        root.parent_id,
        root.name,
        {**root.attributes, key: AGENT_KINDS[key], **marks},
        root.start_ns,
        time.time_ns(),
        Status(StatusCode.ERROR, why),
    )
