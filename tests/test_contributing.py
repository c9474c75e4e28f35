"""The examples of CONTRIBUTING.md work as they stand there, added to a copy of the packages."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from typing import NamedTuple

import pytest

from .citations import ROOT
from .headers import header, relations_read

GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PACKAGES = (
    *("instrumentation/tracegrade", "collector/tracegrade_lake", "collector/tracegrade_collector"),
    *("queries/tracegrade_queries", "scoring/tracegrade_scoring"),
)
EXAMPLES = (
    *("Add a saved query", "Add a metric", "Add a kind of parts", "Add a command"),
    "Add an import format",
)
SESSION = """
import json, os, sys
from tests.commands import tracegrade
for folder, words in json.load(sys.stdin):
    os.chdir(folder)
    ended = tracegrade(*words)
    print(json.dumps([ended.returncode, ended.stdout, ended.stderr]))
"""
"""Runs commands one after another, each in its folder, in one process that imports once."""


class Block(NamedTuple):
    """A fenced block of the guide."""

    file: str | None
    """The file in backticks that the line above it ends with."""
    language: str
    text: str


def blocks(title: str) -> Iterator[Block]:
    """Yield the blocks below a heading."""
    section = re.split(rf"^## {title}$", GUIDE, flags=re.MULTILINE)[1].split("\n## ")[0]
    for match in re.finditer(r"(?:`([\w./]+)`:\n\n)?^```(\w*)\n(.*?)^```", section, _LINES):
        yield Block(*match.groups())


_LINES = re.MULTILINE | re.DOTALL


@pytest.mark.slow
def test_examples_work_as_they_stand_there(tmp_path: Path) -> None:
    """Their files make a copy of the packages do what their commands show."""
    copy = copied_packages(tmp_path / "copy")
    shown: dict[tuple[str, str], str] = {}
    for title in EXAMPLES:
        work = tmp_path / title
        work.mkdir()
        add(title, copy, work)
        (transcript,) = [block.text for block in blocks(title) if block.language == "console"]
        shown |= {(str(work), command): printed for command, printed in commands(transcript)}
    for project in copy.rglob("pyproject.toml"):
        declare_entry_points(project, copy)

    printed = run([*shown], copy, tmp_path)
    assert {each: lines_of(text, shown[each]) for each, text in printed.items()} == shown


def lines_of(printed: str, shown: str) -> str:
    """Return what is printed; of what tells of the machine and of a run, the lines shown."""
    lines = printed.splitlines(keepends=True)
    return "".join(line for line in lines if line in shown or not _OF_A_RUN.match(line))


_OF_A_RUN = re.compile("run: |sandbox[ :]|agent |results: |report: ")


@pytest.mark.parametrize("title", EXAMPLES)
def test_queries_of_examples_have_true_headers(title: str) -> None:
    """They name what is read, as those of the project do."""
    for block in blocks(title):
        if block.language == "sql":
            assert header(block.text).reads == relations_read(block.text)


def test_change_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """An example goes stale as soon as the lines around its change are others."""
    file = tmp_path / "a.py"
    file.write_text("one = 1\ntwo = 2\n")

    patch(file, " one = 1\n+more = 3\n")
    assert file.read_text() == "one = 1\nmore = 3\ntwo = 2\n"
    with pytest.raises(AssertionError, match="four = 4"):
        patch(file, " four = 4\n+five = 5\n")


def copied_packages(folder: Path) -> Path:
    """Return a folder with a copy of every package, and of what declares their commands."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def add(title: str, copy: Path, work: Path) -> None:
    """Add an example's files to the packages, and what its commands read to their folder."""
    for block in (*blocks("The run of the examples"), *blocks(title)):
        if block.language == "diff":
            assert block.file
            patch(copy / block.file, block.text)
        elif block.file:
            path = copy / block.file if "/" in block.file else work / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")


def patch(file: Path, change: str) -> None:
    """Make the changes of a diff without line numbers; each must fit at exactly one place."""
    text = file.read_text("utf-8")
    for hunk in change.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        after = "".join(line[1:] for line in lines if line[0] != "-")
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    file.write_text(text, "utf-8")


def declare_entry_points(file: Path, copy: Path) -> None:
    """Make what a pyproject.toml is of a distribution with its entry points."""
    project = tomllib.loads(file.read_text("utf-8"))["project"]
    folder = copy / "entry_points" / f"{project['name']}-{project['version']}.dist-info"
    folder.mkdir(parents=True)
    facts = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (folder / "METADATA").write_text(facts)
    groups = ConfigParser(delimiters=("=",))
    groups.read_dict(project["entry-points"])
    with (folder / "entry_points.txt").open("w") as text:
        groups.write(text)


def commands(transcript: str) -> Iterator[tuple[str, str]]:
    """Yield each command, and what it prints."""
    for part in re.split(r"^\$ ", transcript, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def run(shown: list[tuple[str, str]], copy: Path, work: Path) -> dict[tuple[str, str], str]:
    """Return what commands print with the code of the copy, by their folder and text."""
    folders = {"entry_points", *(package.split("/")[0] for package in PACKAGES)}
    others = {project.parent for project in copy.rglob("pyproject.toml")} - {copy}
    ours = [copy / folder for folder in sorted(folders)]
    paths = [*map(str, [*ours, *sorted(others)]), *sys.path]
    called = [(folder, shlex.split(command)) for folder, command in shown]
    assert {name for _, (name, *_) in called} == {"tracegrade"}
    agreed = {"run": ["--yes-as-root"]}  # the machine that tests may have no sandbox
    called = [(at, [*words, *agreed.get(words[2], [])]) for at, words in called]
    done = subprocess.run(
        [sys.executable, "-c", SESSION],
        input=json.dumps([(folder, words) for folder, (_, *words) in called]),
        cwd=work,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(code, errors) for code, _, errors in ended if code] == []
    return {
        each: printed + (errors if each[1].startswith("tracegrade harness") else "")
        for each, (_, printed, errors) in zip(shown, ended, strict=True)
    }
