"""A suite whose agents try to get out of the sandbox, each in the way that its task is named."""

import os
from pathlib import Path
from typing import Any

import yaml
from tests.harness.trial.agents import HarnessRun

AGENT = '''
"""Tries to get out, and writes down what came of it: what it expects is `refused`."""

import ctypes
import glob
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import tracegrade

TASK, SUITE = sys.argv[1], Path(sys.argv[2])
HARNESS = int((SUITE / "harness.pid").read_text()) if (SUITE / "harness.pid").exists() else 1
RESULTS = []


def tried(what, act):
    """Do something, and note whether it was refused."""
    try:
        done = act()
    except (OSError, ValueError) as error:
        RESULTS.append("refused")
        print(what, repr(error))
    else:
        RESULTS.append(f"{what}: {done!r}"[:200])


def connected(family, address):
    with socket.socket(family) as asked:
        asked.settimeout(5)
        asked.connect(address)
        asked.sendall(b"hello")


def outside_write():
    for path in (SUITE / "escaped", SUITE / "agent.py", SUITE / "home/escaped",
                 SUITE / "lake/escaped", "/etc/escaped", "/usr/escaped", "/dev/escaped",
                 sys.executable, "/sys/kernel/escaped", "/proc/sys/kernel/core_pattern"):
        tried(path, lambda: os.open(path, os.O_WRONLY | os.O_CREAT))


def network():
    port = int((SUITE / "port").read_text())
    tried("loopback", lambda: connected(socket.AF_INET, ("127.0.0.1", port)))
    tried("outside", lambda: connected(socket.AF_INET, ("192.0.2.1", 80)))
    tried("name", lambda: socket.getaddrinfo("example.com", 80))
    tried("abstract", lambda: connected(socket.AF_UNIX, "\\0" + (SUITE / "abstract").read_text()))


def fork_bomb():
    for _ in range(300):  # and no more, if the tree is not ended
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # it ends with its parent
            time.sleep(3600)
    time.sleep(3600)


def big_file():
    for path in ("data/big", "/tmp/big", "/dev/shm/big", "/run/big"):
        def write():
            with open(path, "wb") as file:
                os.truncate(file.fileno(), 10 << 30)
        tried(path, write)
        Path(path).unlink()


def many_files():
    for number in range(200):
        Path("data", str(number)).write_bytes(os.urandom(1 << 20))
    time.sleep(3600)


def symlink_out():
    Path("data/notes").unlink()
    Path("data/notes").symlink_to(SUITE / "secret")
    Path("data/folder").symlink_to(SUITE)
    Path("data/a").symlink_to(SUITE / "secret")
    tried("secret", lambda: Path("data/a").open("a").write("x"))
    Path(".tracegrade").mkdir()
    undo = {"restore": "data/a", "from": "data/notes"}
    entry = {"object": "files:data/folder/secret", "undo": {"delete": "data/folder/secret"}}
    lines = [entry, {"object": "files:data/a", "undo": undo}]
    Path(".tracegrade/rollback.jsonl").write_text("".join(json.dumps(x) + "\\n" for x in lines))


def kill_harness():
    tried("harness", lambda: os.kill(HARNESS, signal.SIGKILL))
    tried("its group", lambda: os.killpg(HARNESS, signal.SIGKILL))
    for pid in set(range(2, 500)) - {int(thread) for thread in os.listdir("/proc/self/task")}:
        tried(pid, lambda: os.kill(pid, signal.SIGKILL))
    os.kill(1, signal.SIGKILL)  # its supervisor: in a namespace, the first is not to be killed
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tried("all", lambda: os.kill(-1, signal.SIGTERM))


def ptrace():
    libc = ctypes.CDLL(None, use_errno=True)
    attach, seize = 16, 0x4206

    def attached(request, pid):
        if libc.ptrace(request, pid, None, None) != 0:
            raise OSError(ctypes.get_errno())
    for pid in {1, HARNESS}:
        tried(f"attach {pid}", lambda: attached(attach, pid))
        tried(f"seize {pid}", lambda: attached(seize, pid))
        tried(f"memory {pid}", lambda: open(f"/proc/{pid}/mem", "rb"))


def environment_key():
    key = (SUITE / "key").read_text()

    def found(path):
        if key not in Path(path).read_text(errors="replace"):
            raise OSError("no key there")
    for path in {"/proc/self/environ", *glob.glob("/proc/[0-9]*/environ")}:
        tried(path, lambda: found(path))


def otlp_grading():
    span = {"traceId": os.urandom(16).hex(), "spanId": os.urandom(8).hex(), "name": "invoke_agent",
            "startTimeUnixNano": str(time.time_ns()), "endTimeUnixNano": str(time.time_ns() + 9),
            "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}},
                {"key": "tracegrade.task.id", "value": {"stringValue": "many_ways"}},
                {"key": "tracegrade.kill_point", "value": {"stringValue": "late"}}],
            "events": [{"name": "gen_ai.evaluation.result", "attributes": [
                {"key": "gen_ai.evaluation.name", "value": {"stringValue": "success"}},
                {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 1.0}}]}]}
    sent = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    request = urllib.request.Request(
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces", json.dumps(sent).encode(),
        {"Content-Type": "application/json"})
    urllib.request.urlopen(request).close()
    record = {"traceId": RUN.trace_id, "spanId": RUN.span_id, "eventName":
              "gen_ai.evaluation.result", "timeUnixNano": str(time.time_ns()), "attributes":
              span["events"][0]["attributes"]}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    request = urllib.request.Request(
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/logs", json.dumps(logs).encode(),
        {"Content-Type": "application/json"})
    urllib.request.urlopen(request).close()
    base = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"].rpartition("/")[0]
    tried("another's", lambda: urllib.request.urlopen(base + "/guess/v1/traces", b"").close())
    tried("collector", lambda: connected(socket.AF_INET, ("127.0.0.1", 4318)))


def victim():
    """Another trial, with sockets of its own; it runs until the intruder has ended."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("data/socket")
        server.listen()
        server.settimeout(1)
        while not (SUITE / "over").exists():
            try:
                peer, _ = server.accept()
            except TimeoutError:
                continue
            Path("data/came").write_text("connected")
    Path("data/result").write_text("refused\\n" if not Path("data/came").exists() else "came\\n")


def other_trial():
    home, gate = SUITE / "home", os.environ["TRACEGRADE_GATE"]
    while not (SUITE / "sockets").exists():
        time.sleep(0.02)
    for pattern in (f"{home}/runs/*/trials/victim*", f"{home}/runs/*/run.jsonl",
                    f"{home}/frozen/*", f"{SUITE}/temporary/*/gate"):
        found = [path for path in glob.glob(pattern) if path != gate]
        RESULTS.append(f"saw {found}" if found else "refused")
    for path in set(json.loads((SUITE / "sockets").read_text())) - {gate}:
        kind = socket.SOCK_SEQPACKET if path.endswith("gate") else socket.SOCK_STREAM
        with socket.socket(socket.AF_UNIX, kind) as asked:
            tried(path, lambda: asked.connect(path))


def proc_of_harness():
    for name in ("environ", "cmdline", "maps", "mem", "root/etc/passwd", "cwd/x", "fd/0"):
        tried(name, lambda: open(f"/proc/{HARNESS}/{name}", "rb").read(1))
    for name in ("environ", "mem", "root/etc/passwd", "fd/3", "maps"):
        tried(f"1 {name}", lambda: open(f"/proc/1/{name}", "rb").read(1))
    tried("sysrq", lambda: open("/proc/sysrq-trigger", "w").write("h"))


def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.execv(sys.executable, [sys.executable, "-c",
                     "import time; time.sleep(3600)", "escaped-daemon", str(SUITE)])
        os._exit(0)
    os.wait()


def trap():
    """Leave a program that a verifier runs: it ends with 1 if nothing keeps it in."""
    Path("data/check.py").write_text(f"""
import socket, sys
def is_refused(act):
    try:
        act()
    except OSError:
        return True
    return False
acts = [lambda: open({str(SUITE / "escaped")!r}, "w").close(),
        lambda: socket.create_connection(("127.0.0.1", {(SUITE / "port").read_text()}), 5)]
sys.exit(0 if all([is_refused(act) for act in acts]) else 1)
""")


def many_ways():
    """All that an agent can still try after another of them."""
    for way in (outside_write, network, environment_key, proc_of_harness, ptrace, big_file,
                kill_harness):
        way()


tracegrade.init(service="ignored")


class RUN:
    trace_id = span_id = ""


@tracegrade.tool(effect="write")
def escape():
    from opentelemetry import trace
    context = trace.get_current_span().get_span_context()
    RUN.trace_id, RUN.span_id = f"{context.trace_id:032x}", f"{context.span_id:016x}"
    globals()[TASK]()


with tracegrade.agent_run("worker", task=TASK, user_input="Get out.") as run:
    escape()
    if TASK != "victim":
        Path("data/result").write_text("\\n".join(sorted(set(RESULTS) or {"refused"})) + "\\n")
    run.answer("Done.")
'''

REFUSED = [{"files": "data", "path": "result", "text": "refused\n"}]
ESCAPES: dict[str, dict[str, Any]] = {
    "victim": {"verify": REFUSED},
    "other_trial": {"verify": REFUSED},
    "many_ways": {"verify": REFUSED, "limits": {"disk_mb": 16}},
    "fork_bomb": {"limits": {"processes": 100}},
    "many_files": {"limits": {"disk_mb": 16}},
    "symlink_out": {
        "verify": [{"files": "data", "path": "notes", "text": {"matches": "outside"}}],
        "kill": {"points": ["late"]},
    },
    "otlp_grading": {"verify": [{"files": "data", "path": "result", "text": "never\n"}]},
    "daemon": {"verify": REFUSED},
    "trap": {"verify": [{"command": ["{python}", "data/check.py"]}]},
}
CONTROLS: dict[str, dict[str, Any]] = {
    "network": {"verify": REFUSED},
    "environment_key": {"verify": REFUSED},
    "proc_of_harness": {"verify": REFUSED},
    "trap": ESCAPES["trap"],
}
"""What succeeds without a sandbox, and does no harm then."""


def made(folder: Path, cases: dict[str, dict[str, Any]]) -> HarnessRun:
    """Write the suite."""
    (folder / "fixtures").mkdir()
    (folder / "fixtures/notes").write_text("Buy milk.")
    (folder / "agent.py").write_text(AGENT)
    agent = {
        "command": ["{python}", "{suite}/agent.py", "{task}", "{suite}"],
        "release": "1",
        "read": ["."],
        "records": [{"journal": ".tracegrade/rollback.jsonl"}],
        "environment": {"set": {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}},
    }
    suite = {
        "version": 1,
        "suite": "escaping",
        "agents": {"worker": agent},
        "environments": {"notes": {"files": {"data": {"from": "fixtures", "at": "data"}}}},
        "cases": {
            task_id: {"environment": "notes", "agent": "worker", **case}
            for task_id, case in cases.items()
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
