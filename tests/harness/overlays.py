"""Programs that may mount overlays, as this user or as one without rights."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

NOBODY = "nobody"
ANOTHER_GROUP = 4242
"""Of the user, too; what is in its folders gets it, as where teams share some."""
TEMPORARY = Path(tempfile.gettempdir())
_MOUNTS = Path("/proc/self/mountinfo")
BEGIN = """
import runpy, sys
from tracegrade_harness.parts.servers import namespace
namespace.enter()
sys.argv.pop(0)
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
REACH = """
set -e
umask 022
closed=$1 prefix=$2 moved=$3 user=$4 group=$5 another=$6; shift 6
if [ -n "$closed" ]; then
  mount --bind "$prefix" "$moved"
  mount -t tmpfs -o mode=755 tmpfs "$closed"
  mkdir -p "$prefix"
  mount --bind "$moved" "$prefix"
fi
exec setpriv --reuid "$user" --regid "$group" --groups "$group,$another" "$@"
"""
"""Becomes a user who may not look where the interpreter stands, but for the interpreter."""


def mounts(folder: Path) -> list[str]:
    """Return what is mounted, without the mounts of other tests, which run meanwhile.

    Args:
        folder: Of this test.
    """
    found = _MOUNTS.read_text().splitlines()
    return [mount for mount in found if "/pytest-of-" not in mount or str(folder) in mount]


def in_namespace(module: str, *arguments: object) -> list[str]:
    """Return the command that runs a module where it may mount overlays."""
    return [sys.executable, "-c", BEGIN, module, *map(str, arguments)]


def as_nobody(folder: Path, command: Sequence[str]) -> list[str]:
    """Return the command as an ordinary user who owns a folder runs it; or skip.

    The folder is the system's folder for temporary files, since pytest's own are closed to others.
    """
    if os.geteuid() != 0:
        return [*command]
    if reason := _why_no_nobody():
        pytest.skip(reason)
    user = pwd.getpwnam(NOBODY)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
    os.chown(folder, user.pw_uid, ANOTHER_GROUP)
    folder.chmod(0o2775)
    closed = _closed()
    (folder / "interpreter").mkdir(exist_ok=True)
    words = (
        closed or "",
        sys.base_prefix,
        folder / "interpreter",
        user.pw_uid,
        user.pw_gid,
        ANOTHER_GROUP,
    )
    return ["unshare", "--mount", "sh", "-c", REACH, "sh", *map(str, words), *command]


def refused(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command that may mount nothing."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("takes root's rights away by `setpriv`")
    rights = ("--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")
    return ran(["setpriv", *rights, "--", *command])


def ran(command: Sequence[str], *packages: Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with its output; it looks for packages in these folders, too."""
    paths = [*filter(None, sys.path), *map(str, packages)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@cache
def why_not() -> str | None:
    """Return why no overlay can be mounted here; None if one can."""
    told = (
        "from tracegrade_harness.parts.servers import namespace as n; "
        "n.enter(); print(n.why_not())"
    )
    ended = ran([sys.executable, "-c", told])
    return None if ended.stdout == "None\n" else ended.stdout.strip() or ended.stderr


def _closed() -> Path | None:
    """Return the folder, if any, that keeps others from the interpreter."""
    parents = [*reversed(Path(sys.base_prefix).parents)]
    return next((each for each in parents if not each.stat().st_mode & 1), None)


def _why_no_nobody() -> str | None:
    missing = [name for name in ("unshare", "setpriv") if not shutil.which(name)]
    if missing:
        return f"no program '{missing[0]}' to run as another user"
    reach = [*Path(__file__).parents, Path(sys.prefix), TEMPORARY]
    closed = next((each for each in reach if not each.stat().st_mode & 1), None)
    return None if closed is None else f"'{closed}' is closed to other users"
