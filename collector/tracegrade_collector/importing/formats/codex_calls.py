"""Entries of a Codex session → messages, with the items of each model call as one.

Codex records the tokens of a model call either before its items (up to 0.6x) or after them. In
both cases its items are those between two records of tokens; results of its tools may be
between them. Without any such record, a result ends a model call.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tracegrade_collector.importing.trajectory import Message

_UNPLACED: Final = "records of tokens that belong to no model call"


class CallTokens(NamedTuple):
    """Tokens of a model call."""

    tokens: Mapping[str, int]
    """By attribute of the GenAI conventions."""


class TurnEnd(NamedTuple):
    """End of a turn, also of an aborted one."""


SessionEntry = Message | CallTokens | TurnEnd


def joined_calls(entries: Sequence[SessionEntry], ignored: Counter[str]) -> list[Message]:
    """Return the messages in order; a message of the model has all items of its call."""
    return list(_Calls(entries, ignored).messages())


class _Calls:
    """Joins the items of model calls, one entry after the other."""

    def __init__(self, entries: Sequence[SessionEntry], ignored: Counter[str]) -> None:
        self._entries = entries
        self._ignored = ignored
        measured = next(
            (i for i, each in enumerate(entries) if isinstance(each, CallTokens)), None
        )
        self._is_measured = measured is not None
        self._tokens_first = not any(map(_is_by_model, entries[:measured]))
        self._found: list[Message] = []
        self._open: int | None = None  # position of the model call that takes more items
        self._last: int | None = None  # position of the last model call without tokens
        self._next: CallTokens | None = None  # tokens of the model call that comes

    def messages(self) -> Iterator[Message]:
        for entry in self._entries:
            if isinstance(entry, CallTokens):
                self._measure(entry)
            elif isinstance(entry, TurnEnd):
                self._end_turn()
            elif entry.role == "assistant":
                self._take(entry)
            else:
                self._found.append(entry)
                if entry.role == "user" or not self._is_measured:
                    self._open = None
        self._end_turn()
        yield from self._found

    def _take(self, message: Message) -> None:
        """Add an item of the model to its call; the call ends with its last item in a row."""
        if self._open is None:
            self._open = self._last = len(self._found)
            self._found.append(message)
            if self._next:
                self._set_tokens(self._next)
                self._next = None
            return
        call, is_last = self._found[self._open], self._open == len(self._found) - 1
        time = message.time_ns if is_last else call.time_ns
        pieces = [*call.pieces, *message.pieces]
        self._found[self._open] = replace(call, pieces=pieces, time_ns=time)

    def _measure(self, usage: CallTokens) -> None:
        self._open = None
        if self._tokens_first:
            self._ignored[_UNPLACED] += self._next is not None
            self._next = usage
        elif self._last is None:
            self._ignored[_UNPLACED] += 1
        else:
            self._set_tokens(usage)

    def _set_tokens(self, usage: CallTokens) -> None:
        if self._last is not None:
            call = self._found[self._last]
            self._found[self._last] = replace(call, usage=dict(usage.tokens))
        self._last = None

    def _end_turn(self) -> None:
        self._ignored[_UNPLACED] += self._next is not None
        self._open = self._last = self._next = None


def _is_by_model(entry: SessionEntry) -> bool:
    return isinstance(entry, Message) and entry.role == "assistant"
