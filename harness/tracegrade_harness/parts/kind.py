"""The interface of a kind of parts: its suite keys, its parts, and its verifier.

A part is what an environment has under the kind's key: each trial finds it restored, and all that
an agent changes in it is seen. A kind may add a verifier, or be one alone. Packages add kinds by
entry points of the group `tracegrade.parts`; CONTRIBUTING.md has an example.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal, NamedTuple

from tracegrade_harness.parts.part import Part
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.suite.model import Environment
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.strict import Strict
from tracegrade_harness.suite.suite_position import At
from tracegrade_queries.files.yaml_source import Problem


class Around(NamedTuple):
    """What a part is made among."""

    suite_folder: Path
    """Absolute and without links; sources stand beside the suite."""
    environment: Environment
    placed: Mapping[str, Sequence[PurePosixPath]]
    """The parts that stand in the trial's folder, by kind and name such as `files:data`: the path
    of each, then those of files that are written beside it."""


class MadePart(NamedTuple):
    """A part, and what tells it from others."""

    part: Part
    key: tuple[object, ...] = ()
    """Tells its template from others of the same kind, name and source."""
    uses: tuple[str, ...] | None = None
    """Parts without which it shows nothing, by kind and name; None: it needs no others."""


class PartKind:
    """A kind of parts, with its verifier; what a subclass does not say, it does not have."""

    name: ClassVar[str]
    """Key in an environment, and what the names of its objects begin with."""
    rank: ClassVar[int] = 100
    """Parts of a lower rank are made first, and checked first."""
    model: ClassVar[type[Strict] | None] = None
    """What stands under each name; None: the kind is a verifier alone."""
    verifier: ClassVar[type[Strict] | None] = None
    verifier_key: ClassVar[str] = ""
    """The key by which a verifier is known, which names a part; without it, the kind's name."""
    placed: ClassVar[Literal["folder", "file"] | None] = None
    """Stands at its key `at` in the trial's folder; None: a service, which a URL leads to."""
    collection: ClassVar[str | None] = None
    """What the names of objects of one collection begin with, behind `KIND:PART/`, as a regular
    expression: `[^/]+/` of rows of a table. None: patterns name no changed objects of the kind."""
    speaks_http: ClassVar[bool] = False
    """Its requests can be seen by a proxy, which gets its URL's variable `url_env`."""

    def check(self, at: At, declared: Any, around: ReadableEnvironment) -> Iterator[Problem]:
        """Yield what is wrong with a part beyond its shape.

        Args:
            at: Where it stands in the suite.
            declared: The part, an object of `model`.
            around: The environment.
        """
        yield from ()

    def check_verifier(
        self, at: At, verifier: Any, around: ReadableEnvironment | None
    ) -> Iterator[Problem]:
        """Yield what is wrong with a verifier beyond its shape and the part that it names.

        Args:
            at: Where it stands in the suite.
            verifier: The verifier, an object of `verifier`.
            around: The environment of its case; None if not known.
        """
        yield from ()

    def missing(self, declared: Mapping[str, Any], folder: Path | None) -> str | None:
        """Return what this machine lacks for parts, and how to get it; None if nothing.

        Args:
            declared: At least one part, by name.
            folder: One on the file system of the trials' folders; None if there is none yet.
        """
        return None

    def part(self, name: str, declared: Any, around: Around) -> MadePart:
        """Return a part, from which each trial gets its copy.

        Raises:
            EnvironmentFailed: It cannot be made on this machine.
        """
        raise NotImplementedError

    def verify(self, verifier: Any, context: Context) -> Finding:
        """Return whether what a verifier asks holds; it changes nothing.

        Raises:
            EnvironmentFailed: The part does not answer.
            VerifierFailed: Nobody can tell.
        """
        raise NotImplementedError

    def companions(self, at: PurePosixPath) -> list[PurePosixPath]:
        """Return the paths of the files that are written beside a part that is a file."""
        return []

    def outside_code(self, declared: Any) -> str | None:
        """Return the suite's code that runs outside of the sandbox, such as `app 'x'`, or None."""
        return None

    def confinement(self, declared: Any) -> str | None:
        """Return what holds a program that an agent controls; None if there is no such program."""
        return None

    def answers(self, declared: Any) -> Iterator[str]:
        """Yield the sources of a part that would tell an agent what is expected of it."""
        yield from ()

    def verifier_answers(self, verifier: Any, folder: Path) -> Iterator[str]:
        """Yield the files and folders that a verifier compares with or runs.

        Args:
            verifier: The verifier.
            folder: The suite's folder; what is yielded is relative to it, or absolute.
        """
        yield from ()

    def call_names(self, declared: Any, folder: Path) -> list[str]:
        """Return what requests of a service that speaks HTTP are called as calls of tools.

        Raises:
            SuiteUnusable: A file beside the suite, in this folder, has them and is wrong.
        """
        return []
