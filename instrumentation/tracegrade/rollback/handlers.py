"""`run.rollback`: how to undo a write, on the disk before the write begins.

    run.rollback("files:data/new.csv", undo={"delete": "data/new.csv"})  # until the run ends
    with run.rollback("files:data/old.csv", undo={"restore": "data/old.csv"}):  # or the block
        ...

An exception undoes the writes that need only files, the newest first. The others stay in the
journal for `tracegrade rollback`; all of them do if the process is killed. Paths are relative to
the folder in which the journal was first needed.
"""

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from types import TracebackType
from typing import Any, Final

from tracegrade.guard import guarded, say
from tracegrade.rollback import journal as journals
from tracegrade.rollback.undo import (
    UndoContext,
    UndoFailed,
    copy_file,
    kind_of,
    perform,
    undo_fault,
)
from tracegrade.values.native_inspection import is_kind
from tracegrade.values.plain_types import listed

JOURNAL: Final = "TRACEGRADE_JOURNAL"
DEFAULT_JOURNAL: Final = ".tracegrade/rollback.jsonl"
IN_PROCESS: Final = ("delete", "restore")
"""Kinds of undo that an exception carries out at once."""


class Rollbacks:
    """The rollbacks of one run, all in one journal."""

    def __init__(self) -> None:
        self.pending: list[Rollback] = []
        """Rollbacks that last until the run's end, the oldest first."""
        self._writer: _Writer | None = None

    def begin(self, name: str, undo: Mapping[str, Any]) -> "Rollback":
        """Return the rollback of one write, which is now in the journal."""
        rollback = Rollback(name, undo, self)
        rollback.begin()
        return rollback

    def end(self, *, failed: bool) -> None:
        """End what lasts until the run's end, the newest first."""
        while self.pending:
            self.pending.pop().end(failed=failed)

    def writer(self) -> "_Writer":
        """Return what writes the journal that the environment named when it was first needed."""
        if self._writer is None:
            self._writer = _writer()
        return self._writer


class Rollback:
    """The rollback of one write; a `with` or `async with` block limits it to the block."""

    def __init__(self, name: str, undo: Mapping[str, Any], of_run: Rollbacks) -> None:
        self._object = name
        self._undo = undo
        self._copy: str | None = None
        self._of_run = of_run
        self._is_owner = False
        self._writer: _Writer | None = None

    def __enter__(self) -> "Rollback":
        if self in self._of_run.pending:
            self._of_run.pending.remove(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end(failed=error is not None)

    async def __aenter__(self) -> "Rollback":
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)

    @guarded
    def begin(self) -> None:
        """Write down how to undo it, and keep a copy if that needs one."""
        self._object, self._undo = _as_name(self._object), _as_json(self._undo)
        fault = journals.name_fault(self._object) or undo_fault(self._undo)
        if fault:
            say("undo=", f"the undo of '{self._object}' cannot be carried out: {fault}")
            return
        writer = self._of_run.writer()
        with writer.lock:
            self._open(writer)
        self._writer = writer  # not before: what has not begun must undo nothing
        self._of_run.pending.append(self)

    def _open(self, writer: "_Writer") -> None:
        earlier = writer.left_open(self._object)
        if earlier is not None and self._object not in writer.open_objects:
            self._undo = earlier  # of a run that was killed: it leads back to where all began
        else:
            self._undo, self._copy = writer.prepared(self._undo)
        self._is_owner = self._object not in writer.open_objects
        writer.open_objects.add(self._object)
        if earlier is None:
            writer.write({"object": self._object, "undo": self._undo, "done": False})

    @guarded
    def end(self, *, failed: bool) -> None:
        """Undo it if it failed, else it is done; what cannot be undone here stays written."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        with writer.lock:
            if self._is_owner:
                writer.open_objects.discard(self._object)
            if failed and kind_of(self._undo) not in IN_PROCESS:
                hint = f"see: tracegrade rollback {writer.path}"
                say("rollback", f"'{self._object}' must be undone from its journal; {hint}")
                return
            if failed:
                perform(self._undo, writer.context)
            self._close(writer)

    def _close(self, writer: "_Writer") -> None:
        if self._is_owner:
            writer.write({"object": self._object, "done": True})
        if self._copy is not None:
            writer.forget(self._copy)


class _Writer:
    """One journal, as this process writes it."""

    def __init__(self, path: Path, folder: str) -> None:
        self.path = path
        self.lock = threading.RLock()
        self.open_objects: set[str] = set()
        """Objects whose rollback was begun in this process and has not ended."""
        self.context = UndoContext(self._path_of, self._copied, _refuse)
        self._folder = folder
        self._size = -1
        self._left: dict[str, Mapping[str, Any]] = {}

    def left_open(self, name: str) -> Mapping[str, Any] | None:
        """Return the undo of an object that is not done, this process's or a killed one's."""
        try:
            size = self.path.stat().st_size
            if size != self._size:
                left = journals.parse(self.path.read_bytes()).left()
                self._left = {entry.object: entry.undo for entry in left}
                self._size = size
        except FileNotFoundError:
            self._left = {}
        except OSError as error:
            self._say_unusable("read", error)
        return self._left.get(name)

    def write(self, *entries: Mapping[str, Any]) -> None:
        """Append entries; a failure is reported once."""
        try:
            self._size = journals.append(
                self.path, *({**entry, "folder": self._folder} for entry in entries)
            )
        except OSError as error:
            self._say_unusable("written", error)
            return
        for entry in entries:
            if entry["done"]:
                self._left.pop(entry["object"], None)
            else:
                self._left[entry["object"]] = entry["undo"]

    def _say_unusable(self, use: str, error: OSError) -> None:
        way_out = f"set {JOURNAL} to a file that can be"
        say("journal", f"journal '{self.path}' cannot be {use}: {error}; {way_out}")

    def prepared(self, undo: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
        """Return an undo in its recorded form, and the copy that it needs."""
        kind = kind_of(undo)
        if kind == "sql":
            return {**undo, "at": self._named(undo["at"])}, None
        if kind not in IN_PROCESS:
            return undo, None
        path = Path(undo[kind])
        if "from" in undo:
            return {"restore": self._named(path), "from": self._named(undo["from"])}, None
        if path.is_symlink() and path.exists():  # who writes to it writes to what it leads to
            path = path.resolve()
        if not os.path.lexists(path):
            return {"delete": self._named(path)}, None
        return self._copy_undo(path)

    def _copy_undo(self, path: Path) -> tuple[Mapping[str, Any], str | None]:
        """Return the undo of a write to an existing object, from a saved copy of it."""
        named = self._named(path)
        if not path.is_file():
            text = f"'{named}' existed before and is not a file, so no copy is kept"
            say("undo=", f"{text}; name the files in it")
            return {"manual": text}, None
        copy = self._named(self.path.with_name(f"{self.path.name}.kept-{os.urandom(8).hex()}"))
        self.write({"object": copy, "undo": {"delete": copy}, "done": False})
        try:
            copy_file(path, self._path_of(copy))
        except OSError as error:
            say("undo=", f"no copy of '{path}' could be kept: {error}; set {JOURNAL} elsewhere")
            return {"manual": f"'{named}' existed before; no copy could be kept"}, copy
        return {"restore": named, "from": copy}, copy

    def forget(self, copy: str) -> None:
        """Delete a saved copy."""
        self._path_of(copy).unlink(missing_ok=True)
        self.write({"object": copy, "done": True})

    def _named(self, path: str | Path) -> str:
        """Return a path relative to the journal's folder; absolute if it is elsewhere."""
        whole = os.path.abspath(path)  # links stay
        inside = whole.startswith(os.path.join(self._folder, ""))
        return os.path.relpath(whole, self._folder) if inside else whole

    def _path_of(self, path: str) -> Path:
        return Path(self._folder, path)

    def _copied(self, undo: Mapping[str, Any]) -> Path:
        return self._path_of(undo["from"])


def _as_name(name: object) -> Any:
    """Return an object's name as a text; `...` unless it is a text, path or number."""
    plain = _as_json(name)
    return str(plain) if type(plain) is int else plain if type(plain) is str else ...


def _as_json(value: Any) -> Any:
    """Return an undo of Python's own types alone, with paths as texts.

    `...` replaces a value of any other type: its text would be useless, so it is a fault.
    """
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is float:
        return value
    if is_kind(value, str):
        return str.__str__(value)
    if is_kind(value, PurePath):
        return str(value)
    if is_kind(value, dict):
        return {_as_json(key): _as_json(item) for key, item in dict.items(value)}
    is_list = is_kind(value, list) or is_kind(value, tuple)
    return [_as_json(item) for item in listed(value)] if is_list else ...


def _refuse(command: Sequence[str]) -> None:
    raise UndoFailed(str(command))


_writers: Final[dict[tuple[Path, str], _Writer]] = {}
_writers_lock: Final = threading.Lock()


def _writer() -> _Writer:
    """Return what writes the journal that the environment names, from the working folder."""
    folder = os.getcwd()
    path = Path(folder, os.environ.get(JOURNAL, "").strip() or DEFAULT_JOURNAL)
    with _writers_lock:
        return _writers.setdefault((path, folder), _Writer(path, folder))
