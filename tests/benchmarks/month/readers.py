"""What commands and pages that read a lake cost, each as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from tests.benchmarks.bench_explorer import cpu_secs, read, served

from tracegrade_lake import Lake

from .traffic import releases_of


class ReaderCosts(NamedTuple):
    """What reading a lake costs."""

    report_day: float
    """Seconds of CPU of `report --since` of the newest date."""

    report_all: float
    compare: float
    """Seconds of CPU of `compare` of the two newest releases."""

    page: float
    """Seconds of CPU until the pages of a lake are served, and the first one is shown."""

    page_mb: float
    """Memory of the process that serves them."""


def read_costs(lake: Lake, day: int, now_ns: int) -> ReaderCosts:
    """Return what reading a lake costs at the end of a day, counted from 0."""
    today = datetime.fromtimestamp(now_ns // 10**9, UTC).date()
    return ReaderCosts(
        _cpu_of(lake, "report", "--since", f"{today}T00:00Z"),
        _cpu_of(lake, "report"),
        _cpu_of(lake, "compare", *releases_of(day)),
        *_page(lake),
    )


def _cpu_of(lake: Lake, command: str, *arguments: str) -> float:
    """Return the CPU time of a command, from the start of its process to its end."""
    whole = (sys.executable, "-m", "tracegrade", command, *arguments, "--lake", lake.location)
    return _cpu_of_children(lambda: subprocess.run(whole, check=True, stdout=subprocess.DEVNULL))


def _cpu_of_children(work: Callable[[], object]) -> float:
    before = os.times()
    work()
    after = os.times()
    return (
        after.children_user - before.children_user + after.children_system - before.children_system
    )


def _page(lake: Lake) -> tuple[float, float]:
    with served(lake.root) as server:
        read(f"{server.url}runs")
        return cpu_secs(server.process), server.process.memory_info().rss / 1e6
