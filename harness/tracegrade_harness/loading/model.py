"""The classes of a suite file: `suite/model.py` with the keys of all kinds of parts."""

from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field, Tag, create_model

from tracegrade_harness.parts.registry import part_kinds, verifier_kinds
from tracegrade_harness.suite import model
from tracegrade_harness.suite.strict import Name, Strict, by_key

_ALL_HOLD: Final = model.Case.model_fields["verify"].description


class SuiteClasses(NamedTuple):
    """The classes that validate a suite file."""

    environment: type[model.Environment]
    verifier: Any
    """A union; the key of a verifier selects its class."""
    case: type[model.Case]
    suite: type[model.Suite]


@cache
def suite_classes() -> SuiteClasses:
    """Return the classes with the installed kinds."""
    verifiers = [
        Annotated[kind.verifier, Tag(f"[{key}]")] for key, kind in verifier_kinds().items()
    ]
    verifier: Any = Annotated[reduce(or_, verifiers), by_key(*verifier_kinds())]
    environment = _environment()
    case = create_model(
        "Case",
        __base__=model.Case,
        __doc__=model.Case.__doc__,
        __module__=__name__,
        verify=(list[verifier], Field(default_factory=list, description=_ALL_HOLD)),
    )
    suite = create_model(
        "Suite",
        __base__=model.Suite,
        __doc__=model.Suite.__doc__,
        __module__=__name__,
        environments=(dict[Name, environment], ...),  # type: ignore[valid-type]
        cases=(dict[Name, case], ...),  # type: ignore[valid-type]
    )
    return SuiteClasses(environment, verifier, case, suite)


def _environment() -> type[model.Environment]:
    """Return the class of environments; keys of kinds come before all others."""
    keys: dict[str, Any] = {
        name: (dict[Name, kind.model], Field(default_factory=dict))  # type: ignore[name-defined]
        for name, kind in part_kinds().items()
    }
    parts = create_model("EnvironmentParts", __base__=Strict, **keys)
    bases: Any = (model.Environment, parts)  # fields of the last one come first
    environment: type[model.Environment] = create_model(
        "Environment",
        __base__=bases,
        __doc__=model.Environment.__doc__,
        __module__=__name__,
    )
    return environment
