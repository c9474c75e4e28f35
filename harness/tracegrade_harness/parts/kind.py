"""The interface of a kind of parts: its suite keys, its parts, and its verifier.

A part is an entry of an environment under the kind's key. Each trial finds it restored, and the
harness sees all changes that an agent makes in it. A kind may add a verifier, or be a verifier
alone. Packages add kinds by entry points of the group `tracegrade.parts`; CONTRIBUTING.md has an
example.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal, NamedTuple

from tracegrade_harness.images.world import ImageTemplate
from tracegrade_harness.parts.part import Part
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.suite.model import Environment
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.strict import Strict
from tracegrade_harness.suite.suite_position import At
from tracegrade_queries.files.yaml_source import Problem


class Around(NamedTuple):
    """The surroundings in which a part is made."""

    suite_folder: Path
    """Absolute and without links; paths of sources are relative to it."""
    environment: Environment
    placed: Mapping[str, Sequence[PurePosixPath]]
    """The parts in the trial's folder, by kind and name, such as `files:data`. The first path is
    the part's own; files that are written next to it follow."""
    image: ImageTemplate | None = None
    """The environment's image, which is unpacked before parts are frozen."""


class MadePart(NamedTuple):
    """A part, and its identity."""

    part: Part
    key: tuple[object, ...] = ()
    """Distinguishes its template from others of the same kind, name and source."""
    uses: tuple[str, ...] | None = None
    """Parts that it needs to show anything, by kind and name; None if it needs no others."""


class PartKind:
    """A kind of parts and its verifier; a subclass has only the features that it defines."""

    name: ClassVar[str]
    """Key in an environment, and prefix of the names of its objects."""
    rank: ClassVar[int] = 100
    """Parts of a lower rank are made first, and checked first."""
    model: ClassVar[type[Strict] | None] = None
    """The value under each name; None if the kind is a verifier alone."""
    verifier: ClassVar[type[Strict] | None] = None
    verifier_key: ClassVar[str] = ""
    """The key of its verifier, which names a part; the kind's name if empty."""
    placed: ClassVar[Literal["folder", "file"] | None] = None
    """The form of a part at its key `at` in the trial's folder; None for a service with a URL."""
    collection: ClassVar[str | None] = None
    """Regular expression for the names of objects of one collection, after `KIND:PART/`: `[^/]+/`
    for rows of a table. None if patterns may not name changed objects of the kind."""
    speaks_http: ClassVar[bool] = False
    """Its requests can be seen by a proxy, which gets its URL's variable `url_env`."""

    def check(self, at: At, declared: Any, around: ReadableEnvironment) -> Iterator[Problem]:
        """Yield problems of a part beyond its shape.

        Args:
            at: Its position in the suite.
            declared: The part, an object of `model`.
            around: The environment.
        """
        yield from ()

    def check_verifier(
        self, at: At, verifier: Any, around: ReadableEnvironment | None
    ) -> Iterator[Problem]:
        """Yield problems of a verifier beyond its shape and the part that it names.

        Args:
            at: Its position in the suite.
            verifier: The verifier, an object of `verifier`.
            around: The environment of its case; None if not known.
        """
        yield from ()

    def missing(self, declared: Mapping[str, Any], folder: Path | None) -> str | None:
        """Return what this machine lacks for parts, and how to get it; None if nothing.

        Args:
            declared: At least one part, by name.
            folder: A folder on the file system of the trials' folders; None if there is none yet.
        """
        return None

    def part(self, name: str, declared: Any, around: Around) -> MadePart:
        """Return a part; each trial gets a copy of it.

        Raises:
            EnvironmentFailed: It cannot be made on this machine.
        """
        raise NotImplementedError

    def verify(self, verifier: Any, context: Context) -> Finding:
        """Return whether a verifier passes; it changes nothing.

        Raises:
            EnvironmentFailed: The part does not answer.
            VerifierFailed: The verifier cannot judge.
        """
        raise NotImplementedError

    def companions(self, at: PurePosixPath) -> list[PurePosixPath]:
        """Return the paths of files that are written next to a single-file part."""
        return []

    def outside_code(self, declared: Any) -> str | None:
        """Return the suite's code that runs outside of the sandbox, such as `app 'x'`, or None."""
        return None

    def confinement(self, declared: Any) -> str | None:
        """Return how an agent-controlled program is confined; None if there is no such program."""
        return None

    def answers(self, declared: Any) -> Iterator[str]:
        """Yield the sources of a part that would reveal expectations to an agent."""
        yield from ()

    def verifier_answers(self, verifier: Any, folder: Path) -> Iterator[str]:
        """Yield the files and folders that a verifier compares with or runs.

        Args:
            verifier: The verifier.
            folder: The suite's folder; yielded paths are relative to it, or absolute.
        """
        yield from ()

    def call_names(self, declared: Any, folder: Path) -> list[str]:
        """Return the tool names that calls to an HTTP service of this kind have.

        Raises:
            SuiteUnusable: A file in the suite's folder defines them and is wrong.
        """
        return []
