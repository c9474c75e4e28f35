"""What any sandbox does: a program runs as told, and ends with all that it started."""

import json
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.citations import ROOT
from tests.harness.overlays import as_nobody, ran
from tests.harness.sandbox.programs import BOMB, DAEMON, HOLD, TREE, TREE_SIZE, Alive, program
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_harness.errors import SandboxFailed
from tracegrade_harness.sandbox.choice import Sandbox, available
from tracegrade_harness.sandbox.plain import Plain
from tracegrade_harness.sandbox.processes import SUPERVISOR, Running
from tracegrade_harness.sandbox.program import ProcessLimits, Program

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are counted in /proc")


def run(sandbox: Sandbox, told: Program) -> int | None:
    """Return how a program ends."""
    with sandbox.start(told) as running:
        return running.wait(PATIENCE_SECS)


def test_a_program_runs_as_told(sandbox: Sandbox, tmp_path: Path) -> None:
    """Folder, variables and output are as given; its exit code comes back."""
    code = (
        "import os, sys\n"
        "environment = {k: v for k, v in os.environ.items() if k not in ('PATH', 'LC_CTYPE')}\n"
        "print(os.getcwd(), environment, sys.stdin.read() == '')\n"
        "print('fault', file=sys.stderr)\n"
        "sys.exit(7)\n"
    )

    assert run(sandbox, program(tmp_path, code)) == 7
    expected = f"{tmp_path} {{'GREETING': 'grüß\\n'}} True\n"
    assert (tmp_path / "stdout").read_text() == expected
    assert (tmp_path / "stderr").read_text() == "fault\n"


@linux
def test_signals_are_as_in_a_shell_whatever_the_harness_ignores(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """A harness in the background, or under `nohup`, runs the same agents."""
    ignored = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in ignored]
    told = program(tmp_path, "print(open('/proc/self/status').read())")
    try:
        code = run(sandbox, told)
    finally:
        for number, handler in zip(ignored, before, strict=True):
            signal.signal(number, handler)
    status = dict(line.split(":\t", 1) for line in told.stdout.read_text().split("\n") if line)
    masked = sum(1 << number - 1 for number in ignored)

    assert code == 0
    assert int(status["SigIgn"], 16) & masked == 0


def test_a_signal_is_told(sandbox: Sandbox, tmp_path: Path) -> None:
    """As a negative number."""
    told = program(tmp_path, "import os; os.kill(os.getpid(), 11)")

    assert run(sandbox, told) == -signal.SIGSEGV


def test_a_kill_ends_daemons_and_sessions_of_their_own(sandbox: Sandbox, tmp_path: Path) -> None:
    """By the time it returns, none is left."""
    with Alive(tmp_path) as alive, sandbox.start(program(tmp_path, TREE)) as running:
        wait_until(lambda: alive.ready() == TREE_SIZE)
        waited = running.wait(0)
        running.kill()
        anyone = alive.is_anyone()
        running.kill()

        assert (waited, anyone) == (None, False)
        assert running.wait() == -signal.SIGKILL
        assert running.leftovers() == []


def test_a_kill_ends_what_forks_all_the_time(sandbox: Sandbox, tmp_path: Path) -> None:
    """Each process lives for a moment only, and leaves another one."""
    code = HOLD + "ready()\nwhile True:\n    if os.fork():\n        os._exit(0)\n    os.setsid()\n"
    with Alive(tmp_path) as alive, sandbox.start(program(tmp_path, code)) as running:
        wait_until(lambda: alive.ready() and running.wait(0) == 0)
        running.kill()

        assert not alive.is_anyone()


def test_what_lives_on_is_named(sandbox: Sandbox, tmp_path: Path) -> None:
    """Processes and ports that outlive the program, which ended well."""
    serve = "server = socket.create_server(('127.0.0.1', 0))\nprint(server.getsockname()[1])\n"
    code = HOLD + DAEMON + serve + "sys.stdout.flush()\ndaemon()\n"
    with Alive(tmp_path) as alive, sandbox.start(program(tmp_path, code)) as running:
        code_of_end = running.wait(PATIENCE_SECS)
        wait_until(alive.ready)
        port = (tmp_path / "stdout").read_text().strip()
        process, *_ = reversed(running.leftovers())
        ports = running.leftovers()[:-1]
        running.kill()

        assert code_of_end == 0
        assert ports == [f"port:tcp/{port}"]
        assert process.startswith(f"process:{Path(sys.executable).name} -c \\nimport os, socket")
        assert not alive.is_anyone()


HARNESS = """
import sys
from pathlib import Path
from tests.harness.sandbox.programs import TREE, program
from tracegrade_harness.sandbox.choice import SANDBOXES

(sandbox,) = [each for each in SANDBOXES if each.name == sys.argv[1]]
with sandbox.start(program(Path(sys.argv[2]), TREE)) as running:
    running.wait()
"""


def test_what_a_killed_harness_ran_ends(sandbox: Sandbox, tmp_path: Path) -> None:
    """Nobody is there to end it, so it ends by itself."""
    with Alive(tmp_path) as alive:
        command = [sys.executable, "-c", HARNESS, sandbox.name, str(tmp_path)]
        with subprocess.Popen(command, cwd=ROOT) as harness:
            wait_until(lambda: alive.ready() == TREE_SIZE or harness.poll() is not None)
            assert harness.poll() is None
            harness.kill()

        wait_until(lambda: not alive.is_anyone())


def test_limits_hold(sandbox: Sandbox, tmp_path: Path) -> None:
    """Memory of a process, and the size of a file."""
    code = (
        "import errno\n"
        "try:\n    bytearray(1 << 30)\nexcept MemoryError:\n    pass\n"
        "try:\n    open('big', 'wb').write(bytes(1 << 20))\nexcept OSError as error:\n"
        "    raise SystemExit(7 if error.errno == errno.EFBIG else error)\n"
    )
    limits = ProcessLimits(memory_bytes=512 << 20, disk_bytes=65_536)

    assert run(sandbox, program(tmp_path, code, limits)) == 7
    assert (tmp_path / "big").stat().st_size == 65_536


@linux
@pytest.mark.parametrize("begin", ["process", "thread"])
def test_processes_and_threads_are_limited(sandbox: Sandbox, tmp_path: Path, begin: str) -> None:
    """Also those of the superuser; all are ended, and the reason is reported."""
    told = program(tmp_path, f"{BOMB}burst({begin})\n", ProcessLimits(processes=40))
    with Alive(tmp_path) as alive, sandbox.start(told) as running:
        assert running.wait(PATIENCE_SECS) == -signal.SIGKILL
        assert running.over_limit == "processes: more than 40"
        assert running.leftovers() == []
        assert not alive.is_anyone()


BESIDE = """
import sys, threading, time
from pathlib import Path
from tracegrade_harness.sandbox.plain import Plain
from tracegrade_harness.sandbox.program import ProcessLimits, Program

here = Path(sys.argv[1])
out = here / "out"
argv = [sys.executable, "-c", sys.argv[2]]
with Plain().start(Program(argv, here, here, {}, out, out, ProcessLimits(processes=4))) as running:
    for _ in range(30):
        threading.Thread(target=time.sleep, args=[3600], daemon=True).start()
    (here / "go").touch()
    print(running.wait(), flush=True)
"""
THREAD = """
import threading, time
from pathlib import Path

while not Path("go").exists():
    time.sleep(0.01)
threading.Thread(target=time.sleep, args=[0.1]).start()
"""


@linux
def test_what_a_user_starts_elsewhere_takes_nothing_from_a_program(temporary_place: Path) -> None:
    """The kernel counts all threads of a user together, those of other trials, too."""
    command = [sys.executable, "-c", BESIDE, str(temporary_place), THREAD]

    ended = ran(as_nobody(temporary_place, command))

    assert ended.stdout == "0\n", ended.stderr


@linux
def test_a_bomb_that_a_daemon_left_is_ended(sandbox: Sandbox, tmp_path: Path) -> None:
    """Its agent has ended well; that stays so."""
    code = f"{BOMB}if os.fork():\n    os._exit(3)\nburst(process)\n"
    told = program(tmp_path, code, ProcessLimits(processes=40))
    with Alive(tmp_path) as alive, sandbox.start(told) as running:
        assert running.wait(PATIENCE_SECS) == 3
        wait_until(lambda: running.next_fact(0) == {"limit": "processes: more than 40"})
        running.kill()

        assert running.wait() == 3
        assert not alive.is_anyone()


def test_what_comes_to_the_folder_is_limited(sandbox: Sandbox, tmp_path: Path) -> None:
    """All files together; what was there does not count, nor the same file by another name."""
    (tmp_path / "there").write_bytes(bytes(3 << 20))
    wide = "import time\nfor n in range(9):\n    open(f'{n}', 'wb').write(bytes(1 << 19))\n"
    named = "import os\nfor n in range(99):\n    os.link('there', f'link{n}')\n"
    limits = ProcessLimits(disk_bytes=2 << 20)
    wait = "time.sleep(600)\n"
    with sandbox.start(program(tmp_path, named + wide.replace("9", "3"), limits)) as running:
        assert (running.wait(PATIENCE_SECS), running.over_limit) == (0, None)
    with sandbox.start(program(tmp_path, wide + wait, limits)) as running:
        assert running.wait(PATIENCE_SECS) == -signal.SIGKILL
        assert running.over_limit == "disk_mb: more than 2"


@pytest.mark.parametrize(
    ("handles", "code", "why"), [(0, 1, "disk_mb: more than 1"), (1, 0, None)]
)
def test_a_file_that_may_grow_no_further_is_the_limit(
    sandbox: Sandbox, tmp_path: Path, handles: int, code: int, why: str | None
) -> None:
    """A program that fails for it was ended by it; one that goes on ended as it wanted to."""
    text = (
        "try:\n    open('big', 'wb').write(bytes(2 << 20))\n"
        f"except OSError:\n    raise SystemExit(not {handles})\n"
    )
    told = program(tmp_path, text, ProcessLimits(disk_bytes=1 << 20))
    with sandbox.start(told) as running:
        assert (running.wait(PATIENCE_SECS), running.over_limit) == (code, why)


def test_a_program_that_is_missing_is_said(sandbox: Sandbox, tmp_path: Path) -> None:
    """And so is a folder."""
    told = program(tmp_path, "")
    missing = Program(["no-such-agent"], tmp_path, tmp_path, {}, told.stdout, told.stderr)
    with pytest.raises(SandboxFailed, match=r"'no-such-agent' cannot be started: .*No such file"):
        sandbox.start(missing)
    nowhere = Program(["true"], tmp_path, tmp_path / "nowhere", {}, told.stdout, told.stderr)
    with pytest.raises(SandboxFailed, match=r"cannot be started: .*nowhere"):
        sandbox.start(nowhere)


def test_without_bubblewrap_there_is_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is named; running without a sandbox is always possible."""
    monkeypatch.setenv("PATH", "/nowhere")

    assert available() == {"bwrap": "no program 'bwrap'; install bubblewrap", "none": None}


def test_what_may_keep_bubblewrap_from_its_namespaces_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on Ubuntu 24.04, where a user may have none unless the machine's settings allow it."""
    told = "bwrap: setting up uid map: Permission denied"
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\necho '{told}' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    reason = available()["bwrap"]

    assert reason is not None
    assert reason.startswith(told)
    assert "kernel.apparmor_restrict_unprivileged_userns" in reason


def test_an_end_that_is_told_with_the_start_is_seen_by_who_waits_for_it() -> None:
    """Both come at once of a program that ends at once; its trial would wait out its time."""
    control, theirs = socket.socketpair()
    with subprocess.Popen([sys.executable, "-c", ""]) as outer, control, theirs:
        running = Running(outer, control, lambda _: None)
        theirs.sendall(b'{"started": 7}\n{"ended": 0}\n')

        assert running.next_fact(0) == {"started": 7}
        assert select.select([running], [], [], 0)[0] == [running]
        assert running.wait(0) == 0
        assert select.select([running], [], [], 0)[0] == []


def test_an_agent_that_kills_its_supervisor_is_found_out(tmp_path: Path) -> None:
    """Without a sandbox it can; it dies of it, and the trial is not taken for a good one."""
    code = "import os, time; os.kill(os.getppid(), 9); time.sleep(600)"
    running = Plain().start(program(tmp_path, code))
    with pytest.raises(SandboxFailed, match="has ended"):
        running.wait(PATIENCE_SECS)
    with pytest.raises(SandboxFailed, match="may live"), running:
        pass


def test_a_program_that_ends_before_anyone_looks_is_told(tmp_path: Path) -> None:
    """Its end may come before its supervisor is back from starting it."""
    slow = (
        "import subprocess, time\n"
        "start = subprocess.Popen.__init__\n"
        "def late(self, *args, **kwargs):\n"
        "    start(self, *args, **kwargs)\n"
        "    time.sleep(0.3)\n"
        "subprocess.Popen.__init__ = late\n"
    )
    text = SUPERVISOR.read_text().replace('"""Runs beside', f'{slow}"""Runs beside', 1)
    ours, theirs = socket.socketpair()
    (tmp_path / "supervisor.py").write_text(text)
    asked = {"command": ["sh", "-c", "exit 7"], "folder": str(tmp_path), "environment": {}}
    with (
        ours,
        subprocess.Popen(
            [sys.executable, tmp_path / "supervisor.py", str(theirs.fileno()), "alone"],
            pass_fds=[theirs.fileno()],
        ) as supervisor,
    ):
        theirs.close()
        none: dict[str, object] = {"limits": [], "ports": [], "counted": [], "image": None}
        ours.sendall(json.dumps({**asked, **none}).encode() + b"\n")
        ours.settimeout(PATIENCE_SECS)
        with ours.makefile() as lines:
            facts = [json.loads(next(lines)) for _ in range(2)]
        ours.shutdown(socket.SHUT_RDWR)
        supervisor.wait(PATIENCE_SECS)

    assert facts[1] == {"ended": 7, "crowded": False}
