"""The command itself: exit codes, one-line errors, `--verbose`, extras that are not installed."""

import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer

from tracegrade import cli
from tracegrade.errors import BadInput, CheckFailed, TracegradeError

TRACEGRADE = str(Path(sys.executable).with_name("tracegrade"))


def raises(kind: str) -> None:
    """End as a subcommand may."""
    errors: dict[str, BaseException] = {
        "check": CheckFailed("3 of 9 are wrong"),
        "input": BadInput("no such file: x"),
        "outside": TracegradeError("disk\nis full"),
        "bug": ZeroDivisionError("division by zero"),
        "exit": typer.Exit(1),
        "interrupt": KeyboardInterrupt(),
        "module": ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow"),
    }
    if kind in errors:
        raise errors[kind]


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """One subcommand that ends in every way, declared by the collector's package."""
    entry = EntryPoint("fail", "tracegrade_collector.no_module:fail", cli.GROUP)
    monkeypatch.setattr(cli, "_find", lambda _: entry)
    monkeypatch.setattr(EntryPoint, "load", lambda _: raises)


@pytest.mark.parametrize(
    ("kind", "code", "line"),
    [
        ("nothing", 0, ""),
        ("check", 1, "tracegrade: 3 of 9 are wrong\n"),
        ("input", 2, "tracegrade: no such file: x\n"),
        ("outside", 3, "tracegrade: disk is full\n"),
        ("bug", 3, "tracegrade: ZeroDivisionError: division by zero\n"),
        ("exit", 1, ""),
        ("interrupt", 130, ""),
        (
            "module",
            2,
            "tracegrade: command 'fail' needs module 'pyarrow', which is not installed; "
            "install it with: pip install 'tracegrade[collector]'\n",
        ),
    ],
)
@pytest.mark.usefixtures("commands")
def test_each_end_has_its_exit_code_and_line(
    kind: str, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 done, 1 a check failed, 2 bad input, 3 something outside; stdout stays clean."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["fail", kind])

    assert ended.value.code == code
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize(
    "arguments", [["--verbose", "fail", "input"], ["fail", "input", "--verbose"]]
)
@pytest.mark.usefixtures("commands")
def test_verbose_shows_the_traceback(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """It may stand before or after the subcommand."""
    with pytest.raises(SystemExit):
        cli.main(arguments)

    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_verbose_after_two_dashes_belongs_to_the_program() -> None:
    """What `tracegrade run` starts gets its own arguments whole."""
    command = [TRACEGRADE, "run", "--instrumentors", "none", "--", sys.executable, "-c"]
    done = subprocess.run(
        [*command, "import sys; print(sys.argv)", "--verbose", "--", "-x"],
        env={"OTEL_TRACES_EXPORTER": "none"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "['-c', '--verbose', '--', '-x']\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["scor"], "tracegrade: no command 'scor'; did you mean 'score'?"),
        (["xyz"], "tracegrade: no command 'xyz'; there are: ci, collect, compare, "),
        (["run", "--nope"], "tracegrade: No such option: --nope; see: tracegrade run --help"),
        (
            ["token", "new"],
            "tracegrade: Missing option '--file'; see: tracegrade token new --help",
        ),
        (["run"], "tracegrade: Missing argument '-- CMD...'; see: tracegrade run --help"),
    ],
)
def test_usage_errors_are_one_line(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fact, value, way out; exit code 2."""
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)

    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(line)
    assert error.count("\n") == 1


WITHOUT_EXTRAS = """
import sys
for name in ("deltalake", "duckdb", "grpc", "numpy", "polars", "pyarrow", "pydantic", "yaml"):
    sys.modules[name] = None
from tracegrade.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--help"], "score     Build steps from new spans, and score every trajectory"),
        (["score", "--help"], "--forget-tasks"),
        (["collect", "--help"], "--lake"),
    ],
)
def test_help_needs_no_extra(arguments: list[str], said: str) -> None:
    """Who has the base installation alone learns what there is, and what it is for."""
    command = [sys.executable, "-c", WITHOUT_EXTRAS, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert said in done.stdout


def test_help_lists_every_command_and_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """Each in the words of its own help, a whole sentence, and with its extra."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])

    assert ended.value.code == 0
    listed = capsys.readouterr().out.split("'tracegrade[scoring]':\n")[1].splitlines()
    assert [line.split()[0] for line in listed] == cli._names()
    extras = "collector|explorer|harness|judge|mcp|scoring"
    assert all(re.search(rf"[.?]( \[({extras})\])?$", line) for line in listed)
    assert not any("..." in line for line in listed)
    assert any(line.startswith("  run       Run an agent") for line in listed)


def test_help_lists_options_in_groups_and_each_option_once() -> None:
    """`score` has many options, whose groups its reference page repeats."""
    help_text = subprocess.run(
        [TRACEGRADE, "score", "--help"], capture_output=True, text=True, check=True
    ).stdout
    titles = re.findall(r"(?m)^(\S.*):$", help_text)
    assert titles[0] == "Options"
    assert "Which traces" in titles
    assert "Engine" in titles
    options = re.findall(r"(?m)^  (--[a-z-]+)", help_text.partition("Options:")[2])
    assert len(options) == len(set(options))
    traces = help_text.partition("Which traces:")[2].partition("\n\n")[0]
    assert re.findall(r"(?m)^  (--\S+)", traces) == [
        "--since",
        "--until",
        "--agent",
        "--release",
        "--quiet",
    ]
