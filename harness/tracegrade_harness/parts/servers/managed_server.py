"""Third-party servers that the harness starts, in folders that end with the harness.

Each has a supervisor (`server_supervisor.py`), which ends it after every kind of end of the
harness. A server's folder is locked while its supervisor lives; `remove_dead` removes unlocked
folders.
"""

import contextlib
import fcntl
import json
import os
import pwd
import secrets
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil

from tracegrade_harness.errors import EnvironmentFailed

HOST: Final = "127.0.0.1"
PREFIX: Final = "tracegrade-server-"
START_SECS: Final = 30.0
KEEPER: Final = Path(__file__).with_name("server_supervisor.py")
LEASE: Final = "lease"
LOG: Final = "log"
_LAST_WORDS: Final = 500


class ServerUser(NamedTuple):
    """The user that runs a server, if it is not the harness's own."""

    id: int
    group: int


class ServerFolder:
    """A new folder for a server; only the server's user and the superuser can enter it."""

    def __init__(self, *accounts: str) -> None:
        """Create the folder.

        Args:
            accounts: Accounts of this machine. A harness that the superuser runs takes the first
                that exists, so that servers for agents have no superuser's rights.

        Raises:
            EnvironmentFailed: It cannot be created.
        """
        self.user = _user(accounts)
        try:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lease = os.open(self.path / LEASE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lease, fcntl.LOCK_EX)
            self.own(self.path)
        except OSError as error:
            msg = f"no folder for a server: {error}; see that '{tempfile.gettempdir()}' is well"
            raise EnvironmentFailed(msg) from error

    @property
    def lease(self) -> int:
        """The file descriptor that locks the folder."""
        return self._lease

    def own(self, path: Path) -> None:
        """Give a file, or a folder with its content, to the server's user."""
        if self.user is None:
            return
        os.chown(path, *self.user, follow_symlinks=False)
        for folder, folders, files in os.walk(path):
            for name in (*folders, *files):
                os.chown(os.path.join(folder, name), *self.user, follow_symlinks=False)

    def run(self, command: Sequence[str], given: str = "") -> None:
        """Run a program to its end, as the server's user.

        Raises:
            EnvironmentFailed: It failed.
        """
        done = subprocess.run(  # noqa: S603 - programs of the server
            command,
            cwd=self.path,
            env=_VARIABLES,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            **_identity(self.user),
        )
        if done.returncode != 0:
            msg = f"'{command[0]}' ended with {done.returncode}: {_end_of(done.stderr)}"
            raise EnvironmentFailed(f"{msg}; check that the disk works and is not full")  # noqa: EM102

    def remove(self) -> None:
        """Remove the folder, if no supervisor does. Idempotent."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.release()

    def release(self) -> None:
        """Leave the folder to its supervisor, which also locks it. Idempotent."""
        lease, self._lease = self._lease, -1
        if lease >= 0:
            os.close(lease)


class ManagedServer:
    """A server that runs until it is closed, or until the harness ends."""

    def __init__(self, folder: ServerFolder, command: Sequence[str], stop_signal: int) -> None:
        """Start it; it need not answer yet.

        Args:
            folder: Its working folder; removed with it.
            command: Its program, which must stay in the foreground.
            stop_signal: The signal that lets it end in good order.

        Raises:
            EnvironmentFailed: It cannot be started.
        """
        self._folder = folder
        self._words = bytearray()
        try:
            self._keeper = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", str(KEEPER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=_VARIABLES,
                pass_fds=[folder.lease],
                start_new_session=True,  # Ctrl-C is for the harness, which then decides
                bufsize=0,
            )
        except OSError as error:
            folder.remove()
            msg = f"no keeper for '{command[0]}' can be started: {error}; see `ulimit -u`"
            raise EnvironmentFailed(msg) from error
        folder.release()
        self._send(_setup_line(folder, command, stop_signal))
        fact = self._fact(START_SECS) or {}
        if "started" not in fact:
            self.close()
            msg = f"'{command[0]}' cannot be started: {fact.get('failed', 'its supervisor ended')}"
            raise EnvironmentFailed(f"{msg}; see that it is installed")  # noqa: EM102 - as above

    @property
    def folder(self) -> Path:
        """Its working folder."""
        return self._folder.path

    def has_ended(self) -> bool:
        """Return whether it has ended by itself."""
        return self._fact(0) is not None or self._keeper.poll() is not None

    def last_words(self) -> str:
        """Return the end of its output."""
        with contextlib.suppress(OSError):
            return _end_of((self._folder.path / LOG).read_text(errors="replace"))
        return ""

    def stop(self) -> None:
        """Let it end in good order; its folder stays until `close`.

        Raises:
            EnvironmentFailed: It does not end.
        """
        self._send("stop")
        if self._fact(START_SECS) is None:
            msg = f"a server does not end in {START_SECS:g} s: {self.last_words()}; try again"
            raise EnvironmentFailed(msg)

    def close(self) -> None:
        """End it and remove its folder. Idempotent."""
        for pipe in (self._keeper.stdin, self._keeper.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._keeper.wait(START_SECS)

    def _send(self, line: str) -> None:
        assert self._keeper.stdin is not None  # noqa: S101 - a pipe
        with contextlib.suppress(OSError):  # it has ended, as the missing answer shows
            self._keeper.stdin.write(f"{line}\n".encode())

    def _fact(self, timeout_secs: float) -> dict[str, Any] | None:
        """Return the supervisor's next report; None if there is none in time."""
        assert self._keeper.stdout is not None  # noqa: S101 - a pipe
        ends = time.monotonic() + timeout_secs
        while b"\n" not in self._words:
            left = max(0.0, ends - time.monotonic())
            if not select.select([self._keeper.stdout], [], [], left)[0]:
                return None
            read = os.read(self._keeper.stdout.fileno(), 4096)
            if not read:
                return None
            self._words += read
        line, _, rest = self._words.partition(b"\n")
        self._words = bytearray(rest)
        fact: dict[str, Any] = json.loads(line)
        return fact


def free_port() -> int:
    """Return a port of this machine on which no process listens now."""
    with socket.create_server((HOST, 0)) as found:
        port: int = found.getsockname()[1]
        return port


def password() -> str:
    """Return a secret that cannot be guessed, of letters and digits."""
    return secrets.token_hex(16)


def remove_dead() -> int:
    """End servers without a supervisor and remove their folders; return the number of folders."""
    found = Path(tempfile.gettempdir()).glob(f"{PREFIX}*")
    return sum(_remove_if_dead(folder) for folder in found)


def _remove_if_dead(folder: Path) -> bool:
    try:
        lease = os.open(folder / LEASE, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # another user's
        return False
    try:
        fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        _kill_those_in(folder)
        shutil.rmtree(folder, ignore_errors=True)
        return True
    finally:
        os.close(lease)


def _kill_those_in(folder: Path) -> None:
    """Kill the processes that work in a folder."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            working = Path(process.cwd())
            if working == folder or folder in working.parents:
                process.kill()


_VARIABLES: Final[Mapping[str, str]] = {
    "PATH": os.environ.get("PATH", os.defpath),
    "LANG": "C.UTF-8",
    "TZ": "UTC",
}


def _user(accounts: Sequence[str]) -> ServerUser | None:
    if os.geteuid() != 0:
        return None
    for name in accounts:
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return ServerUser(found.pw_uid, found.pw_gid)
    msg = f"the superuser runs no servers, and this machine has no user {' or '.join(accounts)}"
    raise EnvironmentFailed(f"{msg}; run the harness as another user")  # noqa: EM102 - a list


def _identity(user: ServerUser | None) -> dict[str, Any]:
    if user is None:
        return {}
    return {"user": user.id, "group": user.group, "extra_groups": []}


def _setup_line(folder: ServerFolder, command: Sequence[str], stop_signal: int) -> str:
    return json.dumps(
        {
            "command": list(command),
            "folder": str(folder.path),
            "log": str(folder.path / LOG),
            "environment": dict(_VARIABLES),
            "user": None if folder.user is None else folder.user.id,
            "group": None if folder.user is None else folder.user.group,
            "stop_signal": stop_signal,
        }
    )


def _end_of(text: str) -> str:
    return " ".join(text[-_LAST_WORDS:].split())
