"""A suite whose agents write no spans: they speak MCP, and what they do is their task."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from tests.harness.trial.agents import HarnessRun

SERVER = '''
"""An MCP server that keeps notes as files; it knows nothing of the harness."""

import json
import sys
import threading
import time
from pathlib import Path

DATA = Path("data")


def look(arguments):
    return sorted(path.name for path in DATA.iterdir())


def write(arguments):
    with open(DATA / arguments["name"], "x") as file:
        file.write("x")
    return "written"


def slow_write(arguments):
    (DATA / "begun").touch()
    time.sleep(0.3)
    return write(arguments)


def answer(request):
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"}}
    if method != "tools/call":
        raise LookupError(method)
    try:
        text = json.dumps(globals()[params["name"]](params.get("arguments", {})))
        return {"content": [{"type": "text", "text": text}]}
    except OSError as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}


def serve(request):
    try:
        sent = {"result": answer(request)}
    except Exception as error:
        sent = {"error": {"code": -32601, "message": str(error)}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **sent}) + "\\n")
    sys.stdout.flush()


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        threading.Thread(target=serve, args=(request,)).start()
'''

AGENT = '''
"""An MCP client of a few lines."""

import json
import os
import shlex
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

TASK = sys.argv[1]
COMMAND = shlex.split(os.environ["NOTES_MCP"])
NUMBERS = count(1)


def start():
    server = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    ask(server, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                               "clientInfo": {"name": "agent", "version": "1"}})
    send(server, {"method": "notifications/initialized"})
    return server


def send(server, message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    server.stdin.flush()


def ask(server, method, params):
    number = next(NUMBERS)
    send(server, {"id": number, "method": method, "params": params})
    while (answer := json.loads(server.stdout.readline())).get("id") != number:
        pass
    return answer["result"]


def call(server, tool, **arguments):
    return ask(server, "tools/call", {"name": tool, "arguments": arguments})


def careless(server):
    call(server, "look")
    call(server, "write", name="a")
    call(server, "look")
    call(server, "write", name="b")


def undone(server):
    careless(server)


def clumsy(server):
    call(server, "write", name="a")
    assert call(server, "write", name="a")["isError"]


def abrupt(server):
    number = next(NUMBERS)
    params = {"name": "slow_write", "arguments": {"name": "a"}}
    send(server, {"id": number, "method": "tools/call", "params": params})
    while not Path("data/begun").exists():
        time.sleep(0.01)
    os._exit(0)


def parallel(server):
    call(server, "look")
    for name in "ab":
        params = {"name": "write", "arguments": {"name": name}}
        send(server, {"id": f"call-{name}", "method": "tools/call", "params": params})
    answers = {json.loads(server.stdout.readline())["id"] for _ in "ab"}
    assert answers == {"call-a", "call-b"}, answers


if TASK == "recover":
    left = Path("data")
    for path in left.iterdir():
        if path.name != "notes":
            path.unlink()
else:
    server = start()
    globals()[TASK.partition("-")[0]](server)
    server.stdin.close()
    raise SystemExit(server.wait())
'''

NODE_AGENT = """
// An MCP client of a few lines, in another language.
const { spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");
const lines = require("node:readline");

const { command, args } = JSON.parse(readFileSync(process.argv[2])).mcpServers.notes;
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let number = 0;

lines.createInterface({ input: server.stdout }).on("line", (line) => {
  const answer = JSON.parse(line);
  waiting.get(answer.id)(answer.result);
});

function ask(method, params) {
  const id = `r${++number}`;
  server.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\\n");
  return new Promise((resolve) => waiting.set(id, resolve));
}

const call = (name, parameters = {}) => ask("tools/call", { name, arguments: parameters });

(async () => {
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {} });
  await call("look");
  await call("write", { name: "a" });
  await call("look");
  await call("write", { name: "b" });
  server.stdin.end();
})();
"""

WROTE = [{"files": "data", "only_changed": ["a", "b"]}, {"files": "data", "path": "a"}]
KILLS: dict[str, Any] = {"kill": {"points": ["early", "mid", "late"]}, "verify": WROTE}


def made(
    folder: Path,
    cases: Mapping[str, Mapping[str, Any]],
    command: Sequence[str] = ("{python}", "{suite}/agent.py", "{task}"),
    server: Sequence[str] = ("{python}", "{suite}/server.py"),
) -> HarnessRun:
    """Write a suite whose cases are tasks of an agent behind the channel `mcp`."""
    (folder / "fixtures").mkdir(parents=True)
    (folder / "fixtures/notes").write_text("Buy milk.")
    for name, text in (("agent.py", AGENT), ("agent.js", NODE_AGENT), ("server.py", SERVER)):
        (folder / name).write_text(text)
    agent = {"command": [*command], "release": "1", "channels": ["mcp"]}
    recover = ["{python}", "{suite}/agent.py", "recover"]
    environment = {
        "files": {"data": {"from": "fixtures", "at": "data"}},
        "mcp": {"notes": {"command": [*server], "command_env": "NOTES_MCP"}},
    }
    suite = {
        "version": 1,
        "suite": "shopping",
        "agents": {"worker": agent, "recovering": {**agent, "recover": recover}},
        "environments": {"home": environment},
        "cases": {
            task_id: {"environment": "home", "agent": "worker", **case}
            for task_id, case in cases.items()
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")


def steps(tried: HarnessRun, task_id: str) -> list[tuple[Any, ...]]:
    """Return kind, tool, arguments and status of the steps of a task's undisturbed run."""
    trajectory = tried.row(task_id)["trajectory_id"]
    found = tried.query(
        "SELECT kind, tool_name, arguments, status FROM steps "
        f"WHERE trajectory_id = '{trajectory}' ORDER BY step_index"
    )
    return [
        (row["kind"], row["tool_name"], json.loads(row["arguments"] or "null"), row["status"])
        for row in found
    ]
