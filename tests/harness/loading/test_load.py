"""Suites are read strictly, and every problem is named with its line and a way out."""

from pathlib import Path

import pytest
from tests.harness.loading.build import (
    START,
    found,
    loaded,
    with_agent,
    with_environment,
    with_verifier,
)

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.loading.load import load
from tracegrade_harness.parts.command.model import CommandVerifier
from tracegrade_harness.parts.files.model import Files, FilesVerifier
from tracegrade_harness.parts.sqlite.model import SqliteVerifier

EXAMPLE = Path(__file__).with_name("example.yaml")


def test_the_example_is_well_formed(folder: Path) -> None:
    """The example has no problem and every key of the format."""
    example = loaded(folder, EXAMPLE.read_text())

    assert example.problems == []
    assert example.suite is not None
    case = example.suite.cases["clean-uploads"]
    assert [type(verifier) for verifier in case.verify] == [
        *[FilesVerifier] * 4,
        *[SqliteVerifier] * 2,
        CommandVerifier,
    ]
    data = example.suite.environments["uploads"].parts["files"]["data"]
    assert isinstance(data, Files)
    assert data.from_ == "fixtures/uploads"
    assert example.folder == folder
    assert example.specification is not None
    assert list(example.specification.tasks) == ["clean-uploads", "pay"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "1: the file is empty; start it with 'version: 1'"),
        ("- 1", "1: the file is not a mapping; start it with 'version: 1'"),
        (
            "a: [",
            "1: not valid YAML: expected the node content, but found '<stream end>'; "
            "correct the syntax",
        ),
        (
            with_agent("comand: [run]\ncommand: [run]"),
            "5: unknown key 'comand' in agents.a; did you mean 'command'?",
        ),
        (with_agent("release: '1'"), "4: key 'command' is missing in agents.a; add it"),
        (
            with_agent("command: []"),
            "5: agents.a.command is []; List should have at least 1 item after validation, not 0",
        ),
        (
            with_agent("command: [run]\nrecover: again"),
            "6: agents.a.recover is 'again'; it should be 'rerun'",
        ),
        (
            with_agent("command: [run]\nrecover:\n- 1"),
            "7: agents.a.recover[0] is 1; it should be a valid string",
        ),
        (
            with_agent("command: [run]\nrecords:\n- jurnal: x"),
            "7: agents.a.records[0] is {'jurnal': 'x'}; "
            "it should be a mapping with the key 'journal', 'manifest', "
            "'runbook' or 'lake'",
        ),
        (
            with_agent(
                "command: [run]\nrecords:\n- manifest: x\n  itms: $.a\n  object: x\n"
                "  undo: {delete: x}\n  items: $.a"
            ),
            "8: unknown key 'itms' in agents.a.records[0]; did you mean 'items'?",
        ),
        (
            with_agent("command: [run]\nenvironment:\n  pass_: [X]"),
            "7: unknown key 'pass_' in agents.a.environment; did you mean 'pass'?",
        ),
        (
            with_environment(
                "files:\n  data:\n    from_: x\n    from: fixtures/uploads\n    at: d"
            ),
            "8: unknown key 'from_' in environments.e.files.data; did you mean 'from'?",
        ),
        (
            with_environment("ftp: {}"),
            "6: unknown key 'ftp' in environments.e; "
            "known keys: files, sqlite, postgres, redis, http, browser, image, mcp, upstreams, "
            "taped_tools, locks",
        ),
        (
            with_verifier("files: data\nexpct: x\npath: y"),
            "17: unknown key 'expct' in cases.c.verify[0]; did you mean 'expect'?",
        ),
        (
            with_verifier("files: data\nsqlite: ledger\npath: y"),
            "17: unknown key 'sqlite' in cases.c.verify[0]; known keys: files, expect, under, "
            "only_changed, path, json, text",
        ),
        (
            with_verifier("sqlite: ledger\nquery: SELECT 1"),
            "16: key 'equals' is missing in cases.c.verify[0]; add it",
        ),
        (
            with_verifier("page: shop"),
            "16: cases.c.verify[0] is {'page': 'shop'}; "
            "it should be a mapping with the key "
            "'files', 'sqlite', 'postgres', 'redis', 'http', 'dom' or 'command'",
        ),
        (
            with_verifier("files: data"),
            "16: cases.c.verify[0]: it asks nothing; give one of expect, only_changed and path",
        ),
        (
            with_verifier("files: data\nexpect: fixtures/expected\npath: x"),
            "16: cases.c.verify[0]: it has expect and path; "
            "give one of expect, only_changed and path",
        ),
        (
            with_verifier("files: data\npath: x\nunder: a/**"),
            "16: cases.c.verify[0]: it has under without expect; "
            "under says more about expect: remove it",
        ),
        (
            with_verifier("files: data\nexpect: fixtures/expected\njson: {}"),
            "16: cases.c.verify[0]: it has json without path; "
            "json says more about path: remove it",
        ),
    ],
)
def test_a_wrong_shape_is_named(folder: Path, text: str, problem: str) -> None:
    """The line is that of the key, and the way out names the keys that can stand there."""
    assert found(folder, text)[:1] == [problem]


def test_names_of_cases_are_checked(folder: Path) -> None:
    """Agents and environments are declared, tasks stand in the task file."""
    text = f"""{START}
cases:
  clean-upload: {{agent: b, environment: x}}
tasks: tasks.yaml
"""

    assert found(folder, text) == [
        "13: cases.clean-upload.agent: unknown agent 'b'; declare it under 'agents'",
        "13: cases.clean-upload.environment: unknown environment 'x'; "
        "declare it under 'environments'",
        "13: case 'clean-upload' is not a task in 'tasks.yaml'; did you mean 'clean-uploads'?",
    ]


def test_a_kill_without_tasks_is_noted(folder: Path) -> None:
    """The suite can be run, but nothing says which tools write."""
    suite = loaded(folder, f"{START}cases:\n  c: {{agent: a, environment: e, kill: {{}}}}")

    assert [str(each).split(":", 2)[2] for each in suite.problems] == [
        " cases.c.kill: without 'tasks' nothing says which tools write; "
        "name a task file, or only writes that spans or the state show will count"
    ]
    assert suite.errors == []


@pytest.mark.parametrize(
    ("killed", "problem"),
    [
        ("3", "cases.c.kill.trials: 3 trials are killed of 2 that are run; "
         "raise the case's trials, or write all"),
        ("0", "cases.c.kill.trials is 0; it should be greater than or equal to 1"),
        ("some", "cases.c.kill.trials is 'some'; it should be 'all'"),
    ],
)  # fmt: skip
def test_how_many_trials_are_killed_is_checked(folder: Path, killed: str, problem: str) -> None:
    """A number of those that are run, or all."""
    case = f"{{agent: a, environment: e, trials: 2, kill: {{trials: {killed}}}}}"
    suite = loaded(folder, f"{START}cases:\n  c: {case}")

    assert [str(each).split(":", 2)[2] for each in suite.errors] == [f" {problem}"]


def test_problems_of_the_task_file_are_named_with_its_own_lines(folder: Path) -> None:
    """They keep the suite from being run, too."""
    (folder / "tasks.yaml").write_text("version: 1\ntasks:\n  c: {scop: []}\n")
    suite = loaded(folder, f"{START}cases:\n  c: {{agent: a, environment: e}}\ntasks: tasks.yaml")

    assert [str(problem) for problem in suite.errors] == [
        f"{folder / 'tasks.yaml'}:3: unknown key 'scop' in tasks.c; did you mean 'scope'?"
    ]
    assert suite.specification is None


@pytest.mark.parametrize("name", ["lost.yaml", "../tasks.yaml"])
def test_a_task_file_that_cannot_be_read_is_named(folder: Path, name: str) -> None:
    """The line is that of `tasks`."""
    (problem,) = found(folder, f"{START}cases: {{}}\ntasks: {name}")

    assert problem.startswith("12: ")
    assert name in problem


SUITE_WITH_PROBLEMS = """
    version: 1
    suite: s
    agents:
      a: {command: [run, "{x}", "{release}"], release: 1.1}
      b: {}
    environments:
      e:
        files:
          data: {from: lost, at: data, metod: copy}
          bad: 1
        locks: [1, data]
    cases:
      c:
        agent: b
        environment: e
        trials: 0
        verify:
        - {files: bad, path: x, json: {"$[": 1}}
        - {files: data, path: x, txt: y}
        - {sqlite: data, query: SELECT 1, equals: 1}
      d: {agent: c, environment: f}
      d: {}
    """
PROBLEMS = [
    (4, "agents.a.release is 1.1"),
    (4, "agents.a.command[1] names {x}"),
    (5, "key 'command' is missing in agents.b"),
    (9, "unknown key 'metod' in environments.e.files.data"),
    (9, "environments.e.files.data.from 'lost' does not exist"),
    (10, "environments.e.files.bad is 1"),
    (11, "environments.e.locks[0] is 1"),
    (11, "environments.e.locks[1] 'data' is the name of no object"),
    (16, "cases.c.trials is 0"),
    (18, "'$[' is not a JSON path"),
    (19, "unknown key 'txt' in cases.c.verify[1]"),
    (20, "cases.c.verify[2].sqlite: the environment has no sqlite 'data'"),
    (21, "cases.d.agent: unknown agent 'c'"),
    (21, "cases.d.environment: unknown environment 'f'"),
    (22, "key 'd' stands twice"),
]
"""Of that suite: lines, and how their facts begin."""


def test_all_problems_come_at_once(folder: Path) -> None:
    """What is wrong in one place hides nothing in another, and makes nothing else seem wrong."""
    suite = loaded(folder, SUITE_WITH_PROBLEMS)

    assert suite.suite is None
    assert [problem.line for problem in suite.problems] == [line for line, _ in PROBLEMS]
    for problem, (_, fact) in zip(suite.problems, PROBLEMS, strict=True):
        assert problem.fact.startswith(fact)
        assert problem.way_out


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_suite_that_is_no_text_is_unusable(tmp_path: Path, content: bytes | None) -> None:
    """There is no line to name."""
    file = tmp_path / "suite.yaml"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(SuiteUnusable, match=r"cannot read suite .*; give a suite file"):
        load(file)
