"""`TRACEGRADE_TOOLS`: without it no module is loaded, with it the harness allows each tool."""

import os
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from tracegrade.tape import exceptions
from tracegrade.tape.plain_json import why_not_plain

CALL = """
import sys, tracegrade
tool = tracegrade.tool(lambda: print("ran"))
print("tracegrade.tape" in sys.modules)
tool()
"""


class Coded(Exception):
    """Has a code beside its text."""

    def __init__(self, code: int, cause: object) -> None:
        super().__init__(f"code {code}")
        self.code = code
        self.cause = cause


class Shy(Exception):
    """Says something else than its arguments."""

    def __init__(self, *, why: str) -> None:
        super().__init__()
        self._why = (why,)

    def __str__(self) -> str:
        return f"because {self._why[0]}"


def run(**environment: str) -> subprocess.CompletedProcess[str]:
    """Return what became of a program that calls one tool."""
    return subprocess.run(
        [sys.executable, "-c", CALL],
        env={**os.environ, "OTEL_TRACES_EXPORTER": "none", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("environment", [{}, {"TRACEGRADE_TOOLS": ""}])
def test_without_the_variable_the_tape_is_not_imported(environment: dict[str, str]) -> None:
    """So it can harm no program that no harness runs."""
    done = run(**environment)

    assert (done.returncode, done.stdout, done.stderr) == (0, "False\nran\n", "")


@pytest.mark.parametrize("address", ["/nowhere/tools", "x" * 200])
def test_a_tool_whose_tape_cannot_be_reached_does_not_run(address: str) -> None:
    """The program ends with one line, to avoid an unintended live call."""
    done = run(TRACEGRADE_TOOLS=address)

    assert (done.returncode, "ran" in done.stdout) == (75, False)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"tracegrade: the tape of tools at '{address}' cannot be reached: ")
    assert line.endswith("; start the harness, or unset TRACEGRADE_TOOLS")


@pytest.mark.parametrize(
    "value", [None, True, 1, -2.5, "é\n", [], {"a": [1, {"b": None}]}, 10**4000], ids=range(8)
)
def test_what_json_gives_back_can_be_on_a_tape(value: object) -> None:
    """At any depth."""
    assert why_not_plain(value) is None


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ((1, 2), "$ is a tuple"),
        ({"a": [b"x"]}, "$.a[0] is a bytes"),
        ({1: "x"}, "$ has a key that is not a text"),
        (OrderedDict(), "$ is a OrderedDict"),
        ([float("nan")], "$[0] is a value that JSON has not"),
        ("\ud800", "$ is a value that JSON has not"),
        (10**5000, "$ is a value that JSON has not"),
    ],
    ids=range(7),
)
def test_what_json_does_not_give_back_is_named(value: object, where: str) -> None:
    """With its place."""
    assert why_not_plain(value) == where


def test_a_value_that_holds_itself_is_nested_too_deeply() -> None:
    """Nothing hangs."""
    value: list[Any] = []
    value.append(value)

    assert why_not_plain(value) == "it is nested too deeply"


def raised(error: Exception) -> Exception:
    """Return an error as it comes from a tape."""
    return exceptions.from_json(exceptions.as_json(error))


@pytest.mark.parametrize(
    "error",
    [ValueError("no"), KeyError("x"), FileNotFoundError(2, "No such file", "a"), Coded(7, {})],
    ids=repr,
)
def test_an_error_is_raised_again_by_its_own_class(error: Exception) -> None:
    """With its text and arguments."""
    again = raised(error)

    assert isinstance(again, type(error))
    assert (str(again), again.args) == (str(error), error.args)


def test_attributes_that_are_json_are_kept() -> None:
    """Others are not there."""
    again = raised(Coded(7, cause=object()))

    assert isinstance(again, Coded)
    assert (again.code, hasattr(again, "cause")) == (7, False)


def test_an_error_says_what_it_said_though_its_own_way_of_saying_is_lost() -> None:
    """And is still of its class."""
    again = raised(Shy(why="of that"))

    assert isinstance(again, Shy)
    assert str(again) == "because of that"


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("no.such.module.Broken", "Broken"),
        ("subprocess.Popen", "Popen"),
        ("builtins.SystemExit", "SystemExit"),
        ("os.system", "system"),
        ("", "ReplayedError"),
        ("x.\x00'; import os", "ReplayedError"),
    ],
)
def test_a_class_that_is_no_loaded_error_is_not_looked_for(name: str, last: str) -> None:
    """A tape imports and runs nothing: its error has another class, of the same name."""
    modules = {*sys.modules}
    again = exceptions.from_json({"type": name, "message": "no", "args": [str(Path.home())]})

    assert type(again).__name__ == last
    assert isinstance(again, exceptions.ReplayedError)
    assert str(again) == "no"
    assert {*sys.modules} == modules
