"""Says after a run which test files took most processor time: `PROCESSOR_TIMES=30 make test`.

Unlike wall time, it does not depend on who else uses the machine. The first test of a file pays
for what its fixtures make, and a process that a test started counts where it was waited for.
"""

import os
import resource
from collections import Counter
from collections.abc import Generator

import pytest

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

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the files, those that took most first."""
        spent: Counter[str] = Counter()
        for reports in terminalreporter.stats.values():
            for report in reports:
                if secs := dict(getattr(report, "user_properties", ())).get(PROPERTY):
                    spent[report.fspath] += secs
        terminalreporter.section(f"processor time: {sum(spent.values()):.0f} s")
        for file, secs in spent.most_common(asked()):
            terminalreporter.write_line(f"{secs:8.1f} s  {file}")
