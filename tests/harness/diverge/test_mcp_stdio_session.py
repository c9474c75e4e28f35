"""MCP servers over standard input and output are started to be asked again."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import IGNORES_NONE, IGNORING, Ended, tracegrade

AGENT = '''
"""An agent that writes no spans, and asks a server what it has."""

import json
import os
import shlex
import subprocess

command = shlex.split(os.environ["SHOP_MCP"])
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for number, method, params in ((1, "initialize", {}),
                               (2, "tools/list", {}),
                               (3, "tools/call", {"name": "price", "arguments": {"item": 7}}),
                               (4, "tools/call", {"name": "buy", "arguments": {"item": 7}})):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    server.stdin.write(json.dumps(message) + "\\n")
    server.stdin.flush()
    answer = json.loads(server.stdout.readline())
    while "id" not in answer or "method" in answer:
        answer = json.loads(server.stdout.readline())
server.stdin.close()
server.wait()
'''

SERVER = '''
"""A shop as the file beside the suite has it, which writes down where it stands in it."""

import json
import os
import sys
import time
from pathlib import Path

state = json.loads((Path(sys.argv[1]) / "shop.json").read_text())
print("the shop opens", file=sys.stderr, flush=True)
if state.get("shut"):
    sys.exit("the shop is shut")
begun = False
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "notifications/initialized":
        begun = True
    if "id" not in asked or "method" not in asked:
        continue
    params = asked.get("params", {})
    result = {"initialize": {"protocolVersion": "2025-03-26", "capabilities": {}},
              "tools/list": {"tools": [{"name": "price"}, {"name": "buy"}]}}.get(asked["method"])
    if result is None:
        if params["name"] == state.get("leaves_at"):
            sys.exit("the shop is sold")
        if state.get("curious"):
            print('{"jsonrpc": "2.0", "method": "notifications/message"}')
            print('{"jsonrpc": "2.0", "id": "r1", "method": "roots/list"}', flush=True)
            assert json.loads(sys.stdin.readline())["error"]["code"] == -32601
        said = {"amount": state["price"], "clock": time.time_ns(), "files": os.listdir(".")}
        said["begun"] = begun or not state.get("strict")
        result = {"content": [{"type": "text", "text": json.dumps(said)}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
'''

TASKS = "version: 1\ntools: {price: {effect: read}, buy: {effect: write}}\ntasks: {ask: {}}\n"


class Shop:
    """A suite with a tape of a server, which can change."""

    def __init__(self, folder: Path) -> None:
        self.suite = folder / "suite.yaml"

    def becomes(self, **state: Any) -> None:
        """Change what the server does from now on."""
        state = {"price": 3, "strict": True, **state}
        self.suite.with_name("shop.json").write_text(json.dumps(state))

    def diverge(self, *options: object) -> Ended:
        """Ask again what the tape holds."""
        return tracegrade("harness", "diverge", self.suite, "--yes-as-root", *options)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """It, recorded once."""
    folder = tmp_path_factory.mktemp("stdio")
    shop = Shop(folder)
    shop.becomes(strict=False)
    for name, text in (("agent.py", AGENT), ("server.py", SERVER), ("tasks.yaml", TASKS)):
        (folder / name).write_text(text)
    (folder / "fixtures").mkdir()
    server = {
        "command": ["{python}", "{suite}/server.py", "{suite}"],
        "read": ["."],
        "taped": True,
        "command_env": "SHOP_MCP",
    }
    written = {
        "version": 1,
        "suite": "asking",
        "tasks": "tasks.yaml",
        "agents": {"worker": {"command": ["{python}", "{suite}/agent.py"], "channels": ["mcp"]}},
        "environments": {
            "desk": {
                "files": {"data": {"from": "fixtures", "at": "data"}},
                "mcp": {"shop": server},
            }
        },
        "cases": {"ask": {"environment": "desk", "agent": "worker"}},
    }
    shop.suite.write_text(yaml.safe_dump(written))
    ended = tracegrade(
        "harness", "record", shop.suite, "--yes-as-root", "--folder", folder / "home"
    )
    assert ended.returncode == 0, ended.stderr
    return shop


@pytest.fixture
def shop(recorded: Shop) -> Iterator[Shop]:
    """It, as it was when it was recorded, but that it wants to be begun as MCP says."""
    recorded.becomes()
    yield recorded
    recorded.becomes()


def test_a_server_that_is_as_it_was_does_not_diverge(shop: Shop) -> None:
    """Though it tells the time; what may write is not asked."""
    ended = shop.diverge()

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines() == [
        "asked 3 calls: 0 divergences in 0 calls",
        "not asked: 1 call, may write; --writes asks it all the same",
    ]


def test_a_changed_answer_is_found_without_a_sandbox_too(shop: Shop) -> None:
    """Writes are asked where that is wanted."""
    shop.becomes(price=4)
    ended = shop.diverge("--writes", "--sandbox", "none", "--yes-as-root")

    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.count("recorded 3, live 4") == 2
    assert "asked 4 calls: 2 divergences in 2 calls" in ended.stdout


def test_what_a_server_asks_of_its_client_is_refused(shop: Shop) -> None:
    """And what it tells is passed over."""
    shop.becomes(curious=True)
    ended = shop.diverge()

    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_server_that_does_not_start_is_told_with_its_last_line(shop: Shop) -> None:
    """It is not a divergence."""
    shop.becomes(shut=True)
    ended = shop.diverge()

    assert ended.returncode == 3
    assert "mcp server 'shop' ended without an answer: the shop is shut" in ended.stderr
    assert "not asked: 3 calls, its service gave no reply" in ended.stdout


def test_a_server_that_leaves_at_a_call_diverges_there(shop: Shop) -> None:
    """Others have been asked before."""
    shop.becomes(leaves_at="price")
    ended = shop.diverge()

    assert ended.returncode == 1, ended.stderr
    assert "ask: mcp:shop tools/call price" in ended.stdout
    assert "gone" in ended.stdout
    assert "asked 3 calls: 1 divergence in 1 call" in ended.stdout


def test_a_command_gets_the_text_of_an_issue(shop: Shop, tmp_path: Path) -> None:
    """Only if an answer differs; its output is not part of the document."""
    command = f"sh -c 'tee {tmp_path}/issue.md'"
    shop.diverge("--on-divergence", command)
    assert not (tmp_path / "issue.md").exists()
    shop.becomes(price=4)
    ended = shop.diverge("--on-divergence", command, "--format", "json")

    assert ended.returncode == 1
    text = (tmp_path / "issue.md").read_text()
    assert text.startswith("## Services answer differently from their tapes\n")
    assert text in ended.stderr
    assert json.loads(ended.stdout)["diverged"][0]["live"] == "4"


@pytest.mark.slow
def test_a_command_ignores_no_signal_whatever_the_harness_ignores(shop: Shop) -> None:
    """Its own check of that would be a warning if it did not end with 0."""
    shop.becomes(price=4)
    told = shlex.join([sys.executable, "-S", "-c", IGNORES_NONE])
    words = ["-m", "tracegrade", "harness", "diverge", str(shop.suite)]

    ended = subprocess.run(
        [*IGNORING, sys.executable, *words, "--on-divergence", told],
        capture_output=True,
        check=False,
    )

    assert ended.returncode == 1, ended.stderr
    assert b"warning" not in ended.stderr


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("", 2, "--on-divergence has no command; give one, or leave it out"),
        ("tell 'it", 2, "cannot be split into words: No closing quotation"),
        ("no-such-program", 1, "'no-such-program' of --on-divergence cannot be run: No such file"),
        ("no-such-program", 1, "it is run without a shell"),
        ("true | cat", 2, "has '|', which means something to a shell alone"),
        ("true '|' && cat", 2, "has '&&', which means something to a shell alone"),
        ("false '|'", 1, "'false' of --on-divergence ended with 1"),
        ("false", 1, "'false' of --on-divergence ended with 1; run it by hand"),
    ],
)
def test_a_command_that_cannot_tell_hides_no_divergence(
    shop: Shop, command: str, code: int, said: str
) -> None:
    """Its failure is a warning beside the divergence; words that are none end it before asking."""
    shop.becomes(price=4)
    ended = shop.diverge("--on-divergence", command)

    assert (ended.returncode, said in ended.stderr) == (code, True), ended.stderr
    assert ("answered differently from the tape" in ended.stderr) == (code == 1)
