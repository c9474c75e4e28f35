"""Which Python runs a host program: the first of ours that has all it needs."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_harness.parts.postgres.programs import why_not

from .program import Program

ROOT: Final = Path(__file__).parents[2]
HOSTS: Final = ROOT / ".hosts" / "bin" / "python"
OTHER: Final = ROOT / ".venv-other" / "bin" / "python"
POSTGRES: Final = "postgres"
"""What a program needs that finds a database of its own at `DATABASE_URL`."""
_LOOK: Final = """
import importlib.util, json, sys
missing = [name for name in sys.argv[1:] if not importlib.util.find_spec(name)]
print(json.dumps(["%d.%d" % sys.version_info[:2], missing]))
"""


class Found(NamedTuple):
    """A Python, and what it has."""

    path: str
    version: str
    missing: frozenset[str]

    def why_not(self, program: Program) -> str | None:
        """Return why a program cannot be run by it; None if it can."""
        if program.version not in (None, self.version):
            return f"needs Python {program.version}"
        missing = sorted(self.missing & {*program.needs})
        return f"needs {', '.join(missing)}" if missing else None


class Pythons:
    """What there is to run some programs."""

    def __init__(self, programs: Sequence[Program], asked: str | None = None) -> None:
        """Look for what they need.

        Args:
            programs: What is to be run.
            asked: The Python that is to run all of them.
        """
        needs = {need for each in programs for need in each.needs if not _is_here(need)}
        ours = [sys.executable, *(str(each) for each in (HOSTS, OTHER) if each.exists())]
        self._found = [_look(path, sorted(needs)) for path in ([asked] if asked else ours)]

    def of(self, program: Program) -> str | None:
        """Return the first Python that can run a program; None if none can."""
        return next((each.path for each in self._found if not each.why_not(program)), None)

    def why_not(self, program: Program) -> str:
        """Return why none can: what is missing in the one that lacks least."""
        reasons = [each.why_not(program) or "" for each in self._found]
        return min(reasons, key=len) + "; `make hosts` installs what it can"


def _is_here(need: str) -> bool:
    """Return whether a requirement that is not a module is on this machine."""
    return why_not() is None if need == POSTGRES else shutil.which(need) is not None


def _look(path: str, modules: Sequence[str]) -> Found:
    found = subprocess.run(
        [path, "-c", _LOOK, *modules], capture_output=True, text=True, check=True, timeout=60
    )
    version, missing = json.loads(found.stdout)
    return Found(path, version, frozenset(missing))
