"""The house stays easy to find one's way in: one class for a name, short files, small folders."""

import ast
import re
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
    "scoring/tracegrade_testing",
    "scoring/tracegrade_send",
    "scoring/tracegrade_watch",
    "scoring/tracegrade_ci",
)
FOLDERS = (*PACKAGES, "demo", "docgen", "tests")
MAX_LINES = 500
MAX_FILES = 30
CAPITALIZED = re.compile("[A-Z][a-z]+(?:[A-Z][a-z]+)*")
RETIRED = ROOT / "tests" / "wording" / "retired_names.txt"
RETIRED_WORDS = {
    *("door", "doors", "told", "said", "heard", "spoken", "asked", "kept", "held", "wanted"),
    *("tried", "ran", "died", "missed", "gone", "still", "shelf", "shown", "ground", "setting"),
    *("entrances", "orders", "lot", "glance", "look", "place", "places"),
}
"""Words that no definition in the harness has in its name: each says too little of what it is."""
WITH_RETIRED_WORDS = {"held", "held_by_rule", "held_names", "KillPointMissed", "_StillChanging"}
"""Names that have one: what suites, kinds of parts and the lake call held, and two outcomes."""

SHARED_NAMES = {
    "Agent",
    "Attributes",
    "Criterion",
    "Effect",
    "Evidence",
    "Files",
    "Floats",
    "FoundRuns",
    "Items",
    "JobsOption",
    "Json",
    "JsonPath",
    "Kind",
    "LakeOption",
    "LakePath",
    "MaxUsdOption",
    "Name",
    "Note",
    "Numbers",
    "Outcome",
    "Page",
    "Pairs",
    "Part",
    "Piece",
    "PlanStep",
    "Point",
    "Positions",
    "Progress",
    "Reason",
    "Record",
    "Row",
    "Rows",
    "Rule",
    "Rules",
    "Run",
    "Side",
    "State",
    "Step",
    "TaskAxes",
    "TaskChange",
    "TrialsOption",
}
"""Public names of classes and aliases that stand for several things: only fewer from here on."""

LONG_FILES: set[str] = set()
"""Files that are longer than `MAX_LINES`."""


def files(folder: str) -> Iterator[Path]:
    """Yield the Python and SQL files of a folder."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in (".py", ".sql"):
            yield path


def public_types(path: Path) -> Iterator[str]:
    """Yield the names of the public classes and aliases of types that a module defines."""
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name=name):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.BinOp()):
                if not CAPITALIZED.fullmatch(name):
                    continue
            case _:
                continue
        if not name.startswith("_"):
            yield name


def test_a_public_type_name_stands_for_one_thing() -> None:
    """Nobody has to ask which `Source` or `Row` is meant."""
    places = defaultdict(list)
    for package in PACKAGES:
        for path in files(package):
            if path.suffix == ".py":
                for name in public_types(path):
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


def names_in_use(path: Path) -> Iterator[str]:
    """Yield the names that a file gives: to itself, and to what it defines."""
    yield path.stem
    text = path.read_text("utf-8")
    if path.suffix == ".sql":
        yield from re.findall(r"\bAS\s+(?!MATERIALIZED\b)(\w+)", text)
        yield from re.findall(r"\b(\w+)\s+AS(?:\s+NOT)?(?:\s+MATERIALIZED)?\s+\(", text)
        yield from re.findall(r"\bLAMBDA (\w+)", text)
        for name, parameters in re.findall(r"\bMACRO (\w+)\(([^)]*)\)", text):
            yield from (name, *parameters.lower().split(", "))
        return
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case _:
                pass


def test_no_retired_name_is_given_again() -> None:
    """What was renamed has one name, in Python and in SQL."""
    lines = RETIRED.read_text("utf-8").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    retired = {name for name, *rest in words if rest[0] != "sql:"}
    retired_in_sql = retired | {name for name, *_ in words}
    given = {
        f"{path.relative_to(ROOT)}: {name}"
        for package in PACKAGES
        for path in files(package)
        for name in names_in_use(path)
        if name in (retired_in_sql if path.suffix == ".sql" else retired)
    }

    assert given == set()


def definitions(path: Path) -> Iterator[str]:
    """Yield the names of a module, its classes, functions, parameters, fields and attributes."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.ClassDef(name=name, body=body):
                yield name
                for part in body:
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        yield part.target.id
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case _:
                pass


def test_the_harness_says_what_things_are() -> None:
    """A name with one of these words makes its reader ask by whom, to whom or of what."""
    given = {
        name
        for path in files("harness/tracegrade_harness")
        if path.suffix == ".py"
        for name in definitions(path)
        for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)
        if word.lower() in RETIRED_WORDS
    }

    assert given == WITH_RETIRED_WORDS
