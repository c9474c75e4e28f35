"""Folders of files as a kind of parts."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from tracegrade_harness.parts.files.model import Files, FilesVerifier
from tracegrade_harness.parts.files.overlay import why_not
from tracegrade_harness.parts.files.part import FilesLocation, FilesPart
from tracegrade_harness.parts.files.verify import verify_files
from tracegrade_harness.parts.kind import Around, MadePart, PartKind
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.suite import paths
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.sources import check_source
from tracegrade_harness.suite.suite_position import At
from tracegrade_harness.suite.values import check_value, check_values_at
from tracegrade_queries.files.yaml_source import Problem


class FilesKind(PartKind):
    """Folders of files, whose objects are files and folders."""

    name = "files"
    rank = 10
    model = Files
    verifier = FilesVerifier
    placed = "folder"

    def check(self, at: At, declared: Files, around: ReadableEnvironment) -> Iterator[Problem]:
        """Yield problems of the initial folder."""
        yield from check_source(at.source, at.folder, at.below("from"), declared.from_, "folder")

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
        location = FilesLocation(name, at, declared.path_env, tuple(declared.ignore), leave_out)
        source = (around.suite_folder / declared.from_).resolve()
        key = (str(at), location.ignore, tuple(sorted(leave_out)))
        return MadePart(FilesPart(location, source, overlay=declared.overlay), key)

    def verify(self, verifier: FilesVerifier, context: Context) -> Finding:
        """Return whether files are as expected."""
        return verify_files(verifier, context)

    def verifier_answers(self, verifier: FilesVerifier, folder: Path) -> Iterator[str]:
        """Yield the folder for comparison."""
        if verifier.expect is not None:
            yield verifier.expect


def _others_below(folder: PurePosixPath, around: Around) -> frozenset[str]:
    return frozenset(
        str(path.relative_to(folder))
        for at in around.placed.values()
        for path in at
        if path != folder and path.is_relative_to(folder)
    )
