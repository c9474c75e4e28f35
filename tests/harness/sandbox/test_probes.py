"""Ways out of the sandbox, sixty-eight, tried by an agent of the real harness in each mode.

`-s` prints what got through, which docs/internals/measurements.md repeats.
"""

import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.harness.overlays import as_nobody, ran
from tests.harness.sandbox.probing import ANSWERS, SECRETS, made

from tracegrade_harness.sandbox.bwrap import Bubblewrap

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the probes are system calls")
LIBC = ctypes.CDLL(None)
SLEEP = [sys.executable, "-c", "import time; time.sleep(3600)"]
CREATE = 0o1000 | 0o666
REMOVE = 0


@contextmanager
def outside(place: Path) -> Iterator[dict[str, Any]]:
    """Provide what stands outside, and where: sockets, a process, shared memory, files."""
    with ExitStack() as stack:
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = f"probed-{os.getpid()}"
        for address in ("\0" + abstract, f"{place}/database.sock", f"{place}/suite/own/own.sock"):
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(address)
            server.listen()
        victim = stack.enter_context(subprocess.Popen(SLEEP))
        stack.callback(victim.kill)
        segment = LIBC.shmget(key := 0x7261_6365, 4096, CREATE)
        stack.callback(LIBC.shmctl, segment, REMOVE, None)
        files = [
            stack.enter_context(tempfile.NamedTemporaryFile("w", dir=folder))
            for folder in (tempfile.gettempdir(), "/dev/shm")  # noqa: S108
        ]
        for file in files:
            file.write("secret")
            file.flush()
        yield {
            "place": str(place),
            "home": f"{place}/user",
            "suite": f"{place}/suite",
            "victim": victim.pid,
            "secrets": SECRETS,
            "answers": ANSWERS,
            "abstract": abstract,
            "port": port.getsockname()[1],
            "temporary": files[0].name,
            "memory": files[1].name,
            "segment": key,
        }


def tried(place: Path, user: str, network: str, *options: str) -> tuple[int, list[str]]:
    """Return how many probes a user's agent tried, and which got through."""
    suite = made(place, network)
    with outside(place) as known:
        (place / "suite/own/known.json").write_text(json.dumps(known))
        words = [sys.executable, "-m", "tracegrade", *suite.command(*options)]
        command = words if user == "own" else as_nobody(place, words)
        (place / "others").chmod(0o600)
        if os.geteuid() == 0:
            os.chown(place / "others", 0, 0)
        ended = ran(["env", "PROBED_SECRET=secret", f"HOME={place}/user", *command])
    (log,) = suite.home.glob("runs/2*/logs/*-agent.log")
    assert ended.returncode == 0, ended.stdout + ended.stderr + log.read_text()
    found = json.loads(log.read_text().splitlines()[-1])
    how = f"{user} {' '.join(options)}, network {network}"
    got = f"{len(found['through'])} of {found['tried']} got through"
    print(f"\n{how}: {got}", *found["through"], sep="\n  ")  # noqa: T201 - for `-s`
    return found["tried"], found["through"]


@pytest.fixture
def place() -> Iterator[Path]:
    """A place that no sandbox has its own of."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name).resolve()


@pytest.mark.parametrize("user", ["own", pytest.param("nobody", marks=pytest.mark.slow)])
@pytest.mark.parametrize("network", ["none", pytest.param("open", marks=pytest.mark.slow)])
def test_no_probe_gets_out_of_bubblewrap(place: Path, user: str, network: str) -> None:
    """Whoever runs it; with the network open, ports of this machine are reached, as is said."""
    if why := Bubblewrap().why_not():
        pytest.skip(why)
    if user == "nobody" and not shutil.which("setpriv"):
        pytest.skip("no program 'setpriv' to run as another user")

    number, through = tried(place, user, network, "--sandbox", "bwrap")

    assert number == 68
    assert through == (["connect to a port"] if network == "open" else [])


@pytest.mark.slow
@pytest.mark.parametrize("user", ["own", "nobody"])
def test_without_a_sandbox_most_do(place: Path, user: str) -> None:
    """So what is refused inside is refused by the sandbox, and not for want of trying."""
    _, through = tried(place, user, "none", "--sandbox", "none")

    assert {"read .env", "read the suite's expected/a", "connect to a socket"} < {*through}
    assert len(through) >= 25
    assert "find_variable" not in through
