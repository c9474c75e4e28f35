"""An agent that tries to get at what is outside of its sandbox, in sixty-eight ways.

It prints which of them got through. All that it does where nothing holds it is undone at once: it
sets the clock to what it is, and the machine's name to itself.
"""

from pathlib import Path
from typing import Any, Final

import yaml
from tests.harness.trial.agents import HarnessRun

AGENT: Final = '''
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import termios
import time
from pathlib import Path

KNOWN = json.loads(Path(sys.argv[1]).read_text())
PLACE, HOME, SUITE, VICTIM = (KNOWN[key] for key in ("place", "home", "suite", "victim"))
OPEN = set(os.listdir("/proc/self/fd")) - {"0", "1", "2"}
LIBC = ctypes.CDLL(None, use_errno=True)
PROBES = {}


def probe(act):
    PROBES[act.__name__] = act


def call(function, *arguments):
    done = getattr(LIBC, function)(*arguments)
    if done < 0:
        raise OSError(ctypes.get_errno(), function)
    return done


def system_call(number, *arguments):
    return call("syscall", ctypes.c_long(number), *arguments)


def reading(name, path):
    PROBES[name] = lambda: "secret" in Path(path).read_text(errors="replace")


def opening(name, path, flags=os.O_WRONLY | os.O_CREAT):
    def act():
        was_there = os.path.exists(path)
        os.close(os.open(path, flags))
        if not was_there:
            os.unlink(path)
        return True
    PROBES[name] = act


def connecting(name, family, address):
    def act():
        with socket.socket(family) as asked:
            asked.settimeout(5)
            asked.connect(address)
        return True
    PROBES[name] = act


def in_child(act):
    """Return what a child says that may change itself for it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if act() else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


for each in KNOWN["secrets"]:
    reading("read " + each, os.path.join(HOME, each))
for each in KNOWN["answers"]:
    reading("read the suite's " + each, os.path.join(SUITE, each))
    opening("change the suite's " + each, os.path.join(SUITE, each), os.O_WRONLY | os.O_APPEND)
reading("read .env in the agent's own folder", os.path.join(SUITE, "own/.env"))
reading("read the lake", os.path.join(SUITE, "lake/known"))
reading("read another trial", os.path.join(SUITE, "home/runs/other/trials/known"))
reading("read another user's file", os.path.join(PLACE, "others"))
reading("read a temporary file of the machine", KNOWN["temporary"])
reading("read by a way through the first process", f"/proc/1/root{HOME}/.env")
reading("read by a way through a process", f"/proc/{VICTIM}/root{HOME}/.env")
reading("read a process's variables", f"/proc/{VICTIM}/environ")
reading("read shared memory", KNOWN["memory"])
opening("write to the place of the suite", os.path.join(SUITE, "own/escaped"))
opening("write to /etc", "/etc/tracegrade-escaped")
opening("write to the interpreter", os.path.join(sys.prefix, "escaped"))
opening("write to /usr", "/usr/tracegrade-escaped")
opening("write to /dev", "/dev/tracegrade-escaped")
opening("open core_pattern", "/proc/sys/kernel/core_pattern", os.O_WRONLY)
opening("open sysrq-trigger", "/proc/sysrq-trigger", os.O_WRONLY)
opening("open the machine's memory", "/dev/mem", os.O_RDONLY)
opening("open the kernel's memory", "/proc/kcore", os.O_RDONLY)
connecting("connect to a socket", socket.AF_UNIX, os.path.join(PLACE, "database.sock"))
connecting("connect to a socket in the own folder", socket.AF_UNIX, f"{SUITE}/own/own.sock")
connecting("connect to an abstract socket", socket.AF_UNIX, chr(0) + KNOWN["abstract"])
connecting("connect to a port", socket.AF_INET, ("127.0.0.1", KNOWN["port"]))


@probe
def see_shadow():
    return ":" in Path("/etc/shadow").read_text()


@probe
def see_machine_id():
    return bool(Path("/etc/machine-id").read_text())


@probe
def see_processes():
    return Path(f"/proc/{VICTIM}/cmdline").read_bytes() != b""


@probe
def follow_link():
    Path("data/link").symlink_to(f"{HOME}/.env")
    return "secret" in Path("data/link").read_text()


@probe
def make_hard_link():
    os.link(f"{PLACE}/own", "data/hard")
    return True


@probe
def signal_process():
    os.kill(VICTIM, 0)
    return True


@probe
def trace_process():
    call("ptrace", 0x4206, VICTIM, None, None)  # PTRACE_SEIZE, which ends with this process
    return True


@probe
def read_memory_of_process():
    with open(f"/proc/{VICTIM}/mem", "rb"):
        return True


@probe
def write_user_keyring():
    key = system_call(248, b"user", b"tracegrade-probe", b"x", ctypes.c_size_t(1), -4)
    system_call(250, 9, key, -4)  # KEYCTL_UNLINK
    return True


@probe
def read_user_keyring():
    return system_call(250, 6, -4, None, 0) >= 0  # KEYCTL_DESCRIBE


@probe
def set_clock():
    clock_id, now = time.CLOCK_REALTIME, time.time()
    time.clock_settime(clock_id, now)
    return True


@probe
def set_host_name():
    name = socket.gethostname().encode()
    call("sethostname", name, len(name))
    return name != b"sandbox"


@probe
def mount():
    os.mkdir("data/mounted")
    call("mount", b"tmpfs", b"data/mounted", b"tmpfs", 0, None)
    call("umount2", b"data/mounted", 2)
    return True


@probe
def make_user_namespace():
    return in_child(lambda: call("unshare", 0x10000000) == 0)


@probe
def clone_user_namespace():
    flags = 0x10000000 | signal.SIGCHLD
    return in_child(lambda: system_call(56, flags, None, None, None, None) >= 0)


@probe
def enter_namespace():
    with open(f"/proc/{VICTIM}/ns/mnt") as namespace:
        return in_child(lambda: call("setns", namespace.fileno(), 0) == 0)


@probe
def gain_rights_by_setuid():
    return "NoNewPrivs:\\t1" not in Path("/proc/self/status").read_text()


@probe
def keep_capabilities():
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":\\t") for line in lines)
    return int(status["CapEff"], 16) | int(status["CapPrm"], 16) != 0


@probe
def type_into_terminal():
    _, terminal = os.openpty()

    def act():
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
        return True
    return in_child(act)


@probe
def leave_root_by_chroot():
    return in_child(lambda: call("chroot", b"data") == 0)


@probe
def make_device():
    os.mknod("data/device", 0o600 | 0o020000, os.makedev(1, 1))
    return True


@probe
def read_kernel_log():
    return call("klogctl", 3, ctypes.create_string_buffer(100), 100) >= 0


@probe
def load_bpf():
    return system_call(321, 0, struct.pack("IIIII", 1, 4, 4, 1, 0) + bytes(100), 120) >= 0


@probe
def find_open_files():
    return len(OPEN) > 1  # one is that of the folder itself


@probe
def find_variable():
    return "PROBED_SECRET" in os.environ


@probe
def attach_shared_memory():
    return call("shmget", KNOWN["segment"], 0, 0) >= 0


through = []
for name, act in PROBES.items():
    try:
        if act():
            through.append(name)
    except (OSError, ValueError, KeyError) as error:
        print(name, repr(error))
import tracegrade

tracegrade.init(service="probe")
with tracegrade.agent_run("probe", user_input="Get out.") as run:
    run.answer("Done.")
print(json.dumps({"tried": len(PROBES), "through": sorted(through)}))
'''
SECRETS: Final = (
    *(".ssh/id_ed25519", ".aws/credentials", ".claude.json", ".codex/auth.json", ".env"),
    *(".my.cnf", ".s3cfg", ".terraform.d/credentials.tfrc.json", ".config/gh/hosts.yml"),
    "notes/of-no-list",
)
ANSWERS: Final = ("suite.yaml", "tasks.yaml", "tapes/probe.jsonl", "expected/a", "check.py")


def written(path: Path, text: str = "secret") -> None:
    """Write a file, and the folders that it stands in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def made(place: Path, network: str) -> HarnessRun:
    """Write a suite with one agent, and what it is after."""
    suite = place / "suite"
    for name in SECRETS:
        written(place / "user" / name)
    for name in ("tapes/probe.jsonl", "expected/a", "own/.env", "lake/known"):
        written(suite / name)
    written(suite / "home/runs/other/trials/known")
    written(suite / "fixtures/a")
    written(suite / "own/agent.py", AGENT)
    written(suite / "tasks.yaml", "version: 1\ntasks: {probe: {expected: []}}  # secret\n")
    written(place / "others")
    written(place / "own")
    content: dict[str, Any] = {
        "version": 1,
        "suite": "probing",
        "tasks": "tasks.yaml",
        "agents": {
            "probe": {
                "command": ["{python}", "{suite}/own/agent.py", "{suite}/own/known.json"],
                "read": ["own"],
                "network": network,
                "environment": {"pass": ["PYTHONPATH"]},
            }
        },
        "environments": {"notes": {"files": {"data": {"from": "fixtures", "at": "data"}}}},
        "cases": {
            "probe": {
                "environment": "notes",
                "agent": "probe",
                "verify": [
                    {"files": "data", "expect": "expected", "under": "a"},
                    {"command": ["{python}", "{suite}/check.py"]},
                ],
            }
        },
    }
    written(suite / "suite.yaml", yaml.safe_dump(content) + "# secret\n")
    written(suite / "check.py", "print(open('data/a').read() == 'secret')")
    return HarnessRun(suite / "suite.yaml", suite / "lake", suite / "home")
