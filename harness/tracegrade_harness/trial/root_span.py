"""What the harness itself sends of runs that are killed on purpose, which are no attempts.

A span below the root says so as soon as the run starts (docs/metrics.md, section 6.1): the same
agent once more, which adds no step. The root span is sent in the agent's place, which could not
end it: without it, the run would have no name and no task, and would be waited for.
"""

import secrets
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from opentelemetry.trace import Status, StatusCode

from tracegrade import names
from tracegrade_harness.doors.otlp_relay import Endpoint
from tracegrade_harness.doors.own_spans import OwnSpan, send_spans


class RootSpan(NamedTuple):
    """The agent span that a run is, as its agent started it."""

    trace_id: str
    """32 lower-case hex digits."""
    span_id: str
    """16 lower-case hex digits."""
    name: str
    attributes: Mapping[str, Any]
    start_ns: int
    parent_id: str | None = None
    """NULL for a root of its trace."""

    @property
    def trajectory_id(self) -> str:
        """The id of the trajectory that it is the root of."""
        return f"{self.trace_id}-{self.span_id}"


def send_mark(
    collector: Endpoint, root: RootSpan, injection: str, resource: Mapping[str, str]
) -> None:
    """Send a span that says of a run that started just now that it is to be killed.

    Args:
        collector: Where it is sent.
        root: The run's root span.
        injection: early | mid | late.
        resource: What the agent's spans say of where they come from.

    Raises:
        EnvironmentFailed: The collector did not take it.
    """
    inside = root._replace(span_id=secrets.token_hex(8), parent_id=root.span_id)
    mark = _ended(inside, injection)
    send_spans(collector, [mark], resource, f"mark of {root.trajectory_id}")


def send_root(
    collector: Endpoint, root: RootSpan, injection: str, resource: Mapping[str, str]
) -> None:
    """Send the root span of a run that was killed just now.

    Args:
        collector: Where it is sent.
        root: The span.
        injection: early | mid | late, or recovery for the run of a recovery command.
        resource: What the agent's spans say of where they come from.

    Raises:
        EnvironmentFailed: The collector did not take it.
    """
    ended = _ended(root, injection)
    send_spans(collector, [ended], resource, f"root span of {root.trajectory_id}")


def _ended(root: RootSpan, injection: str) -> OwnSpan:
    return OwnSpan(
        root.trace_id,
        root.span_id,
        root.parent_id,
        root.name,
        {**root.attributes, names.INJECTION: injection},
        root.start_ns,
        time.time_ns(),
        Status(StatusCode.ERROR, "killed by the harness"),
    )
