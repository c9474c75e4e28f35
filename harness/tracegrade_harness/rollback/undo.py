"""Proves undos: carries them out on a copy of the environment, and compares the state.

The undos come from agents, so paths never leave the copy, and statements reach only their own
database. Commands are the agent's own code: the caller runs them in the agent's sandbox
(`EnvironmentCopy.run`).
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from tracegrade.rollback.undo import UndoContext, UndoFailed, is_database_url, perform
from tracegrade_harness.parts.state import State
from tracegrade_harness.rollback.part_locator import PartLocator
from tracegrade_harness.rollback.path_guard import PathOutside, inside
from tracegrade_harness.rollback.records import Claim
from tracegrade_harness.rollback.rubric import ObservedState, changed, claims_on, leftovers

MAX_COMMAND_SECS: Final = 30.0
"""Time limit of one command; all commands together have five minutes, the limit for a 7."""

MAX_SECS: Final = 300.0
"""Time limit of all undos; an undo that was not tried by then is disproved."""

Run: TypeAlias = Callable[[Sequence[str], Path], None]
"""Runs a command in a folder; raises `UndoFailed` unless it ends with 0 in time."""


class CopiedPart(Protocol):
    """A part of an environment, or all parts, in the copy."""

    def state(self) -> State:
        """Return its objects."""

    def held(self) -> list[str]:
        """Return the held objects."""


def services(trial: Mapping[str, str], copy: Mapping[str, str]) -> dict[str, str]:
    """Return the services of a copy by their names and URLs in the trial.

    Args:
        trial: The environment variables with which agents find the parts in the trial.
        copy: The same variables in the copy.
    """
    urls = {name: url for name, url in trial.items() if "://" in url}
    return {known: copy[name] for name, url in urls.items() for known in (name, url)}


class UndoProof(NamedTuple):
    """The result of carrying out undos."""

    disproved: dict[str, str]
    """Leftovers that they did not restore, each with the reason."""
    damaged: tuple[str, ...]
    """Objects that were unchanged by the run and are now changed: then no undo counts."""


@dataclass(frozen=True)
class EnvironmentCopy:
    """A copy of an environment as a killed run left it, on which undos are tried."""

    root: Path
    """The copy of the trial's folder."""
    parts: Sequence[CopiedPart]
    """The parts in the copy."""
    pristine: Path
    """A folder with the parts as they were before the run, which `restore` without `from` reads.
    """
    trial: Path
    """The trial's folder itself: files outside of all parts are read from there."""
    locator: PartLocator
    run: Run
    services: Mapping[str, str] = field(default_factory=dict)
    """URL of a service in the trial, or the variable that holds it → the URL of its copy."""

    def state(self) -> State:
        """Return all objects of all parts."""
        return {name: digest for part in self.parts for name, digest in part.state().items()}

    def held(self) -> set[str]:
        """Return the held objects of all parts."""
        return {name for part in self.parts for name in part.held()}

    def context(self) -> UndoContext:
        """Return the context in which undos are carried out."""
        run = lambda command: self.run(command, self.root)  # noqa: E731
        return UndoContext(self._path_in_copy, self._copy, run, self._url, self._database)

    def _database(self, at: str) -> str | None:
        """Return the URL of a database's copy; None for the path of a database."""
        is_ours = is_database_url(self.services.get(at, ""))
        return self._url(at) if is_ours or is_database_url(at) else None

    def _url(self, at: str) -> str:
        """Return the URL of a service's copy, so that an agent's text leads nowhere else."""
        if at.rstrip("/") not in self.services:
            msg = (
                f"'{at}' is neither a service of the environment nor a variable that holds its URL"
            )
            raise UndoFailed(msg)
        return self.services[at.rstrip("/")]

    def _path_in_copy(self, path: str) -> Path:
        return _confined(self.root, self._relative(path))

    def _relative(self, path: str) -> str:
        """Return a path relative to the trial's folder, if it is an absolute path below it."""
        return path.removeprefix(f"{self.trial}/")

    def _copy(self, undo: Mapping[str, Any]) -> Path:
        if "from" in undo:
            path = self._relative(undo["from"])
            here = _confined(self.root, path)
            return here if os.path.lexists(here) else _confined(self.trial, path)
        copy = _confined(self.pristine, self._relative(undo["restore"]))
        if not os.path.lexists(copy):
            msg = f"'{undo['restore']}' was not there before; its undo is 'delete'"
            raise UndoFailed(msg)
        return copy


def _confined(folder: Path, path: str) -> Path:
    try:
        return inside(folder, path)
    except PathOutside as error:
        raise UndoFailed(str(error)) from error


def prove(seen: ObservedState, clone: EnvironmentCopy) -> UndoProof:
    """Carry out, on a clone, the first undo of each leftover that needs no human.

    Raises:
        EnvironmentFailed: The clone's state could not be read.
    """
    left = leftovers(seen)
    claims = _in_order(claims_on(seen, left), seen)
    start = clone.state()
    visible = changed(seen.before, start) | clone.held()
    faults = {name: "a copy does not show it, so nothing is proven" for name, _ in claims}
    faults = {name: fact for name, fact in faults.items() if name not in visible}
    faults |= _carry_out([one for one in claims if one[0] in visible], clone)
    end = clone.state()
    differ = changed(seen.before, end)
    still = differ | clone.held()
    disproved = {
        name: faults.get(name, "it still differs from before")
        for name, _ in claims
        if name in still or name not in visible
    }
    own = {*left, *(file.name for file in seen.records.files)}
    damaged = tuple(sorted((differ & changed(start, end)) - own))
    if damaged:
        fact = f"undoing changed '{damaged[0]}', which was as before"
        disproved |= {name: fact for name, _ in claims}
    return UndoProof(disproved, damaged)


def _in_order(claims: Mapping[str, list[Claim]], seen: ObservedState) -> list[tuple[str, Claim]]:
    """Return the first claim of each leftover that a program can carry out, the newest first.

    If one pattern names a folder and its content, the content comes first.
    """
    rank = {id(claim): index for index, claim in enumerate(seen.records.claims)}
    first = [
        (name, next(claim for claim in found if not claim.is_manual))
        for name, found in claims.items()
        if not all(claim.is_manual for claim in found)
    ]
    deepest_first = sorted(first, reverse=True, key=lambda one: one[0])
    return sorted(deepest_first, key=lambda one: rank[id(one[1])])


def _carry_out(claims: Sequence[tuple[str, Claim]], clone: EnvironmentCopy) -> dict[str, str]:
    """Carry out undos in order, and return why some failed: leftover → reason."""
    return {name: fact for name, fact in _outcomes(claims, clone) if fact is not None}


def _outcomes(
    claims: Sequence[tuple[str, Claim]], clone: EnvironmentCopy
) -> Iterator[tuple[str, str | None]]:
    context = clone.context()
    ends = time.monotonic() + MAX_SECS
    for name, claim in claims:
        undo = claim.undo_of(name, clone.locator)
        if undo is None:
            yield name, "its undo needs a path, and it has none"
        elif time.monotonic() > ends:
            yield name, f"undoing took more than {MAX_SECS:g} s"
        else:
            yield name, _fault(undo, context)


def _fault(undo: Mapping[str, Any], context: UndoContext) -> str | None:
    try:
        perform(undo, context)
    except UndoFailed as error:
        return str(error)
    return None
