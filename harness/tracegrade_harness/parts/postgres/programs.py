"""Finds PostgreSQL's programs and client library on this machine."""

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_harness.errors import EnvironmentFailed

MIN_VERSION: Final = 15
"""The first version that copies a database's files (`STRATEGY FILE_COPY`) and protects `public`.
"""

_PATTERNS: Final = (
    "usr/lib/postgresql/*/bin",
    "usr/pgsql-*/bin",
    "opt/homebrew/opt/postgresql*/bin",
)
"""Folders in which packages of Debian, Red Hat and Homebrew put programs outside of PATH."""
_NEEDED: Final = ("initdb", "postgres")


class PostgresPrograms(NamedTuple):
    """A PostgreSQL that is installed here."""

    folder: Path
    version: str
    """The version that it prints: `postgres (PostgreSQL) 15.18`."""
    major: int

    def path(self, name: str) -> str:
        """Return the path of one of its programs."""
        return str(self.folder / name)


def why_not() -> str | None:
    """Return the missing program, and how to get it; None if none is missing."""
    if _newest() is None:
        return f"no PostgreSQL {MIN_VERSION} or newer was found; `apt-get install postgresql`"
    if importlib.util.find_spec("psycopg") is None:
        return "no psycopg; `pip install 'tracegrade[harness-postgres]'`"
    return None


def programs() -> PostgresPrograms:
    """Return the newest installed PostgreSQL.

    Raises:
        EnvironmentFailed: There is none that can be used.
    """
    reason, found = why_not(), _newest()
    if found is None or reason is not None:
        raise EnvironmentFailed(str(reason))
    return found


@cache
def _newest() -> PostgresPrograms | None:
    found = [each for folder in _folders() if (each := _programs(folder)) is not None]
    return max(found, key=lambda each: each.major, default=None)


def _folders() -> Iterator[Path]:
    if on_path := shutil.which("postgres"):
        yield Path(on_path).resolve().parent
    for pattern in _PATTERNS:
        yield from Path("/").glob(pattern)


def _programs(folder: Path) -> PostgresPrograms | None:
    if not all((folder / name).is_file() for name in _NEEDED):
        return None
    command = [str(folder / "postgres"), "--version"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603
    version = re.search(r"\) (\d+)", output)
    if version is None or int(version[1]) < MIN_VERSION:
        return None
    return PostgresPrograms(folder, output, int(version[1]))
