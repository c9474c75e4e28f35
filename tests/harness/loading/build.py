"""Suites of a few lines, and what is wrong with them."""

from pathlib import Path
from textwrap import dedent

from tracegrade_harness.loading.load import LoadedSuite, load

START = """
version: 1
suite: s
agents:
  a: {command: [run]}
environments:
  e:
    files:
      data: {from: fixtures/uploads, at: data}
    sqlite:
      ledger: {from: fixtures/ledger.sql, at: ledger.db}
"""
"""Ten lines of a suite without a case."""

TASKS = """
version: 1
tools: {look: {effect: read}}
tasks: {clean-uploads: {}, pay: {}}
"""


def loaded(folder: Path, text: str) -> LoadedSuite:
    """Return what is loaded from a suite with this text."""
    file = folder / "suite.yaml"
    file.write_text(dedent(text).lstrip())
    return load(file)


def found(folder: Path, text: str) -> list[str]:
    """Return the problems of a suite with this text as `line: fact; way out`."""
    return [str(problem).split("suite.yaml:", 1)[-1] for problem in loaded(folder, text).problems]


def with_agent(text: str) -> str:
    """Return a suite whose only agent stands on line 4, with its keys from line 5 on."""
    start = "version: 1\nsuite: s\nagents:\n  a:\n"
    return f"{start}{indented(text, 4)}\nenvironments: {{}}\ncases: {{}}"


def with_environment(text: str) -> str:
    """Return a suite whose only environment has its keys from line 6 on."""
    start = "version: 1\nsuite: s\nagents: {}\nenvironments:\n  e:\n"
    return f"{start}{indented(text, 4)}\ncases: {{}}"


def with_verifier(text: str) -> str:
    """Return a suite whose only verifier has its keys from line 16 on."""
    start = "cases:\n  c:\n    agent: a\n    environment: e\n    verify:\n"
    return f"{START.lstrip()}{start}    - {indented(text, 6).lstrip()}"


def indented(text: str, blanks: int) -> str:
    """Return a text with each line moved to the right."""
    return "\n".join(" " * blanks + line for line in text.splitlines())


def fill(folder: Path) -> Path:
    """Put all that suites name here into a folder, and return it."""
    for name in ("fixtures/uploads", "fixtures/expected", "checks"):
        (folder / name).mkdir(parents=True)
    for name in ("fixtures/ledger.sql", "checks/verify.py"):
        (folder / name).touch()
    (folder / "RUNBOOK.yaml").write_text("[]")
    (folder / "tasks.yaml").write_text(TASKS)
    return folder
