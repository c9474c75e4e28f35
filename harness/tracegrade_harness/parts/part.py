"""The interface that all parts of an environment share, and that trials work with.

A part is frozen once: its template is built, and never changed after. Each trial opens a copy of
its own. A state maps names of objects to digests. So all kinds of parts share one comparison, one
rule for ignored objects and one for leftovers.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from tracegrade_harness.parts.state import State
from tracegrade_harness.parts.state_reading import StateReading


class ServiceAddress(NamedTuple):
    """The address of a part's service on this machine."""

    host: str
    port: int


class Opened(Protocol):
    """A part of one trial."""

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which an agent finds the part."""

    @property
    def addresses(self) -> Sequence[ServiceAddress]:
        """The addresses at which an agent must reach it; none if it is made of files."""

    def read(self) -> StateReading:
        """Return objects, ignored objects and notes, read at one time.

        Raises:
            EnvironmentFailed: It cannot be read.
        """

    def state(self) -> State:
        """Return all objects as they are now, without ignored ones.

        Raises:
            EnvironmentFailed: They cannot be read.
        """

    def ignored(self) -> Mapping[str, str]:
        """Return the objects that `state` leaves out, by the rule that hides each: name → rule."""

    def held(self) -> list[str]:
        """Return the names of held objects: locks, open transactions, reserved quota."""

    def clone(self, root: Path) -> "Opened":
        """Return a copy of the present state, with `root` instead of the trial's folder."""

    def close(self) -> None:
        """End the part's servers; overlays can no longer be read then. Idempotent."""


@runtime_checkable
class UsesServices(Protocol):
    """An opened part that needs other parts, and starts after them."""

    def start(self, others: Mapping[str, Opened]) -> None:
        """Start with the parts that it uses, by kind and name: `http:bank`.

        Raises:
            EnvironmentFailed: It could not be restored.
        """


@runtime_checkable
class ShowsContent(Protocol):
    """A part or an opened part whose objects have content that people can read."""

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of those of these objects that the part has, if small enough."""


class Part(Protocol):
    """A part as the suite declares it."""

    def source_digest(self) -> str:
        """Return a digest of all sources of the template.

        Raises:
            EnvironmentFailed: Its source is missing or cannot be read.
        """

    def freeze(self, folder: Path) -> None:
        """Build the template in a new, empty folder.

        Raises:
            EnvironmentFailed: Its source is missing or cannot be read.
        """

    def use(self, folder: Path) -> None:
        """Use an existing template of `freeze`."""

    def frozen(self) -> StateReading:
        """Return the template as a trial finds it."""

    def open(self, root: Path) -> Opened:
        """Return a fresh copy of the template for a trial.

        Args:
            root: The trial's folder, in which the agent is run.

        Raises:
            EnvironmentFailed: It could not be restored.
        """

    def close(self) -> None:
        """End the servers of all trials of the part. Idempotent."""
