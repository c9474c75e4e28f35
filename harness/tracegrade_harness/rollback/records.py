"""Reads records of what a killed run left, as claims, from its files and its plans.

Journals and manifests are files of the agent, so they are hostile. Reading is bounded and never
follows a path out of the environment. Content that cannot be read names nothing and becomes a
fault in the evidence. Plans are read with the same care. A runbook belongs to the suite, and is
read before the run.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from tracegrade.rollback import journal as journals
from tracegrade.rollback.undo import kind_of, undo_fault
from tracegrade_harness.parts.names import name_text, path_text
from tracegrade_harness.rollback import manifest, planned
from tracegrade_harness.rollback.part_locator import PartLocator, is_object_name
from tracegrade_harness.rollback.path_guard import PathOutside, read_inside
from tracegrade_harness.suite.records import Journal, LakeRecord, Manifest, Record, Runbook
from tracegrade_harness.suite.runbook import Instruction
from tracegrade_harness.suite.templates import filled

MAX_FAULTS: Final = 50
"""Most faults of one record that are reported."""

PLAN: Final = "lake:plan"
"""The name of plans as a record."""

Plans: TypeAlias = Callable[[], Sequence[str] | None]
"""Returns the killed run's plans, the newest first; None if the run is unknown."""


def no_plans() -> Sequence[str]:
    """Return the plans of a run without any."""
    return ()


class Claim(NamedTuple):
    """One entry of a record: an object, and how to undo its change."""

    name: str
    """The object, or a pattern of objects."""
    undo: Mapping[str, Any]
    """A valid undo, see `tracegrade.rollback.undo`."""
    done: bool
    """The record says that nothing of it must be undone any more."""
    record: str
    """The record's own name."""
    is_pattern: bool = False
    """It is from a runbook; `{object}` and `{path}` in its undo are the object's name and path."""

    @property
    def is_manual(self) -> bool:
        """Whether a human must undo it."""
        return kind_of(self.undo) == "manual"

    def undo_of(self, name: str, locator: PartLocator) -> Mapping[str, Any] | None:
        """Return how to undo an object that it names; None without a needed path."""
        if not self.is_pattern:
            return self.undo
        path = locator.path_of(name)
        values = {"object": name, **({} if path is None else {"path": path})}
        # A path need not be UTF-8, because it comes from an existing file, not from JSON.
        shown = {key: value.encode(errors="replace").decode() for key, value in values.items()}
        try:
            if undo_fault(filled(self.undo, shown.__getitem__)) is not None:
                return None
            undo: Mapping[str, Any] = filled(self.undo, values.__getitem__)
        except KeyError:
            return None
        return undo


class RecordFile(NamedTuple):
    """An existing record in the environment."""

    name: str
    """Its object; `record:PATH` if the path is in no part."""
    is_settled: bool
    """Every entry is done, or there is none."""
    is_open: bool
    """It claims that something must still be undone."""


class BadEntry(NamedTuple):
    """An entry of a record that cannot be used."""

    record: str
    line: int | None
    """Position from 1: the item of a manifest, the step of a plan; None for the whole record."""
    fact: str


class Records(NamedTuple):
    """The content of all records of an agent."""

    claims: tuple[Claim, ...] = ()
    """Claims in the declared order of their records, and the newest first in each: the order of
    undos."""
    files: tuple[RecordFile, ...] = ()
    faults: tuple[BadEntry, ...] = ()


def read_records(
    declared: Sequence[Record],
    runbooks: Mapping[str, Sequence[Instruction]],
    trial_folder: Path,
    locator: PartLocator,
    plans: Plans = no_plans,
) -> Records:
    """Return the content of the records as they are now.

    Args:
        declared: The agent's records, as the suite declares them.
        runbooks: The content of each runbook, by its path in the suite; read before the run.
        trial_folder: The environment's folder, as the agent left it.
        locator: Turns paths in records into objects.
        plans: Called only if the plans are declared as a record.

    Raises:
        SuiteUnusable: The JSON path of a manifest is wrong.
    """
    read = [
        _read_plans(plans(), locator)
        if isinstance(record, LakeRecord)
        else _read(record, runbooks, trial_folder, locator)
        for record in declared
    ]
    return Records(
        tuple(claim for records in read for claim in records.claims),
        tuple(file for records in read for file in records.files),
        tuple(fault for records in read for fault in records.faults),
    )


def _read(
    record: Journal | Manifest | Runbook,
    runbooks: Mapping[str, Sequence[Instruction]],
    trial_folder: Path,
    locator: PartLocator,
) -> Records:
    if isinstance(record, Runbook):
        entries = runbooks[record.runbook]
        name = f"runbook:{record.runbook}"
        return Records(tuple(Claim(e.pattern, e.undo, False, name, True) for e in entries))
    if isinstance(record, Journal):
        return _read_file(record.journal, trial_folder, locator, _journal)
    check = manifest.Reader(record)
    return _read_file(record.manifest, trial_folder, locator, lambda c: _manifest(check, c))


def _read_plans(plans: Sequence[str] | None, locator: PartLocator) -> Records:
    if plans is None:
        return Records(faults=(BadEntry(PLAN, None, "the killed agent reported no run"),))
    undos, faults = planned.read(plans)
    claims = tuple(Claim(_object(name, locator), undo, False, PLAN) for name, undo in undos)
    bad_entries = _bad_entries(PLAN, _Content((), faults, unfinished=False))
    return Records(claims, faults=tuple(bad_entries))


class _Content(NamedTuple):
    """The content of a record, before paths are turned into objects."""

    entries: Sequence[tuple[str, Mapping[str, Any], bool]]
    """Object, undo and done of each entry; the newest first."""
    faults: Sequence[tuple[int | None, str]]
    unfinished: bool
    """It ends in the middle of an entry. That entry names nothing, and is not a fault that keeps
    the record from being settled."""


def _journal(content: bytes) -> _Content:
    read = journals.parse(content)
    newest_first = reversed(read.entries.values())
    return _Content(
        [(entry.object, entry.undo, entry.done) for entry in newest_first],
        [(fault.line, fault.fact) for fault in read.faults],
        read.is_torn,
    )


def _manifest(reader: manifest.Reader, content: bytes) -> _Content:
    items, faults = reader.read(content)
    return _Content([(item.name, item.undo, False) for item in reversed(items)], faults, False)


def _read_file(
    path: str, folder: Path, locator: PartLocator, parse: Callable[[bytes], _Content]
) -> Records:
    inside = path.lstrip("/")
    name = locator.object_at(inside) or f"record:{path_text(inside)}"
    try:
        content = read_inside(folder, inside)
    except PathOutside as error:
        return Records((), (RecordFile(name, False, False),), (BadEntry(name, None, str(error)),))
    if content is None:
        return Records()
    read = parse(content)
    claims = tuple(
        Claim(_object(text, locator), undo, done, name) for text, undo, done in read.entries
    )
    is_open = any(not claim.done for claim in claims)
    file = RecordFile(name, not is_open and not read.faults, is_open)
    return Records(claims, (file,), tuple(_bad_entries(name, read)))


def _object(text: str, locator: PartLocator) -> str:
    """Return the object of an entry, which gives its name or a path."""
    if is_object_name(text):
        return name_text(text)
    return locator.object_at(text) or path_text(text)


def _bad_entries(name: str, read: _Content) -> Iterable[BadEntry]:
    if read.unfinished:
        yield BadEntry(name, None, "its last line is torn, and names nothing")
    for line, fact in read.faults[:MAX_FAULTS]:
        yield BadEntry(name, line, fact)
    if len(read.faults) > MAX_FAULTS:
        yield BadEntry(name, None, f"and {len(read.faults) - MAX_FAULTS:,} more faults")
