"""What the documents say is true of the code."""

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "instrumentation": "tracegrade",
    "collector": "tracegrade_collector",
    "queries": "tracegrade_queries",
    "scoring": "tracegrade_scoring",
}
DOCUMENTS = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
)


@pytest.mark.parametrize("folder", PACKAGES)
def test_readme_names_every_module(folder: str) -> None:
    """A folder's README has each module of its package in its table of modules."""
    package = ROOT / folder / PACKAGES[folder]
    modules = {
        path.relative_to(package).parts[0].removesuffix(".py")
        for path in package.rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py")
    }
    readme = (ROOT / folder / "README.md").read_text()

    missing = sorted(name for name in modules if f"`{name}" not in readme)
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_documents_exist(document: Path) -> None:
    """Each `tracegrade …` and `make …` that a document shows is a real one."""
    text = document.read_text()
    commands = set(re.findall(r"(?:^|[`$|&(] ?)tracegrade ([a-z]+)\b", text, re.MULTILINE))
    targets = set(re.findall(r"(?:^|`)make ([a-z]+)\b", text, re.MULTILINE))

    assert commands <= set(entry_points(group="tracegrade.commands").names)
    assert targets <= set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_in_documents_lead_somewhere(document: Path) -> None:
    """Each relative link of a document names a file of the project."""
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", document.read_text())

    broken = [link for link in links if not (document.parent / link).exists()]
    assert broken == []


def test_saved_queries_are_listed() -> None:
    """The README of the queries lists each saved query."""
    readme = (ROOT / "queries" / "README.md").read_text()
    saved = sorted(path.stem for path in (ROOT / "queries").glob("*/saved/*.sql"))

    assert saved
    assert [name for name in saved if f"`{name}`" not in readme] == []
