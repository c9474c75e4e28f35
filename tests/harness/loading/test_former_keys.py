"""Keys of suites that had another name before."""

from pathlib import Path
from typing import Any

import yaml
from tests.harness.loading.build import found, loaded, with_agent, with_environment

from tracegrade_harness.loading.former_keys import FORMER_KEYS

BEFORE = """
version: 1
suite: s
agents:
  a: {command: [run], doors: [http]}
environments:
  e:
    files: {data: {from: fixtures/uploads, at: data, path_as: DATA}}
    http:
      bank: {app: "b:app", url_as: BANK, faults: [{at: 1, status: 503, carried_out: true}]}
    mcp: {shop: {command: [serve], command_as: SHOP}}
    upstreams: {model: {url: "https://m.example.com", url_as: MODEL, is_a: model}}
cases:
  c: {agent: a, environment: e, normalise: [{pattern: b, with: c}]}
"""


def test_an_old_key_is_read_by_its_new_name(folder: Path) -> None:
    """`check` says so, and where; what is wrong with its value is named by the new one."""
    with_old = loaded(folder, with_agent("command: [run]\ndoors: [http]"))
    assert with_old.suite is not None
    assert with_old.suite.agents["a"].channels == ["http"]
    assert with_old.errors == []
    assert [str(each).split("suite.yaml:")[1] for each in with_old.problems] == [
        "6: agents.a.doors is now 'channels'; rename the key"
    ]

    wrong, note = found(folder, with_agent("command: [run]\ndoors: [window]"))
    assert note.startswith("6: agents.a.doors is now 'channels'")
    assert wrong.startswith("6: agents.a.channels[0] is 'window'")


def test_both_names_of_a_key_are_an_error(folder: Path) -> None:
    """Neither is guessed; the line is that of the former name."""
    twice = found(folder, with_agent("command: [run]\nchannels: [http]\ndoors: [http]"))
    assert twice == [
        "7: agents.a.doors is now 'channels', which is given as well; remove one of them"
    ]
    server = "mcp:\n  shop: {command: [serve], command_env: A, command_as: B}"
    (error,) = loaded(folder, with_environment(server)).errors
    assert error.fact.startswith("environments.e.mcp.shop.command_as is now 'command_env'")


def test_each_former_key_has_its_note_and_its_value(folder: Path) -> None:
    """A suite of before means what it meant."""
    suite = loaded(folder, BEFORE)
    assert suite.suite is not None
    notes = [each for each in suite.problems if "is now" in each.fact]
    assert {each.fact.split("is now ")[1].strip("'") for each in notes} == {*FORMER_KEYS.values()}
    assert all(each.is_note for each in notes)
    environment: Any = suite.suite.environments["e"]
    assert environment.files["data"].path_env == "DATA"
    assert environment.http["bank"].url_env == "BANK"
    assert environment.http["bank"].faults[0].applied
    assert environment.mcp["shop"].command_env == "SHOP"
    model = environment.upstreams["model"]
    assert (model.url_env, model.protocol) == ("MODEL", "model")
    assert [rule.pattern for rule in suite.suite.cases["c"].normalize] == ["b"]


def test_names_that_people_give_are_no_keys(folder: Path) -> None:
    """An agent named `doors`, or a part named `url_as`, keeps its name."""
    values = yaml.safe_load(BEFORE)
    values["agents"]["doors"] = {"command": ["run"]}
    values["environments"]["e"]["files"] = {"url_as": {"from": "fixtures/uploads", "at": "data"}}
    suite = loaded(folder, yaml.safe_dump(values)).suite
    assert suite is not None
    assert {*suite.agents} == {"a", "doors"}
    assert [*suite.environments["e"].parts["files"]] == ["url_as"]
