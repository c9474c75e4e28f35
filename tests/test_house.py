"""The house stays easy to find one's way in: one class for a name, short files, small folders."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from .citations import ROOT

PACKAGES = (
    "collector/tracegrade_collector",
    "collector/tracegrade_lake",
    "explorer/tracegrade_explorer",
    "harness/tracegrade_harness",
    "instrumentation/tracegrade",
    "queries/tracegrade_queries",
    "scoring/tracegrade_judges",
    "scoring/tracegrade_scale",
    "scoring/tracegrade_scoring",
)
FOLDERS = (*PACKAGES, "demo", "docs", "tests")
MAX_LINES = 500
MAX_FILES = 30

SHARED_NAMES: set[str] = set()
"""Public class names that stand for more than one thing."""

LONG_FILES: set[str] = set()
"""Files that are longer than `MAX_LINES`."""


def files(folder: str) -> Iterator[Path]:
    """Yield the Python and SQL files of a folder."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in (".py", ".sql"):
            yield path


def public_classes(path: Path) -> Iterator[str]:
    """Yield the names of the public classes that a module defines."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def test_a_public_class_name_stands_for_one_thing() -> None:
    """Nobody has to ask which `Source` or `Place` is meant."""
    places = defaultdict(list)
    for package in PACKAGES:
        for path in files(package):
            if path.suffix == ".py":
                for name in public_classes(path):
                    places[name].append(str(path.relative_to(ROOT)))

    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1}.keys() == SHARED_NAMES


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_is_long(folder: str) -> None:
    """A file that grows beyond 500 lines has more than one subject, of tests as of code."""
    long = {
        str(path.relative_to(ROOT))
        for path in files(folder)
        if len(path.read_text().splitlines()) > MAX_LINES
    }

    assert long == {name for name in LONG_FILES if name.startswith(f"{folder}/")}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_folder_is_crowded(folder: str) -> None:
    """In a folder one sees at a glance what there is."""
    counts = Counter(str(path.parent.relative_to(ROOT)) for path in files(folder))

    assert {folder: count for folder, count in counts.items() if count > MAX_FILES} == {}
