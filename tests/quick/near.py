"""Which test files are near a file, by where they stand and by what they import.

Test folders mirror those of the packages: tests of `queries/tracegrade_queries/engine` stand in
`tests/queries/engine`. Imports alone would not do: SQL has none, nor has a program that a test
starts, and what every test imports is near none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import Final, NamedTuple

import grimp
from tests.citations import ROOT
from tests.costs import suite_files

from docgen.relations import PACKAGES as RELATIONS

FOLDERS: Final[Mapping[str, str]] = {
    "collector/tracegrade_collector": "collector",
    "collector/tracegrade_lake": "lake",
    "explorer/tracegrade_explorer": "explorer",
    "harness/tracegrade_harness": "harness",
    "instrumentation/tracegrade": "instrumentation",
    "queries/tracegrade_queries": "queries",
    "scoring/tracegrade_judges": "judges",
    "scoring/tracegrade_scale": "scale",
    "scoring/tracegrade_scoring": "scoring",
    "scoring/tracegrade_testing": "testing",
    "scoring/tracegrade_send": "send",
    "scoring/tracegrade_watch": "watch",
    "scoring/tracegrade_ci": "ci",
    "demo": "demo",
}
"""The folder below `tests` that mirrors each package."""


class Near(NamedTuple):
    """A test file, and how near it is; the nearest are chosen first."""

    distance: int
    file: str


BY_NAME: Final = 0
"""It changed itself, or bears the name of what changed."""
BY_FOLDER: Final = 1
"""It stands in the folder that mirrors the one of what changed."""
BY_IMPORT: Final = 2
"""It imports what changed, or stands in the folder that mirrors a query reading what changed."""


def near(file: str) -> Iterator[Near]:
    """Yield the test files near a file of the project; one may come several times."""
    if file.startswith("tests/"):
        yield from _near_test(file)
    elif package := package_of(file):
        yield from _near_product(file, package)
    yield from (Near(BY_IMPORT, test) for test in _importers(file))


def package_of(file: str) -> str | None:
    """Return the package that a file belongs to, by its folder; None if it is of no package."""
    return next((folder for folder in FOLDERS if file.startswith(f"{folder}/")), None)


def _near_test(file: str) -> Iterator[Near]:
    """Yield a test file itself; for anything else, the tests of its folder or of one around it."""
    if file in suite_files():
        yield Near(BY_NAME, file)
        return
    for folder in PurePosixPath(file).parents:
        if str(folder) == "tests":
            return
        if found := _below(str(folder)):
            yield from (Near(BY_FOLDER, test) for test in found)
            return


def _near_product(file: str, package: str) -> Iterator[Near]:
    stem = re.escape(PurePosixPath(file).stem)
    for test in _room(file, package):
        named = re.search(rf"/test_{stem}(_\w+)?\.py$", test)
        yield Near(BY_NAME if named else BY_FOLDER, test)
    for reader in _readers(file):
        if of_reader := package_of(reader):
            yield from (Near(BY_IMPORT, test) for test in _room(reader, of_reader))


def _room(file: str, package: str) -> Sequence[str]:
    """Return the tests of the deepest folder that mirrors the one of a file.

    Where none does, these are the tests beside the mirrored folders, and none of those in them.
    """
    top = f"tests/{FOLDERS[package]}"
    inner = PurePosixPath(file).relative_to(package).parent
    for folder in (inner, *inner.parents):
        if str(folder) == ".":
            break
        if found := _below(f"{top}/{folder}"):
            return found
    return [test for test in _below(top) if test.count("/") == top.count("/") + 1]


def _below(folder: str) -> list[str]:
    return [test for test in suite_files() if test.startswith(f"{folder}/")]


def _importers(file: str) -> Iterator[str]:
    """Yield the test files that import a module."""
    path = PurePosixPath(file)
    if path.suffix != ".py":
        return
    package = package_of(file)
    inner = path.relative_to(PurePosixPath(package).parent) if package else path
    module = ".".join(inner.with_suffix("").parts).removesuffix(".__init__")
    graph = _graph()
    if module not in graph.modules:
        return
    tests = {*suite_files()}
    for importer in graph.find_modules_that_directly_import(module):
        if (test := f"{importer.replace('.', '/')}.py") in tests:
            yield test


@cache
def _graph() -> grimp.ImportGraph:
    packages = (folder.rpartition("/")[2] for folder in FOLDERS)
    return grimp.build_graph("tests", "docgen", *packages, cache_dir=None)


def _readers(file: str) -> Iterator[str]:
    """Yield the files that read a relation which a file makes."""
    for package in RELATIONS.values():
        made = {
            relation.name
            for relation in package.relations
            if str(relation.path.relative_to(ROOT)) == file
        }
        for reading in RELATIONS.values():
            for relation in reading.relations:
                if relation.reads & made:
                    yield str(relation.path.relative_to(ROOT))
