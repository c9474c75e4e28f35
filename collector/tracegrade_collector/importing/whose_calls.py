"""Drops tool replies to calls that a simulated user made, not the agent.

A simulated user may have tools of its own and call them in its messages. This happens in
tau2-bench, which also records who requested each call and reply.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tracegrade_collector.importing.trajectory import (
    HostedPart,
    Message,
    Piece,
    ToolCall,
    ToolResult,
)

USERS: Final = "replies to tools that the user called"
UNASKED: Final = "replies of tools before any tool call"


def with_own_replies(messages: Sequence[Message], ignored: Counter[str]) -> list[Message]:
    """Return the messages of a run without replies to calls that are not the agent's.

    A reply before the agent's first call has no call. It is kept if the log shows tools only by
    their replies.

    Args:
        messages: The messages of the run, in order.
        ignored: Counts the replies that are left out, by reason.
    """
    tells_calls = any(message.role == "assistant" and _calls(message) for message in messages)
    whose = _WhoseCalls(tells_calls=tells_calls)
    return [whose.own(message, ignored) for message in messages]


def _calls(message: Message) -> list[ToolCall]:
    return [piece for piece in message.pieces if isinstance(piece, ToolCall)]


class _WhoseCalls:
    """Goes along the messages of one run."""

    def __init__(self, *, tells_calls: bool) -> None:
        self._tells_calls = tells_calls
        self._user_ids: set[str] = set()
        self._open_of_user = 0  # calls without an id that had no reply so far
        self._agent_called = False

    def own(self, message: Message, ignored: Counter[str]) -> Message:
        """Return the next message without parts that are not the agent's."""
        calls = _calls(message)
        if message.role == "user":
            self._user_ids.update(call.call_id for call in calls if call.call_id is not None)
            self._open_of_user += sum(call.call_id is None for call in calls)
        elif calls or any(isinstance(piece, HostedPart) for piece in message.pieces):
            self._agent_called = True
        reasons = [self._not_the_agents(piece) for piece in message.pieces]
        ignored.update(filter(None, reasons))
        if not any(reasons):
            return message
        pairs = zip(message.pieces, reasons, strict=True)
        return replace(message, pieces=[piece for piece, reason in pairs if reason is None])

    def _not_the_agents(self, piece: Piece) -> str | None:
        """Return why a reply is left out; None of all else."""
        if not isinstance(piece, ToolResult):
            return None
        if piece.of_user or piece.call_id in self._user_ids:
            return USERS
        if piece.call_id is None and self._open_of_user:
            self._open_of_user -= 1
            return USERS
        is_known = self._agent_called or (piece.name and not self._tells_calls)
        return None if is_known else UNASKED
