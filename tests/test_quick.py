"""`make check` runs a base that has tests of every package, and the tests near what changed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .citations import ROOT
from .costs import REAL_FRAMEWORKS, WRITE, read_costs, suite_files, writes_costs
from .quick.__main__ import explanation, omissions
from .quick.choice import base_files, choose, guards
from .quick.near import BY_NAME, FOLDERS, Near, near
from .test_house import PACKAGES, files

QUERY = "scoring/tracegrade_scoring/attempts/attempt_members.sql"


def test_every_package_has_a_file_in_the_base() -> None:
    """Some tests of each package run for every change."""
    base = base_files(read_costs())
    missing = {
        folder
        for folder in FOLDERS.values()
        if not any(file.startswith(f"tests/{folder}/") for file in base)
    }
    assert missing == set()
    assert {*FOLDERS} >= {*PACKAGES}


def test_every_file_of_a_product_is_near_some_test() -> None:
    """Test folders mirror those of the packages, or a test imports the module."""
    alone = [
        path
        for package in PACKAGES
        for path in files(package)
        if not any(near(str(path.relative_to(ROOT))))
    ]
    assert alone == []


@pytest.mark.parametrize(
    ("changed", "nearest"),
    [
        ("collector/tracegrade_collector/log/wal.py", "tests/collector/log/test_wal.py"),
        ("scoring/tracegrade_judges/verdict.py", "tests/judges/test_verdict.py"),
        ("tests/lake/test_races.py", "tests/lake/test_races.py"),
    ],
)
def test_tests_that_bear_the_name_of_what_changed_are_nearest(changed: str, nearest: str) -> None:
    """They are chosen before others of their folder."""
    assert Near(BY_NAME, nearest) in {*near(changed)}


def test_what_reads_a_changed_query_is_near_it() -> None:
    """Queries import nothing: their headers say what they read."""
    folders = {test.file.rpartition("/")[0] for test in near(QUERY)}

    assert folders >= {"tests/scoring/attempts", "tests/scoring/scorers"}


def test_what_changed_beside_tests_is_near_the_tests_around_it() -> None:
    """A case of a query is not a test file, and no module imports it."""
    found = {test.file for test in near("tests/queries/cases/steps/one/expect.csv")}

    assert found > {"tests/queries/test_headers.py"}


def test_what_the_budget_has_no_room_for_is_named() -> None:
    """A reader sees which tests near the change did not run."""
    changed = ["collector/tracegrade_lake/commit.py"]
    costs = dict.fromkeys(suite_files(), 1.0)
    whole, part = choose(changed, costs, budget=1000), choose(changed, costs, budget=2.5)

    assert len(part.near) == 2
    assert {*part.near, *part.left_out} == {*whole.near}
    lines = "\n".join(explanation(part))
    assert all(f"     1.0 s  {file}" in lines.partition("left out")[2] for file in part.left_out)


def test_a_test_runs_once() -> None:
    """A file that is near a change is not run again by its single tests in the base."""
    single = next(guard for guard in guards() if "::" in guard)
    file = single.partition("::")[0]
    targets = choose([file], {**read_costs(), file: 1.0}).targets

    assert file in targets
    assert single not in targets
    assert len(targets) == len({*targets})


@pytest.mark.skipif(writes_costs(), reason="this run writes what each file costs")
def test_what_test_files_cost_is_known_but_for_a_few_new_ones() -> None:
    """The cost of the others is a guess; `tests/costs.py` says how to measure them."""
    unknown = {*suite_files()} - read_costs().keys()

    assert len(unknown) <= 10, unknown


@pytest.mark.parametrize(
    ("ends", "written"),
    [("pass", True), ("raise KeyboardInterrupt", False)],
)
def test_a_run_writes_what_files_cost_if_it_came_to_its_end(
    tmp_path: Path, ends: str, written: bool
) -> None:
    """Of one that was interrupted it is not known what the rest would have cost."""
    (tmp_path / "tests").mkdir()
    for name in ("citations.py", "costs.py", "processor_times.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests")
    (tmp_path / "tests/conftest.py").write_text(REGISTERS)
    (tmp_path / "tests/test_first.py").write_text(f"def test_first():\n    {ends}\n")
    (tmp_path / "tests/test_last.py").write_text("def test_last():\n    pass\n")
    costs = tmp_path / "tests/costs.json"
    costs.write_text('{"tests/test_last.py": 9.0}')
    command = [sys.executable, "-m", "pytest", "-q", "tests"]
    subprocess.run(
        command,
        cwd=tmp_path,
        env={WRITE: "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        check=False,
    )

    assert ("test_first" in costs.read_text()) == written


REGISTERS = """
from tests.processor_times import ProcessorTimes

def pytest_configure(config):
    config.pluginmanager.register(ProcessorTimes())
"""


def test_a_file_of_unknown_cost_is_named() -> None:
    """Each run of `make check` says which files were never measured."""
    file = "tests/lake/test_races.py"
    costs = {name: cost for name, cost in read_costs().items() if name != file}

    assert any(file in line for line in omissions(choose([], costs)))


def test_real_frameworks_run_by_their_own_command_alone() -> None:
    """The Makefile and the choice of tests leave out the same files."""
    (line,) = re.findall(r"^REAL_FRAMEWORKS := (.*)$", (ROOT / "Makefile").read_text(), re.M)

    assert {*line.split()} == REAL_FRAMEWORKS
