"""Agents, parts of environments and verifiers are checked beyond their shape."""

from pathlib import Path
from textwrap import dedent

import pytest
from tests.harness.loading.build import (
    START,
    found,
    indented,
    loaded,
    with_agent,
    with_environment,
    with_verifier,
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            with_agent("command: [run, '{relase}']"),
            "5: agents.a.command[1] names {relase}, which is not known; did you mean 'release'?",
        ),
        (
            with_agent("command:\n- run\nrecover:\n- run\n- '{person}'"),
            "9: agents.a.recover[1] names {person}, which is not known; "
            "known: {release}, {task}, {trial}, {seed}, {python}, {suite}, {mcp}, {user_input}, "
            "{user_input_file}",
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
            with_agent("command: [run]\nchannels: [sdk, mcp]"),
            "6: agents.a.channels has 'sdk' and other channels: each call would count twice; "
            "give 'sdk' alone, or leave it out",
        ),
        (
            with_agent("command: [run]\nchannels: [mcp, mcp]"),
            "6: agents.a.channels[1]: the channel 'mcp' is already listed; remove it",
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
            with_agent("command: [run]\nrecords:\n- lake: plans"),
            "7: agents.a.records[0].lake is 'plans'; it should be 'plan'",
        ),
        (
            with_agent("command: [run]\nchannels: [mcp]\nrecords:\n- lake: plan"),
            "8: agents.a.records[0].lake: an agent behind 'mcp' sends no plan; "
            "remove it, or give the channel 'sdk'",
        ),
        (
            with_agent("command: [run]\nrecords:\n- runbook: fixtures"),
            "7: agents.a.records[0].runbook 'fixtures' is not a file; give a file",
        ),
        (
            with_agent(
                "command: [run]\nrecords:\n- manifest: x\n  items: $.a\n  object: x\n"
                "  undo: {delte: '{name}'}"
            ),
            "10: agents.a.records[0].undo: an undo has exactly one of: delete, restore, sql, "
            "http, command, manual; did you mean 'delete'?; write it like {delete: '{name}'}",
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
            "7: the part's name 'd/x' has a separator of object names (/ : , \\); "
            "write it without",
        ),
        (
            "files:\n  a: {from: fixtures/uploads, at: x}\n"
            "  b: {from: fixtures/uploads, at: ./x/y}",
            "8: environments.e.files.b and environments.e.files.a overlap; "
            "move one: only a database may be inside a folder of files",
        ),
        (
            "files:\n  a: {from: fixtures/uploads, at: x/l.db}\n"
            "sqlite:\n  l: {from: fixtures/ledger.sql, at: x/l.db}",
            "9: environments.e.sqlite.l and environments.e.files.a overlap; "
            "move one: only a database may be inside a folder of files",
        ),
        (
            "files:\n  a: {from: fixtures/uploads, at: x, path_env: X}\n"
            "sqlite:\n  l: {from: fixtures/ledger.sql, at: x/l.db, path_env: X}",
            "9: environments.e.sqlite.l and environments.e.files.a have the same path_env; "
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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "mcp:\n  shop: {command: [serve, '{release}']}",
            "7: environments.e.mcp.shop.command[1] names {release}, which is not known; "
            "known: {task}, {trial}, {seed}, {python}, {suite}",
        ),
        (
            "mcp:\n  shop: {command: [./serve]}",
            "7: environments.e.mcp.shop.command[0] './serve' is a program of the environment, "
            "which agents write; write {suite}/serve",
        ),
        (
            "mcp:\n  shop:\n    command: [serve]\n    environment: {pass: [A], set: {A: x}}",
            "9: variable 'A' is passed and set in environments.e.mcp.shop.environment; remove one",
        ),
        (
            "files:\n  data: {from: fixtures/uploads, at: x, path_env: A}\n"
            "mcp:\n  shop: {command: [serve], command_env: A}",
            "9: environments.e.mcp.shop.command_env is the variable of environments.e.files.data, "
            "too; give each a variable of its own",
        ),
        (
            "upstreams:\n  search: {url: 'https://a.b', url_env: S, calls: [get /x, GET /y]}",
            "7: environments.e.upstreams.search.calls[0] 'get /x' fits no request; "
            "write it like GET /orders/{id}",
        ),
    ],
)
def test_a_wrong_server_or_upstream_is_named(folder: Path, text: str, problem: str) -> None:
    """Its command and its variables are judged."""
    assert found(folder, with_environment(text)) == [problem]


@pytest.mark.parametrize(
    ("agent", "what"),
    [
        (
            "{command: [run], channels: [mcp]}",
            "has the channel 'mcp', but environment 'e' has no MCP server; "
            "declare one under 'mcp' there",
        ),
        (
            "{command: [run, '{mcp}']}",
            "names {mcp}, but environment 'e' has no MCP server; declare one under 'mcp' there",
        ),
        (
            "{command: [run], channels: [http]}",
            "has the channel 'http', but environment 'e' has no service with a url_env; "
            "declare one under 'http' or 'upstreams' there",
        ),
    ],
)
def test_a_channel_leads_somewhere(folder: Path, agent: str, what: str) -> None:
    """Nobody could ever come to it otherwise."""
    text = START.replace("{command: [run]}", agent) + "cases:\n  c: {agent: a, environment: e}\n"

    assert found(folder, text) == [f"12: cases.c: agent 'a' {what}"]


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
            "18: cases.c.verify[0].equals is a list with a value that is not a list; "
            "write a list of rows, each a list of its values",
        ),
        (
            "sqlite: ledger\nquery: SELECT 1\nequals:\n- [1]\n- - {any_of: []}",
            "20: cases.c.verify[0].equals[1][0]: any_of is []; "
            "it should be a list of at least one value",
        ),
        (
            "command: [check, '{task}']",
            "16: cases.c.verify[0].command[1] names {task}, which is not known; "
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


BANK = "http:\n  bank:\n    state: bank.json\n    routes: bank.yaml\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            BANK.replace("bank.json", "missing.json"),
            "8: environments.e.http.bank.state 'missing.json' does not exist",
        ),
        (
            BANK + "    app: mocks:app\n",
            "7: environments.e.http.bank: it has both routes and an app, or neither; "
            "give one of them",
        ),
        (
            "http:\n  bank:\n    app: mocks/bank.py\n",
            "8: environments.e.http.bank.app 'mocks/bank.py' is not the name of a function; "
            "write it as MODULE:NAME, like mocks.bank:app",
        ),
        (
            BANK + "    locks: [$.holds.*, holds]\n",
            "10: environments.e.http.bank.locks[1]: 'holds' is not a path into a document; "
            "write it like $.holds.h1 or $.sent[0]",
        ),
        (
            BANK
            + "    url_env: A\nfiles:\n  data: {from: fixtures/uploads, at: x, path_env: A}\n",
            "10: environments.e.http.bank and environments.e.files.data have the same url_env; "
            "give each a variable of its own",
        ),
        (
            BANK + "    fault: []\n",
            "10: unknown key 'fault' in environments.e.http.bank; did you mean 'faults'?",
        ),
    ],
)
def test_a_wrong_service_is_named(folder: Path, text: str, problem: str) -> None:
    """Its sources, its variable and its paths into the state are judged."""
    (folder / "bank.json").write_text("{}")
    (folder / "bank.yaml").write_text("- {method: GET, path: /, read: $}\n")

    assert [each for each in found(folder, with_environment(text)) if each.startswith(problem)]


@pytest.mark.parametrize("kind", ["postgres", "redis"])
def test_a_wrong_database_is_named(folder: Path, kind: str) -> None:
    """Its source has to be there."""
    text = with_environment(f"{kind}:\n  shop: {{from: shop.x, url_env: DATABASE_URL}}\n")

    assert found(folder, text)[0].startswith(
        f"7: environments.e.{kind}.shop.from 'shop.x' does not exist"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "url: http://shoop/",
            "10: environments.e.browser.desk.url 'http://shoop/': 'shoop' is not an http service "
            "of the environment; did you mean 'shop'?",
        ),
        (
            "url: https://shop/a",
            "10: environments.e.browser.desk.url 'https://shop/a': services are found by http, "
            "without a port; write http://shop/a",
        ),
        (
            "url: http://shop/\nstorage:\n  http://bank: {local: {a: b}}",
            "12: environments.e.browser.desk.storage.http://bank 'http://bank': 'bank' is not an "
            "http service of the environment; declare it under 'http', or give network: open",
        ),
        (
            "url: http://shop/\ncookies:\n- {name: a, value: b, url: http://x/}",
            "12: environments.e.browser.desk.cookies[0].url 'http://x/': 'x' is not an http ",
        ),
        (
            "url: http://shop/\ncookies:\n- {name: a, valu: b}",
            "12: unknown key 'valu' in environments.e.browser.desk.cookies[0]; "
            "did you mean 'value'?",
        ),
        (
            "url: ftp://shop/",
            "10: environments.e.browser.desk.url is 'ftp://shop/'; ",
        ),
    ],
)
def test_a_wrong_browser_is_named(folder: Path, text: str, problem: str) -> None:
    """Nobody answers at addresses that are none of a service."""
    (folder / "shop.yaml").write_text("- {method: GET, path: /, read: $}\n")
    services = "http:\n  shop: {routes: shop.yaml}\n"
    browser = f"{services}browser:\n  desk:\n{indented(text, 4)}"
    problems = found(folder, with_environment(browser))

    assert [each for each in problems if each.startswith(problem)], problems


def test_a_browser_with_the_network_goes_anywhere(folder: Path) -> None:
    """So its addresses are not judged."""
    browser = "browser:\n  desk: {url: 'https://example.com/', network: open}\n"

    assert found(folder, with_environment(browser)) == []


@pytest.mark.parametrize(
    ("routes", "problem"),
    [
        ("{method: GET}", "bank.yaml:1: routes are a list; write: - {method: GET, path: /holds"),
        ("- {method: get, path: /}", "bank.yaml:1: route [0].method: String should match"),
        ("- {method: GET, path: /, reads: $.x}", "bank.yaml:1: route [0].reads: Extra inputs"),
        ("\n- {method: GET, path: /, read: x}", "bank.yaml:2: route [0]: 'x' is not a path into"),
        (
            "- {method: GET, path: '/{id}', read: '$.x.{ident}'}",
            "bank.yaml:1: route [0]: '{ident}' is not known; known: body, found, id,",
        ),
    ],
)
def test_wrong_routes_are_named_with_their_lines(folder: Path, routes: str, problem: str) -> None:
    """Beside what is wrong with the suite."""
    (folder / "bank.json").write_text("{}")
    (folder / "bank.yaml").write_text(routes)
    problems = loaded(folder, with_environment(BANK)).problems

    assert [each for each in map(str, problems) if problem in each]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("http: bank\nstate: {$.a: 1}", "16: cases.c.verify[0].http: the environment has no http"),
        ("dom: desk\nselector: p", "16: cases.c.verify[0].dom: the environment has no browser"),
        ("dom: desk\nselector: p\ntext: {matches: '('}", "18: cases.c.verify[0].text: "),
        ("http: bank", "16: cases.c.verify[0]: it asks for both state and calls, or for neither"),
        ("http: bank\nstate: {a: 1}", "17: 'a' is not a JSON path to one value"),
        ("http: bank\ncalls: {path: {matches: '('}}", "17: cases.c.verify[0].calls.path: "),
    ],
)
def test_a_wrong_verifier_of_a_service_is_named(folder: Path, text: str, problem: str) -> None:
    """The part, the paths and the rules."""
    assert [each for each in found(folder, with_verifier(text)) if each.startswith(problem)]


def test_every_fault_of_a_runbook_is_named_with_its_line(folder: Path) -> None:
    """In the runbook's own file, before anything is run."""
    (folder / "RUNBOOK.yaml").write_text(
        '- {pattern: "files:data/*", undo: delete}\n'
        "- {pattern: x, undo: shred}\n"
        '- {pattern: x, undo: {delete: "{name}"}}\n'
    )

    problems = loaded(folder, with_agent("command: [run]\nrecords:\n- runbook: RUNBOOK.yaml"))

    assert [(Path(each.file).name, each.line) for each in problems.errors] == [
        ("RUNBOOK.yaml", 2),
        ("RUNBOOK.yaml", 3),
    ]
