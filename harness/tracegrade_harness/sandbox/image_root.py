"""Builds the part of the bwrap command that gives a program the root file system of an image.

The supervisor needs this machine's Python, which an image may not have. So it sees this machine's
programs, and the image in a folder of its own; it makes that folder the program's root before the
program starts, and gives up the right to do so (`supervisor.py`). A program on a terminal has no
supervisor, so the image is the root from the start.
"""

import os
from collections.abc import Iterator
from typing import Final

from tracegrade_harness.errors import SandboxFailed
from tracegrade_harness.images.world import ImageWorld, make_mount_point
from tracegrade_harness.sandbox import system
from tracegrade_harness.sandbox.host_view import supervisor_view, view_in_image
from tracegrade_harness.sandbox.program import Program

HOSTS: Final = "127.0.0.1 localhost\n::1 localhost\n"
"""Content of `/etc/hosts` in an image."""
_HOSTS_PATH: Final = "/etc/hosts"
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108
_RESOLVER: Final = "/etc/resolv.conf"


def user_words(world: ImageWorld) -> list[str]:
    """Return the words for the image's user, who owns all files of the trial."""
    user, group = str(world.settings.user), str(world.settings.group)
    return ["--unshare-user", "--uid", user, "--gid", group]


def supervisor_words(program: Program, world: ImageWorld) -> list[str]:
    """Return the words for the files that a supervisor sees, except for the image."""
    view = supervisor_view()
    read = [str(program.root.resolve()), str(world.changes)]  # in which it counts bytes
    return [
        *("--cap-add", "CAP_SYS_CHROOT", "--dev", "/dev", "--proc", "/proc"),
        *view.arguments(),
        *(word for path in read for word in ("--ro-bind", path, path)),
    ]


def image_words(program: Program, world: ImageWorld, under: str, hosts: int) -> list[str]:
    """Return the words for an image and everything that is mounted in it.

    Args:
        program: The program that runs in the image.
        world: The image.
        under: The folder in which the image is mounted; empty for the root.
        hosts: File descriptor of the content of `/etc/hosts`.

    Raises:
        SandboxFailed: A link or a file of the image is in the way.
    """
    view = view_in_image(program)
    root = str(program.root.resolve())
    resolver = [_RESOLVER] if program.reachable is None and os.path.exists(_RESOLVER) else []
    folders = ["/proc", "/dev", root, world.settings.folder, *world.mounts]
    shown = {path: os.path.isdir(path) for path in view.mounted()}
    points = {**dict.fromkeys(folders, True), _HOSTS_PATH: False, **dict.fromkeys(resolver, False)}
    for path, is_folder in {**points, **shown}.items():
        _make_mount_point(world, path, is_folder=is_folder)
    return [
        *("--bind", str(world.root), under or "/"),
        *(
            "--proc",
            f"{under}/proc",
            "--dev",
            f"{under}/dev",
            "--tmpfs",
            f"{under}{_SHARED_MEMORY}",
        ),
        *_kernel_words(under),
        *("--perms", "0444", "--ro-bind-data", str(hosts), f"{under}{_HOSTS_PATH}"),
        *(word for path in resolver for word in ("--ro-bind", path, f"{under}{path}")),
        *view.arguments(under),
        *("--bind", root, f"{under}{root}"),
        *(
            word
            for path, folder in sorted(world.mounts.items())
            for word in ("--bind", str(folder.resolve()), f"{under}{path}")
        ),
        *("--remount-ro", f"{under}/dev"),
    ]


def _kernel_words(under: str) -> Iterator[str]:
    """Yield the words that protect the kernel's files in an image's `/proc`."""
    for path in system.READ_ONLY:
        yield from ("--ro-bind-try", path, f"{under}{path}")
    for path in system.UNREADABLE:
        if os.path.exists(path):
            yield from ("--ro-bind", "/dev/null", f"{under}{path}")


def _make_mount_point(world: ImageWorld, path: str, *, is_folder: bool) -> None:
    try:
        make_mount_point(world.root, path, is_folder=is_folder)
    except OSError as error:
        msg = f"nothing can be mounted at '{path}' of the image ({error.strerror}): "
        msg += "a link or a file is on that path; make the image without it"
        raise SandboxFailed(msg) from error
