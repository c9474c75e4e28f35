"""What comes from outside moves no cursor: commands print it for people with nothing that acts.

All commands are walked, as the entry points declare them: a new one belongs into `CALLS`.
"""

import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from tests.commands import tracegrade
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.report.build import Tables, as_lake
from tests.scoring.report.test_hostile import fill_with

from tracegrade import cli
from tracegrade.terminal.progress import progress
from tracegrade.terminal.visible import echo_for_programs
from tracegrade_lake import Lake

NAME: Final = "x\x1b[31m\x1b]0;t\x07\x1b]8;;h\x1b\\\x1b]52;c;eA==\x1b\\\x9b2J\r\b\u202ey\u2066"
"""Colors, a title, a link, the clipboard, C1 controls, a line begun again, overrides."""
SPELLED: Final = ("\\x1b", "\\u001b", "\\e[", "\\u202e", "\\r")
"""One of them stands where a hostile name is shown; the first two in texts and JSON."""
ACTING: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})

LAKE_NAME: Final = "x\u202ey\u2066"
"""The lake's own libraries refuse paths with control characters."""

Path_ = tuple[str, ...]
Call = Sequence[object]


class Place(NamedTuple):
    """Files of which every name and every content is hostile."""

    root: Path

    def __truediv__(self, name: str) -> Path:
        return self.root / f"{name}-{NAME}"

    def lake(self, name: str) -> Path:
        """Return the folder of a lake."""
        return self.root / f"{name}-{LAKE_NAME}"


def acting(text: str) -> list[str]:
    """Return the characters of a text that act, but for line ends and tabs."""
    return [each for each in text if each not in "\n\t" and unicodedata.category(each) in ACTING]


def quoted(text: str = NAME) -> str:
    """Return a text as JSON and YAML write it."""
    return json.dumps(text)


def leaves(command: Any, path: Path_) -> Iterator[Path_]:
    """Yield the paths of all commands below one."""
    below = getattr(command, "commands", None)
    if not below:
        yield path
        return
    if command.invoke_without_command:
        yield path
    for name, each in sorted(below.items()):
        yield from leaves(each, (*path, name))


COMMANDS: Final = [
    path for name in cli._names() for path in leaves(cli._load(cli._find(name)), (name,))
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A scored lake, one that is not, and files for the commands."""
    found = Place(tmp_path_factory.mktemp("hostile"))
    with closing(Tables()) as tables:
        fill_with(tables, NAME)
        as_lake(tables, found.lake("scored"))
    _unscored(found.lake("lake"))
    _files(found)
    return found


def _unscored(root: Path) -> None:
    named: dict[str, Any] = {"tracegrade__task__id": NAME, "name": NAME, "error": NAME}
    spans = [
        agent(1, agent_name=NAME, **named),
        tool(2, 1, tool_name=NAME, gen_ai__tool__call__result=NAME, error=NAME),
        tool(3, 1, tool_name=NAME, gen_ai__tool__call__arguments=quoted(), at=2),
    ]
    land(Lake.create(root), request_of(spans, {"service.name": NAME, "service.version": NAME}))


def _files(place: Place) -> None:
    name = quoted()
    texts = {
        "tasks": f"version: 1\ntools: {{{name}: {{effect: read}}}}\ntasks: {{{name}: "
        f"{{expected: [{{decision: {name}, tool: {name}}}]}}, other: {{{name}: 1}}}}\n",
        "good": f"version: 1\ntasks: {{{name}: {{expected: [{{decision: {name}, tool: "
        f"{name}}}]}}}}\n",
        "suite": f"version: 1\nsuite: {name}\nagents: {{{name}: {{command: [{name}]}}}}\n"
        f"environments: {{{name}: {{files: {{{name}: {{from: {name}, at: {name}}}}}}}}}\n"
        f"cases: {{{name}: {{agent: {name}, environment: {name}, user_input: {name}}}}}\n",
        "judges": f"version: 1\njudges: {{{name}: {{subject: {name}, {name}: 1}}}}\n",
        "journal": json.dumps({"object": NAME, "undo": {"manual": NAME}, "done": False})
        + f"\n{json.dumps({'object': NAME, 'undo': {NAME: 1}})}\n{NAME}\n",
        "options": f"{name} = 1\n",
        "export": json.dumps([{"role": "user", "content": NAME}, {NAME: NAME}]),
        "rows": json.dumps({NAME: NAME, "expected": [{"name": NAME, "arguments": {}}]}) + "\n",
        "prices": f"{name}: 1\n",
        "watch": f"version: 1\ndefaults: {{agent: {name}}}\nwatch: [{{id: a, issue: new}}, "
        "{id: b, metric: success, day_below: 2, runs: 1}, {id: c, silence_hours: 1}]\n",
        "notify": f"version: 1\nwatch: []\nnotify: [{{slack: {name}, {name}: {name}}}]\n",
        "labels": json.dumps({NAME: NAME}) + "\n",
    }
    for each, text in texts.items():
        (place / each).write_text(text)
    (place / "home" / "runs" / NAME / "trials").mkdir(parents=True)
    (place / "metrics").mkdir()
    header = f"-- {NAME}\n-- Metric: {NAME}   Version: {NAME}   {NAME}: 1\n-- Reads: {NAME}\n"
    (place / "metrics" / f"{NAME}.sql").write_text(f'{header}SELECT "{NAME}" FROM attempts')
    (place / "metrics" / "good.sql").write_text(
        f"-- {NAME}\n-- Metric: calls_made   Version: {NAME}   Range: 0..   Better: none   "
        f"Kind: count   Label: {NAME}\n-- Reads: attempts\n"
        "SELECT attempt_id, 1 AS numerator FROM attempts"
    )


def _calls_of_lakes(place: Place) -> Mapping[Path_, Sequence[Call]]:
    """Return how the commands that fill, empty and keep lakes are called."""
    of_lake, file, nothing = ("--lake", place.lake("lake")), place / "rows", place / "nothing"
    return {
        ("collect",): [
            ("--lake", file, "--http", "127.0.0.1:0"),
            (*of_lake, "--http", NAME),
            (*of_lake, "--config", place / "options"),
        ],
        ("export",): [
            ("--to", NAME, *of_lake),
            ("--to", "otlp-json", *of_lake, "--out", nothing / "x"),
            ("--to", "atif", *of_lake, "--out", nothing / "x"),
            ("--to", "otlp-endpoint", *of_lake, "--endpoint", NAME),
        ],
        ("import",): [
            (place / "export", "--lake", place.lake("imported")),
            (place / "labels", nothing, "--lake", place.lake("imported")),
            (file, *of_lake, "--format", NAME),
            (file, *of_lake, "--map", NAME),
        ],
        ("lake", "compact"): [of_lake, (*of_lake, "--table", NAME)],
        ("lake", "delete"): [
            (*of_lake, "--where", NAME),
            (*of_lake, "--where", f"service_name = '{NAME}'", "--dry-run"),
        ],
        ("lake", "expire"): [
            (*of_lake, "--older-than", NAME),
            (*of_lake, "--older-than", "1d", "--dry-run"),
        ],
        ("lake", "files"): [(*of_lake, "--table", NAME), ("--lake", nothing)],
        ("lake", "repair"): [of_lake, (*of_lake, "--table", NAME)],
        ("lake", "status"): [of_lake, (*of_lake, "--json"), ("--lake", nothing)],
        ("lake", "verify"): [of_lake, (*of_lake, "--deep"), ("--lake", nothing)],
        ("token", "new"): [
            ("--file", nothing / "x", "--tenant", "t"),
            ("--file", place / "tokens", "--tenant", NAME),
        ],
    }


def _calls_of_scores(place: Place) -> Mapping[Path_, Sequence[Call]]:
    """Return how the commands that score and compare are called."""
    of_lake, of_scored = ("--lake", place.lake("lake")), ("--lake", place.lake("scored"))
    file, nothing = place / "rows", place / "nothing"
    return {
        ("compare",): [(NAME, NAME + "2", *of_scored), (NAME, "1", *of_lake)],
        ("issues", "list"): [of_scored, (*of_scored, "--format", "json"), ("--lake", nothing)],
        ("issues", "mark"): [(NAME, "--by", NAME, "--note", NAME, *of_scored)],
        ("issues", "merge"): [(NAME, NAME, "--by", NAME, *of_scored)],
        ("issues", "split"): [(NAME, "--by", NAME, *of_scored)],
        ("issues", "show"): [(NAME, *of_scored)],
        ("metrics", "check"): [(place / "metrics",), (nothing,)],
        ("metrics", "list"): [("--lake", nothing)],
        ("metrics", "new"): [(NAME,), ("calls_made", "--folder", file / "x")],
        ("report",): [(*of_scored, "--format", form) for form in ("text", "markdown", "json")]
        + [(*of_scored, "--agent", f"no{NAME}"), (*of_scored, "--trajectory", NAME)],
        ("sample",): [(place / "sample",), (place / "sample",), (file,)],
        ("score",): [
            (*of_lake, "--dry-run"),
            (*of_lake, "--tasks", place / "tasks"),
            (*of_lake, "--tasks", place / "good", "--summary", "-"),
            (*of_lake, "--prices", place / "prices"),
            (*of_lake, "--agent", NAME),
            (*of_lake, "--metrics", place / "metrics"),
        ],
        ("task", "run"): [(nothing,)],
        ("task", "share"): [("--lake", nothing, "--index", "0", "--of", "1")],
        ("tasks", "check"): [
            (place / "tasks",),
            (nothing,),
            (place / "tasks", "--try", of_scored[-1]),
        ],
        ("tasks", "draft"): [("--lake", nothing), (*of_lake, "--agent", NAME)],
        ("tasks", "from"): [(file, "--map", NAME), (nothing,)],
        ("tasks", "schema"): [()],
    }


def _calls_of_judges(place: Place) -> Mapping[Path_, Sequence[Call]]:
    """Return how the commands that ask models are called."""
    of_scored, judges = ("--lake", place.lake("scored")), place / "judges"
    return {
        ("judge", "calibrate"): [("--judge", NAME, *of_scored)],
        ("judge", "check"): [(judges,), (place / "nothing",)],
        ("judge", "estimate"): [(judges, *of_scored), (place / "nothing", *of_scored)],
        ("judge", "label"): [("--judge", NAME, *of_scored, "--out", place / "drawn")],
        ("judge", "run"): [(judges, *of_scored, "--offline")],
        ("judge", "schema"): [()],
        ("judge", "twins"): [(judges, *of_scored, "--offline")],
    }


def _calls_of_sending(place: Place) -> Mapping[Path_, Sequence[Call]]:
    """Return how `send` is called."""
    of_scored, nothing = ("--lake", place.lake("scored")), place / "nothing"
    return {
        ("send",): [
            (*of_scored, "--to", NAME, "--endpoint", "http://127.0.0.1:1"),
            (*of_scored, "--to", "otlp", "--endpoint", NAME),
            (*of_scored, "--to", "otlp", "--endpoint", "http://127.0.0.1:1", "--metric", NAME),
            (*of_scored, "--to", "otlp", "--endpoint", "http://127.0.0.1:1", "--dry-run"),
            ("--lake", nothing, "--to", "otlp", "--endpoint", "http://127.0.0.1:1"),
        ],
    }


def _calls_of_ci(place: Place) -> Mapping[Path_, Sequence[Call]]:
    """Return how the commands for CI systems are called."""
    of_lake, of_scored = ("--lake", place.lake("lake")), ("--lake", place.lake("scored"))
    nothing, comment = place / "nothing", place / "comment"
    checked = (*of_lake, "--baseline", nothing, "--candidate", NAME)
    return {
        ("ci", "baseline"): [
            (*of_scored, "--release", NAME, "--out", place / "baseline"),
            (*of_scored, "--release", f"no{NAME}", "--out", place / "baseline"),
            (*of_scored, "--release", NAME, "--out", place.root),
        ],
        ("ci", "check"): [
            (*checked, "--markdown", comment),
            (*checked, "--fail-on", NAME),
            (*checked, "--name", NAME),
            (*checked, "--junit", nothing / "x"),
            (*of_lake, "--baseline", nothing, "--candidate", f"no{NAME}"),
        ],
        ("ci", "fetch"): [
            ("--repository", NAME, "--artifact", "a", "--branch", "b", "--out", nothing),
        ],
        ("ci", "comment"): [
            ("--markdown", nothing, "--repository", "a/b", "--pull-request", 1),
            ("--markdown", comment, "--repository", NAME, "--pull-request", 1),
        ],
    }


def _calls_of_watching(place: Place) -> Mapping[Path_, Sequence[Call]]:
    """Return how `watch` is called."""
    of_scored, nothing = ("--lake", place.lake("scored")), place / "nothing"
    return {
        ("watch",): [
            (*of_scored, "--rules", place / "watch"),
            (*of_scored, "--format", "json"),
            (*of_scored, "--format", "junit", "--prometheus", place / "metrics.prom"),
            (*of_scored, "--format", "github", "--prometheus", nothing / "x"),
            (*of_scored, "--rules", place / "notify"),
            (*of_scored, "--rules", nothing),
            ("--lake", nothing),
        ],
        ("watch", "ack"): [(NAME, *of_scored, "--note", NAME)],
        ("watch", "schema"): [()],
    }


def _calls_of_the_harness(place: Place) -> Mapping[Path_, Sequence[Call]]:
    """Return how the commands of suites and journals are called."""
    of_lake, of_scored = ("--lake", place.lake("lake")), ("--lake", place.lake("scored"))
    suite, nothing = place / "suite", place / "nothing"
    return {
        ("harness", "check"): [(suite,), (nothing,)],
        ("harness", "clean"): [("--folder", place / "home"), ("--folder", nothing)],
        ("harness", "diverge"): [(suite, "--case", NAME), (suite, "--format", NAME)],
        ("harness", "draft"): [
            (*of_lake, "--out", place / "drafted"),
            (*of_lake, "--task", NAME, "--out", place / "drafted", "--incomplete"),
            (*of_lake, "--tasks", place / "tasks", "--out", place / "drafted"),
        ],
        ("harness", "kill"): [(suite, *of_lake), (suite, *of_lake, "--case", NAME)],
        ("harness", "record"): [(suite,), (suite, "--agent", NAME)],
        ("harness", "review"): [
            (NAME, NAME, *of_scored, "--value", "1", "--reason", NAME, "--by", NAME)
        ],
        ("harness", "run"): [(suite, *of_lake), (suite, *of_lake, "--fail-on", NAME)],
        ("harness", "schema"): [()],
        ("harness", "shell"): [(suite, NAME)],
        ("rollback",): [(place / "journal",), (place / "journal", "--dry-run"), (nothing,)],
    }


def _calls(place: Place) -> Mapping[Path_, Sequence[Call]]:
    """Return how each command is called."""
    of_lake, nothing = ("--lake", place.lake("lake")), place / "nothing"
    return {
        **_calls_of_lakes(place),
        **_calls_of_scores(place),
        **_calls_of_judges(place),
        **_calls_of_sending(place),
        **_calls_of_ci(place),
        **_calls_of_watching(place),
        **_calls_of_the_harness(place),
        ("mcp",): [("--lake", nothing)],
        ("run",): [("--", NAME)],
        ("sql",): [
            (f"SELECT service_name, '{NAME}' AS \"{NAME}\", [name] FROM spans", *of_lake),
            ("FROM steps", *of_lake),
            (f'SELECT "{NAME}" FROM spans', *of_lake),
            ("--saved", NAME, *of_lake),
            ("SELECT $a", "--param", NAME, *of_lake),
            ("--list",),
        ],
        ("ui",): [("--lake", nothing), (*of_lake, "--listen", NAME)],
    }


WITHOUT_NAMES: Final = {(name, "schema") for name in ("harness", "judge", "tasks", "watch")}
"""Commands that are given nothing and read nothing."""


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_no_command_lets_a_name_act(
    place: Place, path: Path_, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it fails with or prints, in texts, tables and JSON; the name itself is shown."""
    monkeypatch.setattr("tempfile.tempdir", str(place.root))
    shown = ""
    for call in _calls(place)[path]:
        ended = tracegrade(*path, *call)
        assert (acting(ended.stdout), acting(ended.stderr)) == ([], []), call
        shown += ended.stdout + ended.stderr
    assert path in WITHOUT_NAMES or any(each in shown for each in SPELLED), shown


def test_every_call_is_of_a_command(place: Place) -> None:
    """So that none of them is walked in vain."""
    assert set(_calls(place)) == set(COMMANDS)


@pytest.mark.parametrize(
    "call",
    [(f"no-{NAME}",), ("--verbose", "tasks", "check", f"no-{NAME}"), ("sql", f"--no{NAME}")],
)
def test_no_error_lets_a_name_act(call: tuple[str, ...]) -> None:
    """Neither that of an unknown command or option, nor the traceback that was asked for."""
    ended = tracegrade(*call)
    assert acting(ended.stdout + ended.stderr) == []
    assert "\\x1b" in ended.stderr


def test_formats_for_programs_are_exact(place: Place) -> None:
    """CSV, JSON and the paths of files are as they are: programs read them."""
    lake = place.lake("lake")
    question = ("sql", "SELECT DISTINCT service_name AS s FROM spans", "--lake", lake, "--format")
    (row,) = json.loads(tracegrade(*question, "json").stdout)
    assert row == {"s": NAME}
    assert NAME in tracegrade(*question, "csv").stdout
    paths = tracegrade("lake", "files", "--table", "spans", "--lake", lake).stdout.removesuffix(
        "\n"
    )
    assert Path(paths).is_file()


class _Terminal:
    """A stream that is a terminal."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Nothing is kept back."""

    def isatty(self) -> bool:
        return True


def test_paths_and_progress_on_a_terminal_do_not_act(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal is no program; of what moves its cursor, all is ours."""
    out, err = _Terminal(), _Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm")
    echo_for_programs(NAME)
    with progress() as show:
        show(NAME)
    assert acting(out.text) == []
    assert "\\x1b]0;t\\x07" in out.text
    assert "\x1b]" not in err.text
    assert "\u202e" not in err.text


def test_an_agent_that_is_run_says_nothing_that_acts() -> None:
    """Neither where its spans go, nor which instrumentors are not there."""
    ended = subprocess.run(
        [Path(sys.executable).with_name("tracegrade"), "run", "--instrumentors", NAME, "--",
         sys.executable, "-c", "pass"],
        env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:1/{NAME}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert acting(ended.stderr) == []
    assert ended.stderr.count("\\x1b") > 2
