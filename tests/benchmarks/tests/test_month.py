"""The parts of the simulated month: its clock, and what it says of curves."""

import shutil
import subprocess
import sys

import pytest
from tests.benchmarks.month.curves import curve


def test_a_cost_that_stays_does_not_rise() -> None:
    """A first week without files to remove does not count."""
    found = curve("expire", {day: min(day, 5.0) for day in range(1, 32)})

    assert (found.first, found.middle, found.last, found.in_a_year) == (1, 5, 5, 5)
    assert not found.rises


def test_a_cost_of_each_day_rises() -> None:
    """It comes to as much more in a year as its slope says."""
    found = curve("live", {day: 10.0 * day for day in range(1, 32)})

    assert (found.middle, found.last, found.ratio) == (150, 300, 2)
    assert found.rises
    assert found.slope == pytest.approx(10)
    assert found.in_a_year == pytest.approx(300 + 10 * (365 - 31))


def test_a_cost_of_some_days() -> None:
    """What is measured on few days has a curve, too."""
    assert curve("report", {1: 2.0, 14: 3.0, 15: 3.0, 16: 3.0, 29: 4.0, 30: 4.0, 31: 4.0}).rises


@pytest.mark.skipif(not shutil.which("cc") or sys.platform != "linux", reason="needs cc, Linux")
def test_one_clock_for_all() -> None:
    """Python, the engine and a process that is started read the time that was set."""
    program = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.month.shifted_times"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert program.stdout.split() == ["2001-09-09"] * 3
