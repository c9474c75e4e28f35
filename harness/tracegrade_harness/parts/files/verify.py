"""Verifies a folder of files: its content, its changes, or one of its files."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.files.model import FilesVerifier
from tracegrade_harness.parts.globs import matcher
from tracegrade_harness.parts.names import path_text
from tracegrade_harness.parts.verifying import tree, value
from tracegrade_harness.parts.verifying.part_paths import path_of_part
from tracegrade_harness.parts.verifying.result import Context, Finding, listed, printable
from tracegrade_harness.suite import paths

MAX_FILE_BYTES: Final = 16 * 2**20
"""Largest file that is read as text or JSON; a longer one fails."""

_CHUNK_BYTES: Final = 2**20


def verify_files(verifier: FilesVerifier, context: Context) -> Finding:
    """Return whether a folder of files is as expected.

    If the agent's file cannot be read in the requested way, the verifier fails.

    Raises:
        VerifierFailed: A source of the suite is missing, or the part is too large.
    """
    at = path_of_part("files", verifier.files, context)
    if verifier.only_changed is not None:
        return _only_changed(verifier, verifier.only_changed, context)
    if verifier.expect is not None:
        return _expect(verifier, verifier.expect, at, context)
    try:
        return _file(verifier, f"{at}/{verifier.path}".removeprefix("./"), context)
    except tree.NotReadable as error:
        return Finding(False, str(error))


def _only_changed(verifier: FilesVerifier, globs: list[str], context: Context) -> Finding:
    prefix = f"files:{verifier.files}/"
    matchers = [matcher(glob) for glob in globs]
    changes = {
        name: what
        for what in ("added", "changed", "removed")
        for name in getattr(context, what)
        if name.startswith(prefix)
    }
    allowed = {
        name for name in changes if any(matches(name.removeprefix(prefix)) for matches in matchers)
    }
    allowed |= _made_for(name for name in allowed if changes[name] == "added") & context.added
    found = [f"{printable(name)} was {changes[name]}" for name in sorted(changes.keys() - allowed)]
    return Finding(not found, listed(found) if found else "nothing else changed")


def _made_for(names: Iterable[str]) -> set[str]:
    """Return the names of the folders around objects."""
    return {name[: i + 1] for name in names for i, mark in enumerate(name) if mark == "/"}


def _expect(verifier: FilesVerifier, expect: str, at: str, context: Context) -> Finding:
    """Compare content; modes, times and the folders themselves are not compared."""
    expected_folder = paths.source(context.suite, expect)
    if not expected_folder.is_dir():
        msg = f"the folder '{expect}' does not exist; create it next to the suite"
        raise VerifierFailed(msg)
    is_covered = matcher(verifier.under)
    expected = _content(expected_folder, is_covered, set())
    if not expected:
        msg = f"'{expect}' has nothing under '{verifier.under}'; name paths that it has"
        raise VerifierFailed(msg)
    try:
        left = _content(tree.folder(context.root, at), is_covered, _of_others(at, context))
    except tree.NotReadable as error:
        return Finding(False, str(error))
    found = list(_differences(expected_folder, expected, context.root / at, left))
    return Finding(not found, listed(found) if found else f"{len(expected)} paths are as expected")


def _content(
    folder: Path, is_covered: Callable[[str], bool], others: set[str]
) -> dict[str, tree.TreeFile]:
    """Return the compared content of a folder; an unreadable folder could hold anything."""
    return {
        path: each
        for path, each in tree.walk(folder)
        if each.kind == "unreadable path"
        or (each.kind != "folder" and path not in others and is_covered(path_text(path)))
    }


def _of_others(at: str, context: Context) -> set[str]:
    """Return the paths in a folder that are parts of their own."""
    folder = PurePosixPath(at)
    files = (PurePosixPath(each) for some in context.single_files.values() for each in some)
    return {str(file.relative_to(folder)) for file in files if file.is_relative_to(folder)}


def _differences(
    expected_folder: Path,
    expected: dict[str, tree.TreeFile],
    folder: Path,
    left: dict[str, tree.TreeFile],
) -> Iterator[str]:
    for path in sorted(expected.keys() | left.keys()):
        name, at_source, found = printable(path), expected.get(path), left.get(path)
        if found is None:
            yield f"{name} is missing"
        elif at_source is None:
            yield f"{name} is not expected ({found.kind})"
        elif found.kind != at_source.kind:
            yield f"{name} is a {found.kind}, expected a {at_source.kind}"
        elif found != at_source or not _same(expected_folder, folder, path, found):
            yield f"{name} differs"


def _same(expected: Path, folder: Path, path: str, found: tree.TreeFile) -> bool:
    """Return whether two files of equal size have the same content."""
    if found.kind != "file":
        return found.kind == "link"
    try:
        with tree.opened(expected, path) as source, tree.opened(folder, path) as left:
            while chunk := source.read(_CHUNK_BYTES):
                if chunk != left.read(_CHUNK_BYTES):
                    return False
            return not left.read(1)
    except tree.NotReadable:
        return False


def _file(verifier: FilesVerifier, path: str, context: Context) -> Finding:
    if verifier.json_ is None and "text" not in verifier.model_fields_set:
        with tree.opened(context.root, path):
            return Finding(True, f"'{verifier.path}' exists")
    text = _text(context.root, path)
    found = []
    if "text" in verifier.model_fields_set:
        found += _unlike("the text", value.canonical(text), verifier.text)
    if verifier.json_ is not None:
        json_text = value.json_of(text)
        if json_text is None:
            return Finding(False, f"'{verifier.path}' is not JSON, or nested too deeply")
        for json_path, expected in verifier.json_.items():
            found += _unlike(json_path, value.at(json_text, json_path), expected)
    return Finding(not found, listed(found) if found else f"'{verifier.path}' fits")


def _unlike(name: str, found: str | None, expected: object) -> list[str]:
    fits = value.fits(found, expected)
    return [] if fits else [f"{name} {value.difference(found, expected)}"]


def _text(root: Path, path: str) -> str:
    try:
        return tree.read(root, path, MAX_FILE_BYTES).decode()
    except UnicodeDecodeError as error:
        msg = f"'{printable(path)}' is not UTF-8 text"
        raise tree.NotReadable(msg) from error
