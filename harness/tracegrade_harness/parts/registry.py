"""All kinds of parts, in the order in which their parts are checked and made.

Packages declare kinds by entry points of the group `tracegrade.parts`; this package does so, too.
A kind that cannot be used is left out, and `faults` says why.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final, NamedTuple

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.parts.kind import PartKind
from tracegrade_harness.suite.model import Environment
from tracegrade_harness.suite.strict import Strict

GROUP: Final = "tracegrade.parts"
_OWN: Final = "tracegrade"
"""The distribution whose kinds keep their names, even if others are installed."""


class KindFault(NamedTuple):
    """The reason why a kind cannot be used."""

    fact: str
    way_out: str


class FoundKinds(NamedTuple):
    """The installed kinds."""

    kinds: tuple[PartKind, ...]
    """Kinds by rank, then by name."""
    faults: tuple[KindFault, ...]


class DeclaredPart(NamedTuple):
    """A part as an environment declares it."""

    kind: PartKind
    name: str
    declared: Strict

    @property
    def title(self) -> str:
        """Its kind and name, such as `files:data`."""
        return f"{self.kind.name}:{self.name}"


def discover() -> FoundKinds:
    """Return the kinds that distributions on the path declare.

    If two kinds have the same name or the same key of verifiers, only one counts. This
    distribution wins, else the one whose name sorts first.

    Raises:
        SuiteUnusable: There is none.
    """
    found: list[PartKind] = []
    faults: list[KindFault] = []
    for entry in sorted(entry_points(group=GROUP), key=_order):
        try:
            kind = _loaded(entry)
            _check_new(kind, found)
        except Exception as error:  # noqa: BLE001 - code of another package
            reason = " ".join(str(error).split())
            if not isinstance(error, _Unfit):
                reason = f"{type(error).__name__}: {reason}"
            fact = f"kind of parts '{entry.name}' of {_distribution(entry)} is left out: {reason}"
            faults.append(KindFault(fact, "repair or uninstall it"))
        else:
            found.append(kind)
    if not found:
        msg = f"no distribution declares a kind of parts ({GROUP}); install tracegrade again"
        raise SuiteUnusable(msg)
    return FoundKinds(tuple(sorted(found, key=lambda kind: (kind.rank, kind.name))), tuple(faults))


class _Unfit(Exception):
    """A kind cannot be used; the text says why."""


def _order(entry: EntryPoint) -> tuple[bool, str, str]:
    name = entry.dist.name if entry.dist else ""
    return name != _OWN, name, entry.name


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown distribution"


def _loaded(entry: EntryPoint) -> PartKind:
    loaded = entry.load()
    if not (isinstance(loaded, type) and issubclass(loaded, PartKind)):
        msg = f"{entry.value} is not a class of kinds"
        raise _Unfit(msg)
    kind = loaded()
    if kind.name != entry.name:
        msg = f"{entry.value} is named '{kind.name}'"
        raise _Unfit(msg)
    for each in (kind.model, kind.verifier):
        if each is not None and not issubclass(each, Strict):
            msg = f"{each.__name__} is not a class of strict mappings"
            raise _Unfit(msg)
    if kind.verifier and verifier_key(kind) not in kind.verifier.model_fields:
        msg = f"{kind.verifier.__name__} has no key '{verifier_key(kind)}'"
        raise _Unfit(msg)
    return kind


def _check_new(kind: PartKind, others: list[PartKind]) -> None:
    """Refuse a kind with the name of another kind, or of another key of environments."""
    names = {other.name for other in others}
    keys = {verifier_key(other) for other in others if other.verifier}
    if kind.name in names:
        msg = f"there is another '{kind.name}'"
        raise _Unfit(msg)
    if hasattr(Environment, kind.name) or kind.name in Environment.model_fields:
        msg = f"'{kind.name}' cannot be a key of environments"
        raise _Unfit(msg)
    if kind.verifier and verifier_key(kind) in keys:
        msg = f"there is another verifier '{verifier_key(kind)}'"
        raise _Unfit(msg)


@cache
def _found() -> FoundKinds:
    return discover()


def kinds() -> tuple[PartKind, ...]:
    """Return all kinds that can be used, by their rank."""
    return _found().kinds


def faults() -> tuple[KindFault, ...]:
    """Return why installed kinds cannot be used."""
    return _found().faults


@cache
def part_kinds() -> Mapping[str, PartKind]:
    """Return the kinds that have parts, by their key in environments."""
    return {kind.name: kind for kind in kinds() if kind.model is not None}


@cache
def verifier_kinds() -> Mapping[str, PartKind]:
    """Return the kinds that have a verifier, by its key."""
    return {verifier_key(kind): kind for kind in kinds() if kind.verifier is not None}


def verifier_key(kind: PartKind) -> str:
    """Return the key of a kind's verifier."""
    return kind.verifier_key or kind.name


def kind_of_verifier(verifier: Strict) -> PartKind:
    """Return the kind that a verifier is of."""
    return next(kind for kind in kinds() if kind.verifier and isinstance(verifier, kind.verifier))


def declared_in(environment: Environment) -> Iterator[DeclaredPart]:
    """Yield the parts of an environment, by kind in order, then as the suite lists them."""
    for name, kind in part_kinds().items():
        for part, declared in environment.parts.get(name, {}).items():
            yield DeclaredPart(kind, part, declared)


def paths_in(environment: Environment) -> dict[str, str]:
    """Return the paths of parts in a trial's folder, by kind and name, from the suite."""
    return {
        each.title: getattr(each.declared, "at")  # noqa: B009 - placed kinds have it
        for each in declared_in(environment)
        if each.kind.placed
    }
