"""The context that verifiers get, and the results that they return."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from tracegrade_harness.parts.part import Opened

Outcome = Literal["pass", "fail", "error"]

MAX_EVIDENCE_CHARS: Final = 2_000
MAX_NAMED: Final = 20
"""Paths or objects that evidence names; the others are counted."""


class VerifierCommand(NamedTuple):
    """A verifier's command, which may run files of an agent."""

    argv: Sequence[str]
    root: Path
    """The only folder to which it may write."""
    folder: Path
    """Its working folder, in `root`: the copy of the environment."""
    environment: Mapping[str, str]
    """Its whole environment."""
    stdout: Path
    """Files for its output, outside of `root`."""
    stderr: Path
    timeout_secs: float


@dataclass(frozen=True)
class Context:
    """An environment as a trial left it. No process of the trial is alive any more."""

    root: Path
    """The trial's folder, in which the agent was run."""
    parts: Mapping[str, str]
    """Path of each part in it: `files:data` → `data`."""
    suite: Path
    """The suite's folder."""
    run: Callable[[VerifierCommand], int]
    """Runs a command and returns its exit code, or minus the signal that ended it. Raises
    `VerifierFailed` if the command cannot be run, is too slow or uses too much."""
    added: frozenset[str] = frozenset()
    """Names of new objects, such as `files:data/clean/a.csv`."""
    changed: frozenset[str] = frozenset()
    """Names of objects that existed before and have changed."""
    removed: frozenset[str] = frozenset()
    """Names of objects that no longer exist."""
    opened: Mapping[str, Opened] = field(default_factory=dict)
    """The parts themselves, by kind and name: `http:bank`."""
    single_files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The parts that are single files → their paths, then the paths of their companions."""


class Finding(NamedTuple):
    """Whether a verifier passes, and the evidence."""

    holds: bool
    evidence: str


class VerifierResult(NamedTuple):
    """The result of one verifier."""

    verifier: str
    """The verifier as JSON, from its suite."""
    outcome: Outcome
    """error: the verifier could not judge."""
    evidence: str
    """A short text."""


def printable(name: str) -> str:
    """Return a name as one line of plain text; unprintable characters are escaped."""
    return name if name.isprintable() else ascii(name)[1:-1]


def listed(lines: Iterable[str]) -> str:
    """Return the first lines as one text, with the number of further ones."""
    found = list(lines)
    more = [f"and {len(found) - MAX_NAMED} more"] if len(found) > MAX_NAMED else []
    return shortened("; ".join([*found[:MAX_NAMED], *more]))


def shortened(text: str, limit: int = MAX_EVIDENCE_CHARS) -> str:
    """Return a text, cut to at most this many characters."""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
