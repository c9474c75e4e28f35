"""A model of a disk that loses power: what was synced stays, of the rest anything may be there.

`Recorder` runs real code on a real folder and looks at the folder whenever something is synced,
so that it sees what everybody writes, the Delta library too. For each of these moments it knows
which bytes and which names are durable and which are only in memory. `after_power_cut` makes one
of the folders that a machine may come back with: of each inode the bytes that were synced, all of
them, a part up to a sector's end, or zeros; of each name that was not synced the old or the new
state (a rename is one step). The idea is that of ALICE [Pillai 2014].
"""

import os
import random
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

SECTORS = (512, 4096)

Names = dict[int, dict[str, int]]
"""Inode by name, of each folder by its inode."""


class Moment(NamedTuple):
    """What was in memory and on the disk at one time."""

    names: Names
    durable_names: Names
    contents: Mapping[int, bytes]
    durable_contents: Mapping[int, bytes]
    acknowledged: frozenset[int]
    where: str
    """The last sync before it."""


class Fate(Enum):
    """What becomes of everything that was not synced."""

    LOST = "lost"
    KEPT = "kept"
    EMPTY = "names kept, bytes lost"
    ZEROS = "names kept, bytes zero"
    TORN = "names kept, bytes cut at a sector's end"
    NAMELESS = "bytes kept, names lost"
    MIXED = "each by itself"


class Recorder:
    """Notes each moment at which a folder becomes more durable."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._root_inode = root.stat().st_ino
        self._lock = threading.RLock()
        self._names: Names = {}
        self._contents: dict[int, bytes] = {}
        self._durable_names: Names = {self._root_inode: {}}
        self._durable_contents: dict[int, bytes] = {}
        self._acknowledged: set[int] = set()
        self.moments: list[Moment] = []

    @property
    def root_inode(self) -> int:
        """The inode of the folder that is watched."""
        return self._root_inode

    def acknowledge(self, *span_ids: int) -> None:
        """Note that a client got the acknowledgement of these."""
        with self._lock:
            self._acknowledged.update(span_ids)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Watch every sync of this process during the block."""
        with (
            patch.object(os, "fsync", self._watched(os.fsync)),
            patch.object(os, "fdatasync", self._watched(os.fdatasync)),
        ):
            yield
        self._look("end")

    def _watched(self, sync: Callable[[int], None]) -> Callable[[int], None]:
        def watched(descriptor: int) -> None:
            with self._lock:
                found = os.fstat(descriptor)
                self._look(f"before {os.readlink(f'/proc/self/fd/{descriptor}')}")
                sync(descriptor)
                if stat.S_ISDIR(found.st_mode):
                    self._durable_names[found.st_ino] = dict(self._names.get(found.st_ino, {}))
                elif found.st_ino in self._contents:
                    self._durable_contents[found.st_ino] = self._contents[found.st_ino]

        return watched

    def _look(self, where: str) -> None:
        """Note what the folder holds now."""
        with self._lock:
            self._names, contents = _look_through(self._root)
            self._contents = self._contents | contents
            self.moments.append(
                Moment(
                    self._names,
                    {inode: dict(names) for inode, names in self._durable_names.items()},
                    self._contents,
                    dict(self._durable_contents),
                    frozenset(self._acknowledged),
                    where.replace(str(self._root), ""),
                )
            )


def _look_through(root: Path) -> tuple[Names, dict[int, bytes]]:
    """Return the names in each folder and the content of each file, at one moment.

    The Delta library writes in threads of its own, which nothing here can stop: a look during
    which a name came or went is taken again.
    """
    while True:
        with suppress(FileNotFoundError):
            names, files = _listing(root)
            contents = {inode: path.read_bytes() for inode, path in files.items()}
            if _listing(root) == (names, files):
                return names, contents


def _listing(root: Path) -> tuple[Names, dict[int, Path]]:
    """Return the names in each folder and the path of each file, both by inode."""
    names: Names = {}
    files: dict[int, Path] = {}
    folders = [(root.stat().st_ino, root)]
    for inode, folder in folders:
        with os.scandir(folder) as found:
            entries = list(found)
        names[inode] = {entry.name: entry.inode() for entry in entries}
        for entry in entries:
            if entry.is_dir():
                folders.append((entry.inode(), Path(entry.path)))
            else:
                files[entry.inode()] = Path(entry.path)
    return names, files


def after_power_cut(
    moment: Moment, root_inode: int, fate: Fate, chance: random.Random, target: Path
) -> None:
    """Make the folder that a machine may come back with after a power cut at a moment."""
    names = _names_after(moment, fate, chance)
    target.mkdir()
    _restore(moment, root_inode, names, fate, chance, target)


def _names_after(moment: Moment, fate: Fate, chance: random.Random) -> Names:
    """Return the names that are there: of an inode all new ones, or all those that were synced."""
    coin: dict[int, bool] = {}

    def is_new(inode: int) -> bool:
        if fate is Fate.MIXED:
            return coin.setdefault(inode, chance.random() < 1 / 2)
        return fate not in (Fate.LOST, Fate.NAMELESS)

    names: Names = {}
    for folder in moment.durable_names.keys() | moment.names.keys():
        old, new = moment.durable_names.get(folder, {}), moment.names.get(folder, {})
        names[folder] = {
            name: inode for name, inode in new.items() if old.get(name) == inode or is_new(inode)
        }
        for name, inode in old.items():
            if name not in names[folder] and not is_new(new.get(name, inode)):
                names[folder][name] = inode
    return names


def _restore(
    moment: Moment, inode: int, names: Names, fate: Fate, chance: random.Random, target: Path
) -> None:
    for name, child in names.get(inode, {}).items():
        path = target / name
        if child in moment.contents:
            path.write_bytes(_content_after(moment, child, fate, chance))
        else:
            path.mkdir()
            _restore(moment, child, names, fate, chance, path)


def _content_after(moment: Moment, inode: int, fate: Fate, chance: random.Random) -> bytes:
    new, old = moment.contents[inode], moment.durable_contents.get(inode, b"")
    if new == old:
        return new
    if fate is Fate.MIXED:
        fate = chance.choice([Fate.KEPT, Fate.EMPTY, Fate.ZEROS, Fate.TORN])
    if fate in (Fate.KEPT, Fate.NAMELESS):
        return new
    if fate in (Fate.LOST, Fate.EMPTY) or not new.startswith(old):
        return old
    if fate is Fate.ZEROS:
        return old.ljust(len(new), b"\0")
    sector = chance.choice(SECTORS)
    end = chance.randrange(len(old) // sector, len(new) // sector + 1) * sector
    torn = new[: max(end, len(old))]
    return torn.ljust(len(new), b"\0") if chance.random() < 1 / 2 else torn


def all_cuts(recorder: Recorder, seed: int, mixed: int) -> list[tuple[Moment, Fate, int]]:
    """Return every moment with every fate, and with so many mixed ones; each has its own seed."""
    fates: list[Any] = [*(fate for fate in Fate if fate is not Fate.MIXED), *[Fate.MIXED] * mixed]
    return [
        (moment, fate, seed + number)
        for moment in recorder.moments
        for number, fate in enumerate(fates)
    ]
