"""What each test file costs in processor time, as `costs.json` has it; `make test` writes that.

A few new test files need no `make test`: `WRITE_COSTS=1 .venv/bin/pytest -m "not slow" FILE...`
"""

import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from tests.citations import ROOT

COSTS: Final = Path(__file__).with_name("costs.json")

WRITE: Final = "WRITE_COSTS"
"""The environment variable: whether a run writes what its files cost."""

REAL_FRAMEWORKS: Final = frozenset(
    {
        "tests/frameworks/test_agent_tests.py",
        "tests/frameworks/test_frameworks.py",
        "tests/frameworks/test_phoenix.py",
        "tests/frameworks/test_quickstarts.py",
        "tests/frameworks/test_tracegrade_run.py",
    }
)
"""What `make test-frameworks` runs, after it installed frameworks; nothing else does."""

_FACTOR: Final = 2
_SECS: Final = 0.3
"""Costs that differ by less than either stay as they are: no two runs take the same time."""


def writes_costs() -> bool:
    """Return whether this run is to write what its files cost."""
    return os.environ.get(WRITE, "") not in ("", "0")


@cache
def suite_files() -> tuple[str, ...]:
    """Return the test files that `make test` collects, from the project's folder."""
    found = (str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))
    return tuple(sorted({*found} - REAL_FRAMEWORKS))


def read_costs() -> dict[str, float]:
    """Return seconds of processor time by test file."""
    costs: dict[str, float] = json.loads(COSTS.read_text("utf-8"))
    return costs


def write_costs(measured: Mapping[str, float], collected: Iterable[str]) -> None:
    """Write what was measured, for files that still exist.

    Args:
        measured: Seconds by test file.
        collected: All files of the run. Where all tests of a file are slow, it costs nothing.
    """
    before = read_costs() if COSTS.exists() else {}
    now = {file: round(measured.get(file, 0.0), 1) for file in collected}
    costs = {
        file: _steady(before.get(file), now.get(file))
        for file in suite_files()
        if file in before or file in now
    }
    lines = (f'  "{file}": {cost}' for file, cost in costs.items())
    COSTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _steady(before: float | None, now: float | None) -> float:
    if before is None or now is None:
        return before or now or 0.0
    low, high = sorted((before, now))
    return before if high - low < _SECS or high < _FACTOR * low else now
