"""Folders of files as a kind of parts."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.files.model import Files, FilesVerifier
from tracegrade_harness.parts.files.part import FilesLocation, FilesPart
from tracegrade_harness.parts.files.verify import verify_files
from tracegrade_harness.parts.kind import Around, MadePart, PartKind
from tracegrade_harness.parts.overlay import why_not
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.suite import paths
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.sources import check_source
from tracegrade_harness.suite.suite_position import At
from tracegrade_harness.suite.values import check_value, check_values_at
from tracegrade_queries.files.yaml_source import Problem

_NO_PARTS: Final = ((), ("proc",), ("dev",), ("sys",))


class FilesKind(PartKind):
    """Folders of files, whose objects are files and folders."""

    name = "files"
    rank = 10
    model = Files
    verifier = FilesVerifier
    placed = "folder"

    def check(self, at: At, declared: Files, around: ReadableEnvironment) -> Iterator[Problem]:
        """Yield problems of the initial folder, and of its path in the image."""
        if declared.from_ is not None:
            path = at.below("from")
            yield from check_source(at.source, at.folder, path, declared.from_, "folder")
        if declared.inside is not None:
            yield from _check_inside(at, declared.inside, around)

    def check_verifier(
        self, at: At, verifier: FilesVerifier, around: ReadableEnvironment | None
    ) -> Iterator[Problem]:
        """Yield problems of paths, values and the folder for comparison."""
        fault = paths.inside_fault(verifier.path) if verifier.path is not None else None
        if fault:
            fact = f"'{verifier.path}' {fault[0]}"
            yield at.problem("path", fact, "give it relative to the part, without '..'")
        yield from check_values_at(at.source, at.below("json"), verifier.json_)
        yield from check_value(at.source, at.below("text"), verifier.text)
        if verifier.expect is not None:
            path = at.below("expect")
            yield from check_source(at.source, at.folder, path, verifier.expect, "folder")

    def missing(self, declared: Mapping[str, Files], folder: Path | None) -> str | None:
        """Return why overlays cannot be mounted, if a part needs one."""
        overlays = any(part.overlay for part in declared.values())
        return why_not(folder) if overlays and folder is not None else None

    def part(self, name: str, declared: Files, around: Around) -> MadePart:
        """Return a folder, without the files that are parts of their own."""
        at, *_ = around.placed[f"{self.name}:{name}"]
        leave_out = _others_below(at, around)
        location = FilesLocation(
            name, at, declared.path_env, tuple(declared.ignore), leave_out, declared.inside
        )
        key = (str(at), location.ignore, tuple(sorted(leave_out)))
        source = partial(_source, declared, around)
        return MadePart(FilesPart(location, source, overlay=declared.overlay), key)

    def verify(self, verifier: FilesVerifier, context: Context) -> Finding:
        """Return whether files are as expected."""
        return verify_files(verifier, context)

    def verifier_answers(self, verifier: FilesVerifier, folder: Path) -> Iterator[str]:
        """Yield the folder for comparison."""
        if verifier.expect is not None:
            yield verifier.expect


def _check_inside(at: At, inside: str, around: ReadableEnvironment) -> Iterator[Problem]:
    """Yield problems of a path in the image."""
    here = PurePosixPath(inside)
    if ".." in here.parts or "\0" in inside or here.parts[1:2] in _NO_PARTS:
        fact = f"'{inside}' has '..' or a NUL character, or is the root or a folder of the kernel"
        yield at.problem("inside", fact, "name a folder of the image")
    if not around.has_image:
        fact = f"'{inside}' is in an image, and the environment has none"
        yield at.problem("inside", fact, "give the environment an image, or remove it")
    for (kind, name), other in around.parts.items():
        other_inside = getattr(other, "inside", None)
        is_other = (kind, name) != (FilesKind.name, at.path[-1])
        if is_other and other_inside and PurePosixPath(other_inside).is_relative_to(here):
            fact = f"'{inside}' overlaps with part '{name}'"
            yield at.problem("inside", fact, "name folders outside of each other")


def _source(declared: Files, around: Around) -> Path:
    """Return the folder that each trial gets as a copy.

    Raises:
        EnvironmentFailed: It is a folder of the image, which has none there.
    """
    if declared.from_ is not None:
        return (around.suite_folder / declared.from_).resolve()
    if around.image is None or declared.inside is None:
        msg = f"a folder at '{declared.at}' has no source; name a folder of the suite in 'from'"
        raise EnvironmentFailed(msg)
    return around.image.folder(declared.inside)


def _others_below(folder: PurePosixPath, around: Around) -> frozenset[str]:
    return frozenset(
        str(path.relative_to(folder))
        for at in around.placed.values()
        for path in at
        if path != folder and path.is_relative_to(folder)
    )
