"""Suites are read strictly, and every problem is named with its line and a way out."""

from pathlib import Path
from textwrap import dedent

import pytest

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.suite import model
from tracegrade_harness.suite.load import LoadedSuite, load

EXAMPLE = Path(__file__).with_name("example.yaml")

TASKS = """
version: 1
tools: {look: {effect: read}}
tasks: {clean-uploads: {}, pay: {}}
"""

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all that suites name here."""
    for name in ("fixtures/uploads", "fixtures/expected", "checks"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("fixtures/ledger.sql", "RUNBOOK.yaml", "checks/verify.py"):
        (tmp_path / name).touch()
    (tmp_path / "tasks.yaml").write_text(TASKS)
    return tmp_path


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


def test_the_example_is_well_formed(folder: Path) -> None:
    """The example has no problem and every key of the format."""
    example = loaded(folder, EXAMPLE.read_text())

    assert example.problems == []
    assert example.suite is not None
    case = example.suite.cases["clean-uploads"]
    assert [type(verifier) for verifier in case.verify] == [
        *[model.FilesVerifier] * 4,
        *[model.SqliteVerifier] * 2,
        model.CommandVerifier,
    ]
    assert example.suite.environments["uploads"].files["data"].from_ == "fixtures/uploads"
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
            "it should be a mapping with the key 'journal', 'manifest' or 'runbook'",
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
            with_environment("postgres: {}"),
            "6: unknown key 'postgres' in environments.e; known keys: files, sqlite, locks",
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
            with_verifier("dom: shop"),
            "16: cases.c.verify[0] is {'dom': 'shop'}; "
            "it should be a mapping with the key 'files', 'sqlite' or 'command'",
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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            with_agent("command: [run, '{relase}']"),
            "5: agents.a.command[1] names {relase}, which stands for nothing; "
            "did you mean 'release'?",
        ),
        (
            with_agent("command:\n- run\nrecover:\n- run\n- '{suite}'"),
            "9: agents.a.recover[1] names {suite}, which stands for nothing; "
            "known: {release}, {task}, {trial}, {seed}, {python}",
        ),
        (
            with_agent("command: [run, '{release}']"),
            "5: agents.a.command names {release}, but the agent has none; give it a release",
        ),
        (
            with_agent("command: [run]\nenvironment:\n  pass: [TZ]\n  set:\n    TZ: UTC"),
            "9: variable 'TZ' is passed and set in agents.a.environment; remove one",
        ),
        (
            with_agent("command: [run]\nrecords:\n- journal: /data/x"),
            "7: agents.a.records[0].journal '/data/x' is absolute; "
            "give it relative to the folder in which the agent is run",
        ),
        (
            with_agent(
                "command: [run]\nrecords:\n- manifest: ../x\n  items: $.a[*]\n  object: x\n"
                "  undo: {delete: x}"
            ),
            "7: agents.a.records[0].manifest '../x' has '..' in it; write it without",
        ),
        (
            with_agent(
                "command: [run]\nrecords:\n- manifest: x\n  items: $.a[*]\n  object: x\n"
                "  undo: {delete: x}"
            ),
            "8: '$.a[*]' is not a JSON path to one list: it has a wildcard; write it like $.files",
        ),
        (
            with_agent("command: [run]\nrecords:\n- runbook: fixtures"),
            "7: agents.a.records[0].runbook 'fixtures' is not a file; give a file",
        ),
    ],
)
def test_a_wrong_agent_is_named(folder: Path, text: str, problem: str) -> None:
    """Its commands, variables and records are judged."""
    assert found(folder, text)[:1] == [problem]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "files:\n  data:\n    from: ../secret\n    at: data",
            "8: environments.e.files.data.from '../secret' leads out of the suite's folder; "
            "move it there, or give an absolute path",
        ),
        (
            "files:\n  data:\n    from: fixtures/ledger.sql\n    at: data",
            "8: environments.e.files.data.from 'fixtures/ledger.sql' is not a folder; "
            "give a folder",
        ),
        (
            "sqlite:\n  l:\n    from: fixtures/uploads\n    at: l",
            "8: environments.e.sqlite.l.from 'fixtures/uploads' is not a file; give a file",
        ),
        (
            "sqlite:\n  l:\n    from: fixtures/ledger.sql\n    at: .",
            "9: environments.e.sqlite.l.at is the environment's own folder; "
            "give the name of a file",
        ),
        (
            "files:\n  data:\n    from: fixtures/uploads\n    at: /data",
            "9: environments.e.files.data.at '/data' is absolute; "
            "give it relative to the folder in which the agent is run",
        ),
        (
            "files:\n  d/x:\n    from: fixtures/uploads\n    at: data",
            "7: the part's name 'd/x' has what names of objects have for marks (/ : , \\); "
            "write it without",
        ),
        (
            "files:\n  a: {from: fixtures/uploads, at: x}\n"
            "  b: {from: fixtures/uploads, at: ./x/y}",
            "8: environments.e.files.b and environments.e.files.a stand in each other's place; "
            "move one: only a database may stand inside a folder of files",
        ),
        (
            "files:\n  a: {from: fixtures/uploads, at: x/l.db}\n"
            "sqlite:\n  l: {from: fixtures/ledger.sql, at: x/l.db}",
            "9: environments.e.sqlite.l and environments.e.files.a stand in each other's place; "
            "move one: only a database may stand inside a folder of files",
        ),
        (
            "files:\n  a: {from: fixtures/uploads, at: x, path_as: X}\n"
            "sqlite:\n  l: {from: fixtures/ledger.sql, at: x/l.db, path_as: X}",
            "9: environments.e.sqlite.l and environments.e.files.a have the same path_as; "
            "give each a variable of its own",
        ),
        (
            "locks:\n- data/x.lock",
            "7: environments.e.locks[0] 'data/x.lock' is the name of no object; "
            "start it with a part, like files:*/data/x.lock",
        ),
    ],
)
def test_a_wrong_part_is_named(folder: Path, text: str, problem: str) -> None:
    """Sources exist beside the suite; places are inside the environment and apart."""
    assert found(folder, with_environment(text)) == [problem]


def test_a_source_that_is_missing_is_named_with_its_place(folder: Path) -> None:
    """Where it was looked for may not be where it was put."""
    problems = found(folder, with_environment("files:\n  d: {from: lost, at: data}"))

    assert problems == [
        "7: environments.e.files.d.from 'lost' does not exist; "
        f"expected the folder '{folder / 'lost'}'"
    ]


def test_an_absolute_source_is_taken_as_it_is(folder: Path) -> None:
    """Who writes an absolute path means a folder that is not part of the suite."""
    text = f"files:\n  d: {{from: {folder.parent}, at: data}}"

    assert found(folder, with_environment(text)) == []


def test_parts_side_by_side_and_a_database_in_a_folder_are_apart(folder: Path) -> None:
    """Names that only begin alike are different places."""
    text = """\
    files:
      a: {from: fixtures/uploads, at: data}
      b: {from: fixtures/uploads, at: data2}
    sqlite:
      l: {from: fixtures/ledger.sql, at: data/l.db}
      m: {from: fixtures/ledger.sql, at: data/l.db2}
    """

    assert found(folder, with_environment(dedent(text))) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "files: dta\npath: x",
            "16: cases.c.verify[0].files: the environment has no files 'dta'; "
            "did you mean 'data'?",
        ),
        (
            "files: ledger\npath: x",
            "16: cases.c.verify[0].files: the environment has no files 'ledger'; "
            "it is of kind 'sqlite'",
        ),
        (
            "files: data\npath: ../x",
            "17: cases.c.verify[0].path '../x' has '..' in it; "
            "give it relative to the part, without '..'",
        ),
        (
            "files: data\npath: x\njson:\n  $.a[*]: 1",
            "19: '$.a[*]' is not a JSON path to one value: it has a wildcard; "
            "write it like $.order.state or $.orders[0].state",
        ),
        (
            "files: data\npath: x\njson:\n  $.a: {about: x, within: 0}",
            "19: cases.c.verify[0].json.$.a: about is 'x'; it should be a number",
        ),
        (
            "files: data\npath: x\ntext: {matches: '('}",
            "18: cases.c.verify[0].text: matches is not an RE2 pattern: missing ): (; "
            "correct it (RE2 has no look-around or back-references)",
        ),
        (
            "files: data\npath: x\ntext: {input: NAME}",
            "18: cases.c.verify[0].text: nothing binds 'NAME' in a suite; give the value itself",
        ),
        (
            "files: data\nexpect: fixtures/exected",
            "17: cases.c.verify[0].expect 'fixtures/exected' does not exist; "
            "expected the folder 'FOLDER/fixtures/exected'",
        ),
        (
            "sqlite: ledger\nquery: SELECT 1\nequals: [1]",
            "18: cases.c.verify[0].equals is a list with what is no list in it; "
            "write a list of rows, each a list of its values",
        ),
        (
            "sqlite: ledger\nquery: SELECT 1\nequals:\n- [1]\n- - {any_of: []}",
            "20: cases.c.verify[0].equals[1][0]: any_of is []; "
            "it should be a list of at least one value",
        ),
        (
            "command: [check, '{task}']",
            "16: cases.c.verify[0].command[1] names {task}, which stands for nothing; "
            "known: {suite}, {python}",
        ),
        (
            "command: [./check]",
            "16: cases.c.verify[0].command[0] './check' is a program of the environment, "
            "which agents write; write {suite}/check",
        ),
    ],
)
def test_a_wrong_verifier_is_named(folder: Path, text: str, problem: str) -> None:
    """Parts, paths and values that it names are judged as they stand."""
    problems = found(folder, with_verifier(text))

    assert problems == [problem.replace("FOLDER", str(folder))]


def test_a_file_beside_the_suite_that_a_command_does_not_mean_is_noted(folder: Path) -> None:
    """Without `{suite}` the agent would write its own verifier."""
    suite = loaded(folder, with_verifier("command: ['{python}', checks/verify.py]"))

    assert [problem.line for problem in suite.problems] == [16]
    assert "write {suite}/checks/verify.py" in str(suite.problems[0])
    assert suite.errors == []


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
        "13: case 'clean-upload' is no task of 'tasks.yaml'; did you mean 'clean-uploads'?",
    ]


def test_a_kill_without_tasks_is_noted(folder: Path) -> None:
    """The suite can be run, but nothing says which tools write."""
    suite = loaded(folder, f"{START}cases:\n  c: {{agent: a, environment: e, kill: {{}}}}")

    assert [str(each).split(":", 2)[2] for each in suite.problems] == [
        " cases.c.kill: without 'tasks' nothing says which tools write; "
        "name a task file, or only writes that spans or the state show will count"
    ]
    assert suite.errors == []


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


def test_all_problems_come_at_once(folder: Path) -> None:
    """What is wrong in one place hides nothing in another, and makes nothing else seem wrong."""
    text = """
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
    expected = [
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

    suite = loaded(folder, text)

    assert suite.suite is None
    assert [problem.line for problem in suite.problems] == [line for line, _ in expected]
    for problem, (_, fact) in zip(suite.problems, expected, strict=True):
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
