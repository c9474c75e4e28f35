"""Host programs show the same with and without tracegrade, and their spans land or are counted."""

import re
from typing import Any

import pytest

from .program import Program, programs
from .pythons import Pythons
from .running import Outcome, run_all
from .table import PAGE, lines, named


def _groups() -> list[Any]:
    """Return all quick programs together, the slow ones by folder, and those that cannot run."""
    everything = programs()
    pythons = Pythons(everything)
    able = [each for each in everything if pythons.of(each) and not each.known]
    groups = [pytest.param([each for each in able if not each.is_slow], id="quick")]
    for folder in sorted({each.folder for each in able if each.is_slow}):
        slow = [each for each in able if each.is_slow and each.folder == folder]
        groups.append(pytest.param(slow, id=folder, marks=pytest.mark.slow))
    for each in everything:
        if each not in able:
            skip = pytest.mark.skip(reason=each.known or pythons.why_not(each))
            groups.append(pytest.param([each], id=str(each), marks=[pytest.mark.slow, skip]))
    return groups


@pytest.mark.parametrize("hosts", _groups())
def test_a_host_program_shows_the_same_with_tracegrade(hosts: list[Program]) -> None:
    """Output, exit and exceptions are the same, byte for byte; no span is lost in silence."""
    outcomes = run_all(hosts)

    assert all(each.is_same for each in outcomes), "\n".join(lines(outcomes))


TELLS = """
import sys
from tg import t
t.init()
print(t.__name__)
print(t.__name__, file=sys.stderr)
with t.agent_run("a"):
    sys.exit(len(t.__name__))
"""
SAYS = "\nfrom tg import t\nt.init()\nt.tool({})\n"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Programs that differ, or say something, by name."""
    folder = tmp_path_factory.mktemp("programs")
    texts = {
        "tells": ('"""Tells.\n\nspans: 2\n"""', TELLS),
        "silent": ('"""Says.\n\nspans: 0\n"""', SAYS.format(3)),
        "declared": ('"""Says.\n\nspans: 0\nsays: cannot be called\n"""', SAYS.format(3)),
        "idle": ("# Says.\n# spans: 0\n# says: no such line", SAYS.format("print")),
    }
    for name, (head, text) in texts.items():
        (folder / f"{name}.py").write_text(head + text)
    return {str(each.program): each for each in run_all(programs(folder))}


def test_what_differs_is_seen(compared: dict[str, Outcome]) -> None:
    """A host that tells tracegrade from its stand-in differs in all that is compared."""
    assert compared["tells"].differences == (
        "exit 8, with it 10",
        "stdout: line 1 is 'stand_in', with it 'tracegrade'",
        "stderr: line 1 is 'stand_in', with it 'tracegrade'",
        "1 spans landed and 0 lost of 2",
    )


def test_what_is_said_on_purpose_is_declared_and_said(compared: dict[str, Outcome]) -> None:
    """A line of ours on stderr is a difference unless declared; a declared one has to come."""
    (seen,) = compared["silent"].differences
    assert seen.startswith("stderr: line 1 is '(end)', with it 'tracegrade: a int cannot")
    assert compared["declared"].is_same
    assert compared["idle"].differences == ("stderr: does not say 'no such line'",)


@pytest.mark.parametrize("program", programs(), ids=str)
def test_a_program_says_what_it_is_about(program: Program) -> None:
    """Its docstring says that, and how many spans it makes."""
    assert program.about
    assert program.expected is not None


def test_the_documentation_shows_them_all() -> None:
    """Its table has a row for each program; `python -m tests.hosts --write` updates it."""
    rows = [line for line in PAGE.read_text().splitlines() if re.match(r"\| `\w+/\w+` \|", line)]

    assert len(rows) == len(programs())
    for row, program in zip(rows, programs(), strict=True):
        assert row.startswith(named(program))


def test_names_are_told_apart() -> None:
    """A program's name identifies it in all folders."""
    names = [str(each) for each in programs()]

    assert len(names) == len({*names})
