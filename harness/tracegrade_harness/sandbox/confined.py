"""Builds the bwrap command that confines a program, and the files that bwrap reads."""

import grp
import os
import pwd
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NamedTuple

from tracegrade_harness.images.world import ImageWorld
from tracegrade_harness.sandbox import seccomp, system
from tracegrade_harness.sandbox.host_view import view_of
from tracegrade_harness.sandbox.image_root import (
    HOSTS,
    image_words,
    supervisor_words,
    user_words,
)
from tracegrade_harness.sandbox.program import Program

NAMESPACES: Final = (
    *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--hostname", "sandbox", "--new-session", "--cap-drop", "ALL"),
)
NO_NETWORK: Final = "--unshare-net"


class Confined(NamedTuple):
    """The command and descriptors that start a program in a sandbox."""

    words: list[str]
    """The command of bwrap, up to the program that it runs."""
    fds: list[int]
    """File descriptors that it reads and must inherit."""


@contextmanager
def confined(program: Program, *, is_supervised: bool = True) -> Iterator[Confined]:
    """Provide the start of a program; the files that bwrap reads are open during the block.

    Args:
        program: The program.
        is_supervised: A supervisor starts it; otherwise bwrap itself does.
    """
    with ExitStack() as stack:

        def opened(content: bytes) -> int:
            fd = os.memfd_create("tracegrade")
            stack.callback(os.close, fd)
            os.write(fd, content)
            os.lseek(fd, 0, os.SEEK_SET)
            return fd

        if program.world is not None:
            fds = opened(seccomp.compiled(may_chroot=is_supervised)), opened(HOSTS.encode())
            words = _in_image(program, program.world, *fds, is_supervised=is_supervised)
            yield Confined(words, [*fds])
            return
        filtered = opened(seccomp.compiled())
        users = {f"/etc/{name}": opened(text.encode()) for name, text in _users(program).items()}
        yield Confined(_words(program, filtered, users), [filtered, *users.values()])


def _words(program: Program, filtered: int, users: dict[str, int]) -> list[str]:
    view = view_of(program)
    root = str(program.root.resolve())
    read_only = [word for path in system.READ_ONLY for word in ("--ro-bind-try", path, path)]
    unreadable = [path for path in system.UNREADABLE if os.path.exists(path)]
    return [
        shutil.which("bwrap") or "bwrap",
        *NAMESPACES,
        *([] if program.reachable is None else [NO_NETWORK]),
        *("--seccomp", str(filtered), "--as-pid-1"),
        *("--dev", "/dev", "--proc", "/proc"),
        *read_only,
        *(word for path in unreadable for word in ("--ro-bind", "/dev/null", path)),
        *view.arguments(),
        *(word for path, to in system.LINKS.items() for word in ("--symlink", to, path)),
        *(
            word
            for path, fd in users.items()
            for word in ("--perms", "0444", "--ro-bind-data", str(fd), path)
        ),
        *("--bind", root, root, "--remount-ro", "/dev"),
        *view.closed(),
        *("--chdir", "/"),
    ]


def _in_image(
    program: Program, world: ImageWorld, filtered: int, hosts: int, *, is_supervised: bool
) -> list[str]:
    under = system.IMAGE if is_supervised else ""
    return [
        shutil.which("bwrap") or "bwrap",
        *NAMESPACES,
        *user_words(world),
        *([] if program.reachable is None else [NO_NETWORK]),
        *("--seccomp", str(filtered), "--as-pid-1"),
        *(supervisor_words(program, world) if is_supervised else []),
        *image_words(program, world, under, hosts),
        *(["--remount-ro", "/"] if is_supervised else []),
        *("--chdir", "/"),
    ]


def _users(program: Program) -> dict[str, str]:
    """Return the files that name users and groups: root, this user, and 65534."""
    user, group = os.getuid(), os.getgid()
    home = program.environment.get("HOME", "/")
    users = {0: ("root", 0, home), 65534: ("nobody", 65534, "/")}
    users[user] = (_name(pwd.getpwuid, user), group, home)
    groups = {0: "root", 65534: "nogroup", group: _name(grp.getgrgid, group)}
    passwd = [f"{name}:x:{uid}:{gid}::{at}:/bin/sh\n" for uid, (name, gid, at) in users.items()]
    named = [f"{name}:x:{gid}:\n" for gid, name in groups.items()]
    return {"passwd": "".join(passwd), "group": "".join(named)}


def _name(database: Callable[[int], Any], number: int) -> str:
    """Return the name of a user or group; its number if it has no name."""
    try:
        return str(database(number)[0])
    except KeyError:
        return f"id{number}"
