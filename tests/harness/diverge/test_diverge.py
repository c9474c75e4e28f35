"""Answers that differ from the tapes are found; values that vary each time are not."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml
from tests.harness.diverge.serving import ITEM, KEY, Recorded, Shop, recorded

from tracegrade_harness.diverge.suite import ask_again
from tracegrade_harness.loading.load import load
from tracegrade_harness.proxy.messages import ProxiedRequest
from tracegrade_harness.proxy.upstream import LiveUpstream, UpstreamFailed
from tracegrade_harness.sandbox.stoppable import StoppableSandbox
from tracegrade_harness.trial.run import find_sandbox, usable
from tracegrade_harness.trial.suite_run import without_agents

GET_ITEM = 'ask: http:shop GET /items/7 {"query":{"unit":["g","kg"]}}'


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """A suite with a tape, recorded once."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("SHOP_KEY", KEY)
        yield stack.enter_context(recorded(tmp_path_factory.mktemp("diverge")))


@pytest.fixture
def asked(once: Recorded) -> Recorded:
    """It, whose service is as it was when it was recorded."""
    fresh = Shop()
    once.shop.item, once.shop.page, once.shop.price = fresh.item, fresh.page, fresh.price
    once.shop.gone = set()
    return once


def test_a_service_that_is_as_it_was_does_not_diverge(asked: Recorded) -> None:
    """Though it counts, in JSON and in the text of a tool's result."""
    ended = asked.diverge()

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines() == [
        "asked 6 calls: 0 divergences in 0 calls",
        "not asked: 2 calls, may write; --writes asks it all the same",
        "not asked: 1 call, model",
    ]


def test_each_call_that_reads_is_asked_twice(asked: Recorded) -> None:
    """By method, protocol or task file; no other is."""
    asked.diverge()

    assert sorted({*asked.shop.lines}) == [
        "GET /items/7",
        "GET /page",
        "POST /find",
        "initialize",
        "tools/call price",
        "tools/list",
    ]
    assert {asked.shop.lines.count(line) for line in asked.shop.lines} == {2}


def test_writes_are_asked_where_that_is_wanted(asked: Recorded) -> None:
    """A model is not even then."""
    ended = asked.diverge("--writes")

    assert ended.returncode == 0, ended.stdout
    assert asked.shop.lines.count("POST /orders") == 2
    assert asked.shop.lines.count("tools/call buy") == 2
    assert "POST /chat" not in asked.shop.lines
    assert "not asked: 1 call, model" in ended.stdout


def test_a_changed_shape_is_found(asked: Recorded) -> None:
    """A key that came, one that went, and a type that changed."""
    asked.shop.item = {"id": "7", "name": "tea", "stock": {"count": 5, "unit": "g"}, "price": 3}
    del asked.shop.item["name"]
    ended = asked.diverge()

    assert ended.returncode == 1
    assert [line for line in ended.stdout.splitlines() if line.startswith(GET_ITEM)] == [
        f'{GET_ITEM}: schema at $.id: recorded 7, live "7"',
        f'{GET_ITEM}: schema at $.name: recorded "tea", live nothing',
        f'{GET_ITEM}: schema at $.stock.unit: recorded nothing, live "g"',
    ]
    assert f"tracegrade harness record {asked.suite} --case ask --replace" in ended.stderr


def test_a_changed_value_is_found(asked: Recorded) -> None:
    """In JSON, in a text that is none, and in what a tool of an MCP server says."""
    asked.shop.item = {**ITEM, "price": 4}
    asked.shop.page = "<p>closed</p>"
    asked.shop.price = {"amount": 4}
    lines = asked.diverge().stdout.splitlines()

    assert f"{GET_ITEM}: value at $.price: recorded 3, live 4" in lines
    assert (
        'ask: http:shop GET /page: value at $: recorded "<p>open</p>", live "<p>closed</p>"'
    ) in lines
    assert (
        'ask: mcp:wiki tools/call price {"item":7}: value at $.content[0].text.amount: '
        "recorded 3, live 4"
    ) in lines
    assert "asked 6 calls: 4 divergences in 4 calls" in lines


def test_what_is_now_an_error_is_gone(asked: Recorded) -> None:
    """A path, and a tool."""
    asked.shop.gone = {"/page", "price"}
    ended = asked.diverge()
    kinds = [line.split(": ")[1:3] for line in ended.stdout.splitlines() if " at $" in line]

    assert ended.returncode == 1
    assert kinds == [
        ["http:shop GET /page", "gone at $"],
        ['mcp:wiki tools/call price {"item":7}', "gone at $"],
    ]


def test_neither_secrets_nor_escapes_are_shown(asked: Recorded) -> None:
    """Of what a service says that has gone bad."""
    asked.shop.item = {**ITEM, "name": KEY, "\x1b[2J\n```": 1}
    for form in ("text", "json", "markdown"):
        ended = asked.diverge("--format", form)

        assert ended.returncode == 1
        assert "[redacted:" in ended.stdout
        assert KEY not in ended.stdout + ended.stderr
        assert "\x1b" not in ended.stdout


def test_programs_read_json(asked: Recorded) -> None:
    """An object for each divergence."""
    asked.shop.item = {**ITEM, "price": 4}
    ended = asked.diverge("--format", "json", "--case", "a*")
    document = json.loads(ended.stdout)

    assert document["asked"] == 6
    assert document["not_asked"]["model"] == 1
    assert document["diverged"][0] == {
        "case": "ask",
        "channel": "http:shop",
        "name": "GET /items/7",
        "arguments": {"query": {"unit": ["g", "kg"]}},
        "kind": "value",
        "path": "$.price",
        "recorded": "3",
        "live": "4",
    }


def test_an_issue_says_how_to_record_anew(asked: Recorded) -> None:
    """After the differences; each of their lines is code."""
    asked.shop.page = "<p>\n\n# closed</p>"
    lines = asked.diverge("--format", "markdown").stdout.splitlines()

    assert lines[0] == "## Services answer differently from their tapes"
    assert lines[2].startswith("    ask: http:shop GET /page: value at $: ")
    assert f"    tracegrade harness record {asked.suite} --case ask --replace" in lines
    assert "- asked 6 calls: 1 divergence in 1 call" in lines


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "xml"], "no format 'xml'; give text, json or markdown"),
        (["--case", "other"], "no case is chosen; the suite has ask"),
    ],
)
def test_wrong_options_are_refused(asked: Recorded, options: list[str], said: str) -> None:
    """Nothing is asked then."""
    ended = asked.diverge(*options)

    assert ended.returncode == 2
    assert said in ended.stderr
    assert asked.shop.lines == []


def test_a_missing_tape_is_told(asked: Recorded) -> None:
    """Before anything is asked."""
    suite = asked.suite.with_name("other.yaml")
    assert asked.suite.read_text().endswith("    agent: asker\n")
    suite.write_text(f"{asked.suite.read_text()}    tape: other.jsonl\n")
    ended = asked._replace(suite=suite).diverge()

    assert ended.returncode == 2
    assert "record it with `tracegrade harness record`" in ended.stderr
    assert asked.shop.lines == []


def test_a_service_that_cannot_be_reached_is_no_divergence(asked: Recorded) -> None:
    """The others are asked all the same."""
    suite = asked.suite.with_name("unreachable.yaml")
    shop = "url_env: SHOP_URL"
    text = asked.suite.read_text()
    port = text.partition("http://127.0.0.1:")[2].partition("\n")[0]
    line = f"url: http://127.0.0.1:{port}\n        {shop}"
    assert line in text
    suite.write_text(text.replace(line, f"url: http://user:pass@127.0.0.1:1\n        {shop}"))
    ended = asked._replace(suite=suite).diverge()

    assert ended.returncode == 3
    assert "127.0.0.1:1 gives no reply" in ended.stderr
    assert "pass@" not in ended.stdout + ended.stderr
    assert "asked 3 calls: 0 divergences in 0 calls" in ended.stdout
    assert "not asked: 3 calls, its service gave no reply" in ended.stdout


@pytest.mark.parametrize("path", ["@127.0.0.1/", ".example.com/", ":1/"])
def test_a_path_cannot_lead_to_another_host(path: str) -> None:
    """Which would be sent the keys of the service."""
    upstream = LiveUpstream("http://127.0.0.1", {"Authorization": KEY})

    with pytest.raises(UpstreamFailed, match="does not begin with '/'"):
        upstream(ProxiedRequest("GET", path, "", (), b""))


def test_a_tape_cannot_lead_to_another_host(asked: Recorded, tmp_path: Path) -> None:
    """Nor a call that held a secret be made again."""
    tape = asked.suite.parent / "tapes/ask.jsonl"
    header, *lines = tape.read_text().splitlines()
    page = next(line for line in lines if "GET /page" in line)
    tools = next(line for line in lines if "tools/list" in line)
    hostile = [
        page.replace("/page", "@evil.example/"),
        page.replace("/page", "/p?k=[redacted:x]"),
        tools.replace('"path": "/"', '"path": "/?k=[redacted:x]"'),
    ]
    other = tmp_path / "tapes/ask.jsonl"
    other.parent.mkdir()
    other.write_text("\n".join([header, *hostile]) + "\n")
    for name in ("suite.yaml", "tasks.yaml", "agent.py"):
        (tmp_path / name).write_text((asked.suite.parent / name).read_text())
    (tmp_path / "fixtures").mkdir()
    ended = asked._replace(suite=tmp_path / "suite.yaml").diverge()

    assert ended.returncode == 0, ended.stderr
    assert asked.shop.lines == []
    assert ended.stdout.splitlines()[1:] == [
        "not asked: 1 call, no method and path",
        "not asked: 2 calls, it held a secret, which tapes do not have",
    ]


def test_a_service_is_asked_no_more_often_than_the_suite_says(asked: Recorded) -> None:
    """The last call waits until all before it have had their turns."""
    suite = asked.suite.with_name("paced.yaml")
    content = yaml.safe_load(asked.suite.read_text())
    content["environments"]["desk"]["upstreams"]["shop"]["rate"] = 20
    suite.write_text(yaml.safe_dump(content))
    loaded = load(suite)
    found = usable(loaded)
    asked.shop.lines.clear()
    began = time.monotonic()

    suite_run = without_agents(loaded, found, StoppableSandbox(find_sandbox(None)), suite.parent)
    ask_again(suite_run, found.cases, writes=False)

    to_shop = [line for line in asked.shop.lines if " /" in line]
    assert len(to_shop) == 6
    assert time.monotonic() - began >= 5 / 20


@pytest.mark.slow
def test_an_mcp_server_is_asked_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the path and with the query that its tape has; an older tape does not say."""
    monkeypatch.setenv("SHOP_KEY", KEY)
    with recorded(tmp_path, "/teams/7/server?lang=en") as suite:
        ended = suite.diverge()
        asked = [line for line in suite.shop.lines if " /" not in line]
        tape = suite.suite.parent / "tapes/ask.jsonl"
        older = tape.read_text().replace('"path": "/teams/7/server?lang=en", ', "")
        assert older != tape.read_text()
        tape.write_text(older)
        unknown = suite.diverge()

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert sorted({*asked}) == ["initialize", "tools/call price", "tools/list"]
    assert unknown.returncode == 1
    assert "mcp:wiki tools/list: gone at $" in unknown.stdout
