"""Finds Redis's program and client library on this machine."""

import importlib.util
import re
import shutil
import subprocess
from functools import cache
from typing import Final

from tracegrade_harness.errors import EnvironmentFailed

MIN_VERSION: Final = 7
"""The first version that can forbid debugging and modules to every user, and has functions."""
PROGRAM: Final = "redis-server"


def why_not() -> str | None:
    """Return the missing program, and how to get it; None if none is missing."""
    program = shutil.which(PROGRAM)
    if program is None or _major(program) < MIN_VERSION:
        return f"no Redis {MIN_VERSION} or newer was found; `apt-get install redis-server`"
    if importlib.util.find_spec("redis") is None:
        return "no redis-py; `pip install 'tracegrade[harness-redis]'`"
    return None


def program() -> str:
    """Return the path of the server's program.

    Raises:
        EnvironmentFailed: There is none that can be used.
    """
    if reason := why_not():
        raise EnvironmentFailed(reason)
    return str(shutil.which(PROGRAM))


@cache
def _major(path: str) -> int:
    ended = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    version = re.search(r"v=(\d+)", ended.stdout)
    return 0 if version is None else int(version[1])
