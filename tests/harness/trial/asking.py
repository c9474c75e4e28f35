"""A suite whose agent asks what is outside of its environment: an upstream, and a taped server."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import yaml
from starlette.requests import Request
from starlette.responses import JSONResponse
from tests.harness.trial.agents import HarnessRun

from tracegrade_harness.parts.servers.http_server import HttpServer

AGENT = '''
"""An agent that writes no spans: it asks a search and a clock, and writes down the answers."""

import json
import os
import shlex
import subprocess
import sys
import urllib.request
from pathlib import Path

WORD = Path("data/word").read_text().strip()


def search(word):
    request = urllib.request.Request(os.environ["SEARCH_URL"] + "/search",
                                     json.dumps({"word": word}).encode())
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()


def clock():
    command = shlex.split(os.environ["CLOCK_MCP"])
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    found = []
    for number, method, params in ((1, "initialize", {"clientInfo": {"pid": os.getpid()}}),
                                   (2, "tools/call", {"name": "now", "arguments": {}}),
                                   (3, "tools/call", {"name": "now", "arguments": {}})):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write(json.dumps(message) + "\\n")
        server.stdin.flush()
        found.append(json.loads(server.stdout.readline()))
    server.stdin.close()
    server.wait()
    return json.dumps([answer.get("result", answer.get("error")) for answer in found[1:]])


first = search(WORD)
Path("data/search").write_text(first + "\\n" + search(WORD))
Path("data/clock").write_text(clock())
'''

CLOCK = """
import json
import os
import sys
import time

for line in sys.stdin:
    request = json.loads(line)
    text = f"{time.time_ns()} in {sorted(os.listdir('.'))}"
    result = {"content": [{"type": "text", "text": text}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"


class Search:
    """A service that never gives the same answer twice, and says what it should not."""

    def __init__(self) -> None:
        self.numbers = count(1)

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        """Answer with a number that goes up."""
        if scope["type"] == "http":
            asked = json.loads(await Request(scope, receive).body())
            found = {"number": next(self.numbers), "word": asked["word"], "api_key": KEY}
            await JSONResponse(found)(scope, receive, send)


@contextmanager
def searching() -> Iterator[str]:
    """Yield the URL of the service while it is there."""
    with closing(HttpServer(Search())) as server:
        yield f"http://{server.address.host}:{server.address.port}"


def made(folder: Path, url: str, case: Mapping[str, Any], **suite: Any) -> HarnessRun:
    """Write a suite with one case, `ask`."""
    (folder / "fixtures").mkdir(parents=True)
    (folder / "fixtures/word").write_text("tea")
    (folder / "agent.py").write_text(AGENT)
    (folder / "clock.py").write_text(CLOCK)
    clock = {
        "command": ["{python}", "{suite}/clock.py"],
        "taped": True,
        "command_env": "CLOCK_MCP",
    }
    written = {
        "version": 1,
        "suite": "asking",
        "agents": {
            "worker": {"command": ["{python}", "{suite}/agent.py"], "channels": ["mcp", "http"]}
        },
        "environments": {
            "desk": {
                "files": {"data": {"from": "fixtures", "at": "data"}},
                "upstreams": {"search": {"url": url, "url_env": "SEARCH_URL"}},
                "mcp": {"clock": clock},
            }
        },
        "cases": {"ask": {"environment": "desk", "agent": "worker", **case}},
        **suite,
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(written, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
