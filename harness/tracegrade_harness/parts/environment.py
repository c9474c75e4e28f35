"""A whole environment: frozen once, and opened for each trial with its restoring proved.

with closing(EnvironmentTemplate(suite.environments["uploads"], suite_folder)) as template:
    template.freeze(cache)
    with closing(template.open(trial_folder)) as environment:
        ...  # run the agent in trial_folder
        environment.difference()
"""

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from itertools import chain
from pathlib import Path
from typing import TypeVar

from xxhash import xxh3_128_hexdigest

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.images.world import ImageWorld, OpenedImage
from tracegrade_harness.parts.declared import declared_parts, image_of
from tracegrade_harness.parts.diff import StateDifference, diff, held_by_rule
from tracegrade_harness.parts.file_locks import locks_are_visible
from tracegrade_harness.parts.folders.folders import explained, removed, temporary_folder
from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.kind_faults import code_of
from tracegrade_harness.parts.part import (
    Opened,
    Part,
    ServiceAddress,
    ShowsContent,
    UsesServices,
)
from tracegrade_harness.parts.state import State
from tracegrade_harness.parts.state_reading import (
    ReadableState,
    StateReading,
    fingerprint,
    hidden_changes,
)
from tracegrade_harness.suite.model import Environment
from tracegrade_scoring.rendering.words import count

Source = TypeVar("Source")


class EnvironmentTemplate:
    """An environment as a suite declares it; each trial gets a copy."""

    def __init__(self, declared: Environment, suite_folder: Path) -> None:
        """Take the declared environment.

        Raises:
            SuiteUnusable: The paths of parts lead out of the trial's folder, or overlap.
        """
        self._image = image_of(declared, suite_folder)
        self._parts = [*declared_parts(declared, suite_folder, self._image)]
        self._locks = Globs(declared.locks)
        self._before = StateReading()

    @property
    def before(self) -> State:
        """All objects as trials find them; empty before `freeze`."""
        return self._before.state

    def fingerprint(self) -> str:
        """Return a digest of the state that trials find."""
        return fingerprint(self.before)

    def freeze(self, folder: Path) -> None:
        """Build the templates in a folder, or reuse those of unchanged sources.

        Raises:
            EnvironmentFailed: A source is missing or cannot be read, or a template was changed.
        """
        with explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._before = StateReading()
        if self._image is not None:
            self._image.freeze(folder)
        for each in self._parts:
            with _code_of(each.title):
                self._before.update(_frozen(each.part, each.key, folder))
        self._before.update(self._in_use())

    def _in_use(self) -> StateReading:
        """Return a reading of the parts that use others, opened together with them."""
        users = {each.title: each.uses for each in self._parts if each.uses is not None}
        needed = {*users, *chain.from_iterable(users.values())}
        parts = {each.title: each.part for each in self._parts if each.title in needed}
        reading = StateReading()
        with temporary_folder() as root, ExitStack() as stack:
            opened = _all_opened(parts, lambda part: part.open(root))
            for title, part in opened.items():
                stack.callback(_close, title, part)
            for title in users:
                with _code_of(title):
                    reading.update(opened[title].read())
        return reading

    def open(self, root: Path) -> "OpenedEnvironment":
        """Return a fresh copy in a trial's folder, which is created if it is missing.

        Raises:
            EnvironmentFailed: It could not be restored, or differs from the template.
        """
        with explained(root):
            root.mkdir(parents=True, exist_ok=True)
        parts = {each.title: each.part for each in self._parts}
        opened = _all_opened(parts, lambda part: part.open(root))
        environment = OpenedEnvironment(opened, self._locks, self._before)
        with ExitStack() as stack:
            stack.callback(environment.close)
            if self._image is not None:
                environment.image = self._image.open(root)
            if changed := environment.difference().names:
                number = count(len(changed), "object")
                message = (
                    f"restored environment differs from the frozen one in {number}, "
                    f"first '{changed[0]}'; see that nothing else writes to '{root}'"
                )
                raise EnvironmentFailed(message)
            stack.pop_all()
        return environment

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of objects before the run, as `ShowsContent` does."""
        return _contents_in((each.part for each in self._parts), names, most_bytes)

    def close(self) -> None:
        """End the servers of all trials' parts. Idempotent."""
        with ExitStack() as stack:
            for each in reversed(self._parts):
                stack.callback(_close, each.title, each.part)


class OpenedEnvironment(ReadableState):
    """An environment of one trial."""

    def __init__(self, parts: Mapping[str, Opened], locks: Globs, before: StateReading) -> None:
        self.parts = parts
        """Parts by kind and name, such as `files:data`."""
        self.image: OpenedImage | None = None
        """The root file system of the trial's agent; None if it is this machine's."""
        self._locks = locks
        self._before = before

    @property
    def world(self) -> ImageWorld | None:
        """The root file system that programs of the trial's agent see; None for this machine's."""
        return self.image.world if self.image else None

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which an agent finds the parts."""
        found: dict[str, str] = {}
        for title, part in self.parts.items():
            with _code_of(title):
                found |= part.variables
        return found

    @property
    def addresses(self) -> list[ServiceAddress]:
        """The addresses at which an agent must reach the parts over the network."""
        found: list[ServiceAddress] = []
        for title, part in self.parts.items():
            with _code_of(title):
                found += part.addresses
        return found

    def read(self) -> StateReading:
        """Return all parts as they are now.

        Raises:
            EnvironmentFailed: One cannot be read.
        """
        reading = StateReading()
        for title, part in self.parts.items():
            with _code_of(title):
                reading.update(part.read())
        if not locks_are_visible():
            reading.notes["locks"] = "not_visible"
        return reading

    def fingerprint(self) -> str:
        """Return a digest of the state as it is now."""
        return fingerprint(self.state())

    def notes(self) -> Mapping[str, str]:
        """Return notes on the state, by object: `hot_journal`, `left_wal`.

        `locks: not_visible` means that this system does not report which files are locked.
        """
        return self.read().notes

    def difference(self, now: State | None = None) -> StateDifference:
        """Return the difference from the state that the trial found.

        Args:
            now: A state that was read before; without it, the state is read.
        """
        return diff(self._before.state, self.state() if now is None else now)

    def ignored_changes(self) -> dict[str, int]:
        """Return the number of changes since the trial began that each ignore rule hides."""
        return hidden_changes(self._before, self.read())

    def held(self, now: State | None = None) -> list[str]:
        """Return processes' locks, and new or changed objects that the suite declares as locks.

        Args:
            now: A state that was read before; without it, the state is read.
        """
        by_processes: set[str] = set()
        for title, part in self.parts.items():
            with _code_of(title):
                by_processes.update(part.held())
        return sorted(by_processes.union(held_by_rule(self.difference(now), self._locks)))

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of objects as they are now, as `ShowsContent` does."""
        return _contents_in(self.parts.values(), names, most_bytes)

    def clone(self, root: Path) -> "OpenedEnvironment":
        """Return a copy of the present state in another folder, created if missing."""
        with explained(root):
            root.mkdir(parents=True, exist_ok=True)
        copies = _all_opened(self.parts, lambda part: part.clone(root))
        environment = OpenedEnvironment(copies, self._locks, self._before)
        with ExitStack() as stack:
            stack.callback(environment.close)
            if self.image is not None:
                environment.image = self.image.copy(root)
            stack.pop_all()
        return environment

    def close(self) -> None:
        """End the servers of the parts, and remove the image's changes; the parts' files stay.

        Idempotent.
        """
        with ExitStack() as stack:
            if self.image is not None:
                stack.callback(self.image.close)
            for title, part in reversed([*self.parts.items()]):
                stack.callback(_close, title, part)


def _contents_in(
    parts: Iterable[Part | Opened], names: Collection[str], most_bytes: int
) -> Iterator[tuple[str, bytes]]:
    """Yield the contents of objects from the parts that have them."""
    for part in parts:
        if isinstance(part, ShowsContent):
            yield from part.contents(names, most_bytes)


def _code_of(title: str) -> AbstractContextManager[None]:
    """Return a context that runs code of a part's kind, from its title: `files:data`."""
    return code_of(title.partition(":")[0])


def _close(title: str, part: Part | Opened) -> None:
    with _code_of(title):
        part.close()


def _all_opened(
    parts: Mapping[str, Source], opening: Callable[[Source], Opened]
) -> dict[str, Opened]:
    """Return all parts opened; if one cannot be opened, the earlier ones are closed again."""
    opened: dict[str, Opened] = {}
    with ExitStack() as stack:
        for title, part in parts.items():
            with _code_of(title):
                opened[title] = opening(part)
            stack.callback(_close, title, opened[title])
        for title, each in opened.items():
            if isinstance(each, UsesServices):
                with _code_of(title):
                    each.start(opened)
        stack.pop_all()
    return opened


def _frozen(part: Part, key: str, folder: Path) -> StateReading:
    """Freeze a part, or reuse the template of the same source; return its objects."""
    home = folder / xxh3_128_hexdigest(f"{key} {part.source_digest()}".encode())
    if not home.exists():
        _build(part, home)
    part.use(home)
    reading = part.frozen()
    with explained(home):
        built = (home / "fingerprint").read_text()
    if fingerprint(reading.state) != built:
        message = f"template '{home}' was changed; remove it"
        raise EnvironmentFailed(message)
    return reading


def _build(part: Part, home: Path) -> None:
    """Build a template under a temporary name, so that no partial one remains."""
    with explained(home):
        building = Path(tempfile.mkdtemp(prefix="building-", dir=home.parent))
    try:
        part.freeze(building)
        with explained(home):
            (building / "fingerprint").write_text(fingerprint(part.frozen().state))
            if not home.exists():  # else another harness was quicker
                building.rename(home)
    finally:
        removed(building)
