"""Servers that the harness starts end with it, or with their keeper, or by `harness clean`."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.commands import tracegrade

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.servers import managed_server
from tracegrade_harness.parts.servers.managed_server import ManagedServer, ServerFolder

SLEEP = ("sleep", "3600")


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Servers of these tests stand apart from all others."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something holds; it fails if it does not in half a minute."""
    ends = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)


def server_of(kept: ManagedServer) -> psutil.Process:
    """Return the process of a server."""
    (found,) = psutil.Process(kept._keeper.pid).children()
    assert isinstance(found, psutil.Process)
    return found


def test_a_closed_server_has_ended_and_its_folder_is_gone() -> None:
    """Closing it again does nothing."""
    folder = ServerFolder("nobody")
    kept = ManagedServer(folder, SLEEP, signal.SIGINT)
    server = server_of(kept)
    kept.close()
    kept.close()

    assert not server.is_running()
    assert not folder.path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give rights away")
def test_a_superuser_runs_servers_as_somebody_else() -> None:
    """An agent that takes one over has not taken the machine."""
    kept = ManagedServer(ServerFolder("no-such-account", "nobody"), SLEEP, signal.SIGINT)
    users = server_of(kept).uids()
    kept.close()

    assert 0 not in users


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Nothing of it is left."""
    with pytest.raises(EnvironmentFailed, match="'no-such-program' cannot be started"):
        ManagedServer(ServerFolder("nobody"), ["no-such-program"], signal.SIGINT)

    assert not list(tmp_path.iterdir())


def test_a_server_that_ends_by_itself_is_noticed() -> None:
    """With its last words."""
    command = ["sh", "-c", "echo no luck; exit 1"]
    kept = ManagedServer(ServerFolder("nobody"), command, signal.SIGINT)
    wait_for(kept.has_ended)
    words = kept.last_words()
    kept.close()

    assert words == "no luck"


def test_a_server_whose_keeper_was_killed_ends_and_clean_removes_its_folder(
    tmp_path: Path,
) -> None:
    """Servers that a living harness uses are left alone."""
    dead, alive = (ManagedServer(ServerFolder("nobody"), SLEEP, signal.SIGINT) for _ in range(2))
    server = server_of(dead)
    dead._keeper.kill()
    wait_for(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)
    ended = tracegrade("harness", "clean", "--folder", tmp_path / "home")
    left = list(tmp_path.glob(f"{managed_server.PREFIX}*"))
    alive.close()
    dead.close()

    assert "and 1 of dead servers" in ended.stdout
    assert left == [alive.folder]


def test_a_server_ends_with_its_keeper_whatever_the_harness_ignores() -> None:
    """As `nohup` does, and shells do with what they run in the background."""
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    try:
        kept = ManagedServer(ServerFolder("nobody"), SLEEP, signal.SIGINT)
    finally:
        signal.signal(signal.SIGQUIT, before)
    server = server_of(kept)
    kept._keeper.kill()

    wait_for(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)
    kept.close()


def test_clean_ends_what_works_in_a_dead_folder() -> None:
    """A server that outlived its keeper, where the system does not end it."""
    folder = ServerFolder("nobody")
    with subprocess.Popen(SLEEP, cwd=folder.path) as server:
        folder.release()

        assert managed_server.remove_dead() == 1
        assert server.wait(30) == -signal.SIGKILL
    assert not folder.path.exists()
