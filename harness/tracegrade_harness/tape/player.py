"""Plays the replies of a tape, and records a new one; any thread may call."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from tracegrade_harness.tape.entries import TapeEntry, TapeKey, redacted_json
from tracegrade_harness.tape.nearest import nearest
from tracegrade_harness.tape.normalizing import Normalizer


class TapeMiss(Exception):
    """A call is not on the tape, or not so often; the agent sees this text."""


class TapePlayer:
    """A tape for one run of an agent: equal calls get their replies in order."""

    def __init__(
        self, entries: Iterable[TapeEntry], normalizer: Callable[[TapeKey], TapeKey] | None = None
    ) -> None:
        """Take a tape.

        Args:
            entries: Its calls.
            normalizer: Returns the compared form of a call, recorded or asked; without it, calls
                are compared unchanged.
        """
        self._lock = threading.Lock()
        self._compared = normalizer or Normalizer()
        self._recorded: dict[TapeKey, TapeKey] = {}
        self._replies: dict[TapeKey, list[Any]] = defaultdict(list)
        for key, reply, _ in entries:
            self._recorded.setdefault(compared := self._compared(key), key)
            self._replies[compared].append(reply)
        self._taken: dict[TapeKey, int] = defaultdict(int)
        self._notes: dict[str, None] = {}
        self.misses: list[str] = []

    def knows(self, key: TapeKey) -> bool:
        """Return whether a call is on the tape, even if its replies are used up."""
        return self._compared(key) in self._replies

    def has(self, key: TapeKey) -> bool:
        """Return whether a call has a reply left."""
        compared = self._compared(key)
        with self._lock:
            return self._taken[compared] < len(self._replies.get(compared, ()))

    def calls(self, channel: str) -> list[TapeKey]:
        """Return the different calls of a channel that are on the tape."""
        return [key for key in self._recorded.values() if key.channel == channel]

    def note(self, text: str) -> None:
        """Add a note on how the tape was played, for readers of the trial."""
        with self._lock:
            self._notes[text] = None

    def notes(self) -> list[str]:
        """Return the notes on how the tape was played, for readers of the trial."""
        with self._lock:
            return [*self._notes]

    def record_miss(self, miss: str) -> TapeMiss:
        """Note that a call is missing on the tape, and return the error."""
        with self._lock:
            self.misses.append(miss)
        return TapeMiss(f"tracegrade replay miss: {miss}")

    def take(self, key: TapeKey, *, again: bool = False) -> Any:
        """Return the reply to a call.

        Args:
            key: The call.
            again: Whether the last reply is repeated for all later calls.

        Raises:
            TapeMiss: There is none.
        """
        compared = self._compared(key)
        with self._lock:
            replies = self._replies.get(compared, [])
            number = self._taken[compared]
            if again and replies:
                number = min(number, len(replies) - 1)
            if number < len(replies):
                self._taken[compared] += 1
                return replies[number]
        miss = f"{key.channel} {key.name}: {self._why(compared, len(replies))}"
        raise self.record_miss(miss)

    def unused(self) -> list[str]:
        """Return unused calls of the tape, each with its number of unused replies."""
        with self._lock:
            left = {key: len(replies) - self._taken[key] for key, replies in self._replies.items()}
        calls = [(self._recorded[key], n) for key, n in left.items() if n > 0]
        return [f"{key.channel} {key.name} x {n}" for key, n in calls]

    def _why(self, key: TapeKey, recorded: int) -> str:
        if recorded:
            return f"called again after {recorded} times, which is what the tape has"
        return f"not on the tape; {nearest(key, [*self._replies])}"


class TapeRecorder:
    """Records calls and their replies."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[TapeEntry] = []
        self.refused: list[str] = []
        """Calls that no tape can hold, and why."""

    def refuse(self, why: str) -> None:
        """Note that a call cannot be recorded."""
        with self._lock:
            self.refused.append(why)

    def add(self, key: TapeKey, reply: Any, path: str | None = None) -> None:
        """Record a call, without the secrets of its reply, and its path if there is one."""
        entry = TapeEntry(key, redacted_json(reply), path)
        with self._lock:
            self._entries.append(entry)

    def entries(self) -> tuple[TapeEntry, ...]:
        """Return the recorded entries so far."""
        with self._lock:
            return (*self._entries,)
