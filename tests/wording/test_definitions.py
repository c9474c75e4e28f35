"""What code defines is named by what it is, not by who told, asked, kept or wanted it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.citations import ROOT

PACKAGES = (
    "collector/tracegrade_collector",
    "collector/tracegrade_lake",
    "explorer/tracegrade_explorer",
    "instrumentation/tracegrade",
    "queries/tracegrade_queries",
    "scoring/tracegrade_judges",
    "scoring/tracegrade_scale",
    "scoring/tracegrade_testing",
    "scoring/tracegrade_send",
    "scoring/tracegrade_watch",
    "scoring/tracegrade_ci",
)
RETIRED = {
    *("door", "doors", "told", "said", "heard", "spoken", "asked", "kept", "held", "wanted"),
    *("tried", "ran", "died", "missed", "gone", "still", "shelf", "shown", "ground", "setting"),
    *("entrances", "orders", "lot", "glance", "look", "place"),
}
"""Words that say too little of what bears them: by whom, to whom, of what."""

EXCEPTIONS = {
    "collector/tracegrade_collector/rows/attributes.py: place": "a column of a lake",
    "collector/tracegrade_lake/maintenance/expiry.py: kept_apart_removed": "a key of `--json`",
    "instrumentation/tracegrade/names.py: IMPORT_PLACE": "named as its span attribute",
    "scoring/tracegrade_judges/twins/copies.py: place": "a column of `judge_twins`",
    "scoring/tracegrade_judges/twins/flips.py: place": "a column of `judge_flip_rates`",
}
"""Definitions that have such a word since something outside the code has it, and what that is."""


def definitions(path: Path) -> Iterator[str]:
    """Yield the names that a module gives: its own, and those of all but local variables in it."""
    yield path.stem
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name, body=body):
                yield name
                yield from _assigned(body)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case _:
                pass
    yield from _assigned(tree.body)


def _assigned(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                yield from (each.id for each in targets if isinstance(each, ast.Name))
            case _:
                pass


def words_of(name: str) -> set[str]:
    """Return the words of a name in lower case, however it joins them."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def test_no_definition_has_a_retired_word() -> None:
    """A reader of a name need not ask who told it; what outside code calls so is listed."""
    given = {
        f"{path.relative_to(ROOT)}: {name}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for name in definitions(path)
        if words_of(name) & RETIRED
    }

    assert given == EXCEPTIONS.keys()


def test_names_of_all_kinds_are_seen(tmp_path: Path) -> None:
    """Modules, classes, functions, parameters, fields, attributes and constants count."""
    module = tmp_path / "kept.py"
    module.write_text(
        "KEPT_BYTES = 1\n\nclass ToldOnce:\n    place: str\n\n    def _said(self, wanted):\n"
        "        self._heard = glance = lambda asked: asked\n"
    )
    found = {name for name in definitions(module) if words_of(name) & RETIRED}

    assert found == {
        *("kept", "KEPT_BYTES", "ToldOnce", "place", "_said", "wanted", "_heard", "asked"),
    }
