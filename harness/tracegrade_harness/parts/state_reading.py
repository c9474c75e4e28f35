"""One reading of a part: its objects, the ignored ones, and notes about them."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from xxhash import xxh3_128

from tracegrade_harness.parts.diff import diff
from tracegrade_harness.parts.state import State


class IgnoredObject(NamedTuple):
    """An object that a rule leaves out of the state."""

    rule: str
    digest: str


@dataclass
class StateReading:
    """The state of a part, or of a whole environment, at one moment."""

    state: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, IgnoredObject] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    """Object → a note for a human who judges the state: `hot_journal`, `left_wal`."""

    def add(self, name: str, digest: str, rule: str | None = None) -> None:
        """Add an object; a rule hides it."""
        if rule is None:
            self.state[name] = digest
        else:
            self.hidden[name] = IgnoredObject(rule, digest)

    def update(self, other: "StateReading") -> None:
        """Add the content of another reading."""
        self.state.update(other.state)
        self.hidden.update(other.hidden)
        self.notes.update(other.notes)


class ReadableState(ABC):
    """The answers of an opened part from a reading."""

    @abstractmethod
    def read(self) -> StateReading:
        """Return the part as it is now.

        Raises:
            EnvironmentFailed: It cannot be read.
        """

    def state(self) -> State:
        """Return all objects as they are now, without ignored ones."""
        return self.read().state

    def ignored(self) -> Mapping[str, str]:
        """Return the objects that `state` leaves out, by the rule that hides each."""
        return {name: hidden.rule for name, hidden in self.read().hidden.items()}


def fingerprint(state: State) -> str:
    """Return a digest of a whole state; equal states have equal ones."""
    digest = xxh3_128()
    for name, of_object in sorted(state.items()):
        digest.update(f"{name}\n{of_object}\n".encode())
    return digest.hexdigest()


def hidden_changes(before: StateReading, after: StateReading) -> dict[str, int]:
    """Return the number of changes that each rule hid; rules without any are left out."""
    rules = {**_rules(before), **_rules(after)}
    changed = diff(_digests(before), _digests(after)).names
    return dict(sorted(Counter(rules[name] for name in changed).items()))


def _rules(reading: StateReading) -> dict[str, str]:
    return {name: hidden.rule for name, hidden in reading.hidden.items()}


def _digests(reading: StateReading) -> dict[str, str]:
    return {name: hidden.digest for name, hidden in reading.hidden.items()}
