"""All kinds of parts, in the order in which their parts are checked and made."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from tracegrade_harness.parts.browser.kind import BrowserKind
from tracegrade_harness.parts.command.kind import CommandKind
from tracegrade_harness.parts.files.kind import FilesKind
from tracegrade_harness.parts.http.kind import HttpKind
from tracegrade_harness.parts.kind import PartKind
from tracegrade_harness.parts.postgres.kind import PostgresKind
from tracegrade_harness.parts.redis.kind import RedisKind
from tracegrade_harness.parts.sqlite.kind import SqliteKind
from tracegrade_harness.suite.model import Environment
from tracegrade_harness.suite.strict import Strict

_KINDS: Final[tuple[type[PartKind], ...]] = (
    FilesKind,
    SqliteKind,
    PostgresKind,
    RedisKind,
    HttpKind,
    BrowserKind,
    CommandKind,
)


class DeclaredPart(NamedTuple):
    """A part as an environment declares it."""

    kind: PartKind
    name: str
    declared: Strict

    @property
    def title(self) -> str:
        """Its kind and name, such as `files:data`."""
        return f"{self.kind.name}:{self.name}"


@cache
def kinds() -> tuple[PartKind, ...]:
    """Return all kinds by their rank."""
    return tuple(sorted((kind() for kind in _KINDS), key=lambda kind: (kind.rank, kind.name)))


@cache
def part_kinds() -> Mapping[str, PartKind]:
    """Return the kinds that have parts, by their key in environments."""
    return {kind.name: kind for kind in kinds() if kind.model is not None}


@cache
def verifier_kinds() -> Mapping[str, PartKind]:
    """Return the kinds that have a verifier, by its key."""
    return {verifier_key(kind): kind for kind in kinds() if kind.verifier is not None}


def verifier_key(kind: PartKind) -> str:
    """Return the key by which a kind's verifier is known."""
    return kind.verifier_key or kind.name


def kind_of_verifier(asked: Strict) -> PartKind:
    """Return the kind that a verifier is of."""
    return next(kind for kind in kinds() if kind.verifier and isinstance(asked, kind.verifier))


def declared_in(environment: Environment) -> Iterator[DeclaredPart]:
    """Yield the parts of an environment, kinds in their order and each as the suite lists it."""
    for name, kind in part_kinds().items():
        for part, declared in environment.parts.get(name, {}).items():
            yield DeclaredPart(kind, part, declared)


def places_in(environment: Environment) -> dict[str, str]:
    """Return where parts stand in a trial's folder, by kind and name, as the suite has it."""
    return {
        each.title: getattr(each.declared, "at")  # noqa: B009 - placed kinds have it
        for each in declared_in(environment)
        if each.kind.placed
    }
