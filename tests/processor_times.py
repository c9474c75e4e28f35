"""Says after a run which test files took most processor time: `PROCESSOR_TIMES=30 make test`.

Or writes what each took to `costs.json`, as `make test` does (`WRITE_COSTS=1`), if the run came to
its end and nothing failed: of one that was cut short nobody knows what is left.

Unlike wall time, it does not depend on who else uses the machine. The first test of a file pays
for what its fixtures make, and a process that a test started counts where it was waited for.
"""

import os
import resource
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

from .costs import suite_files, write_costs, writes_costs

WHOLE = frozenset({pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED})
"""How a run ends that came to its end; the second where all tests of its files are slow."""

ASKED = "PROCESSOR_TIMES"
"""The environment variable: how many files to name."""

PROPERTY = "processor_secs"


def asked() -> int:
    """Return how many files are to be named."""
    return int(os.environ.get(ASKED, "0"))


def used_secs() -> float:
    """Return what this process and those that it waited for have used so far."""
    found = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in found)


class ProcessorTimes:
    """A plugin: workers measure each phase of a test, and whoever reports adds them up."""

    def __init__(self) -> None:
        self._before = used_secs()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what was used since the phase before."""
        report = yield
        now = used_secs()
        report.user_properties.append((PROPERTY, now - self._before))
        self._before = now
        return report

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> None:
        """Write what files took if that was asked for, and name those that took most first."""
        if hasattr(terminalreporter.config, "workerinput"):
            return  # a process of pytest-xdist, which knows its own tests alone
        spent: Counter[str] = Counter()
        for reports in terminalreporter.stats.values():
            for report in reports:
                if secs := dict(getattr(report, "user_properties", ())).get(PROPERTY):
                    spent[report.fspath] += secs
        if writes_costs() and exitstatus in WHOLE:
            write_costs(spent, whole_files(terminalreporter.config))
        if asked():
            terminalreporter.section(f"processor time: {sum(spent.values()):.0f} s")
        for file, secs in spent.most_common(asked()):
            terminalreporter.write_line(f"{secs:8.1f} s  {file}")


def whole_files(config: pytest.Config) -> list[str]:
    """Return the test files that a run was asked for as a whole, but for their slow tests."""
    if config.option.keyword:
        return []
    named = [Path(name) for name in config.args if "::" not in name]
    return [file for file in suite_files() if any(Path(file).is_relative_to(n) for n in named)]
