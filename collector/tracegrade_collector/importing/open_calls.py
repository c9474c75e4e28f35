"""Matches logged replies to their calls when logs leave out ids, names or replies.

A log may hold any number of calls without a reply, so this module finds the call of each reply
without looking at the others.
"""

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TypeAlias


@dataclass
class OpenCall:
    """A call whose reply has not come."""

    call_id: str | None
    name: str
    arguments: str | None
    part: str
    """The part of the run that is the call's span."""

    start_ns: int
    synthetic: bool
    answered: bool = False


_Queue: TypeAlias = deque[OpenCall]


class OpenCalls:
    """The calls of a run that have had no reply so far."""

    def __init__(self) -> None:
        self._queues: defaultdict[Hashable, list[tuple[int, _Queue]]] = defaultdict(list)

    def add(self, message: int, call: OpenCall) -> None:
        """Take a call of the message at a position, after all before it."""
        for key in _keys_of_call(call):
            queues = self._queues[key]
            if not queues or queues[-1][0] != message:
                queues.append((message, deque()))
            queues[-1][1].append(call)

    def take(self, call_id: str | None, name: str | None) -> OpenCall | None:
        """Return the call that a reply belongs to, and close it; None if there is none.

        The call has the same id if both have one, else the same name if the reply has one. Among
        several the first one of the latest message counts.
        """
        places = (self._queues.get(key, []) for key in _keys_of_reply(call_id, name))
        call = next(filter(None, map(_first_open, places)), None)
        if call is not None:
            call.answered = True
        return call


def _first_open(queues: list[tuple[int, _Queue]]) -> OpenCall | None:
    """Return the first open call of the last queue with one; drop the others."""
    while queues:
        queue = queues[-1][1]
        while queue and queue[0].answered:
            queue.popleft()
        if queue:
            return queue[0]
        queues.pop()
    return None


def _keys_of_call(call: OpenCall) -> Iterator[Hashable]:
    yield from (("named", call.name), "any")
    if call.call_id is None:
        yield from (("without id", call.name), "without id")
    else:
        yield ("id", call.call_id)


def _keys_of_reply(call_id: str | None, name: str | None) -> Iterator[Hashable]:
    """Yield the queues that may have its call, the best one first."""
    if call_id is not None:
        yield ("id", call_id)
    yield ("without id", name) if name else "without id"
    if call_id is None:
        yield ("named", name) if name else "any"
