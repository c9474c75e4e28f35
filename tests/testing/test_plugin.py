"""The plugin of pytest, in sessions of its own: evidence, `graded`, files, processes of xdist."""

import os
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.citations import ROOT
from tests.testing.agents import TASKS

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES

TESTS = """
from tests.testing.agents import refund
from tracegrade_testing import assert_no_regression, capture, score, trials


def run(order="o-1"):
    with capture() as captured:
        refund(order)
    return score(captured, task="refund-order", tasks="tasks.yaml")


def test_good():
    result = run()
    assert result.success == 1
    assert_no_regression(result, "baseline.parquet")


def test_bad():
    assert run("o-2").tsa == 1


def test_calls():
    assert run().calls == ["search_orders", "send_mail", "issue_refund"]


def test_graded_good(graded):
    with graded(task="refund-order", at_least={"tsa": 1}):
        refund()


def test_graded_bad(graded):
    with graded(task="refund-order", at_least={"tsa": 1}):
        refund("o-2")


def test_graded_nothing(graded):
    with graded(task="refund-order"):
        pass


def test_graded_unknown(graded):
    with graded(task="refund-ordr"):
        refund()
"""
FAILED = {
    "test_bad",
    "test_calls",
    "test_graded_bad",
    "test_graded_nothing",
    "test_graded_unknown",
}


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with the plugin in a folder that has the tests and the tasks."""
    (folder / "tasks.yaml").write_text(TASKS, "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\ntracegrade_tasks = tasks.yaml\n")
    (folder / "test_desk.py").write_text(TESTS, "utf-8")
    plugins = ("-p", "no:cacheprovider", "-p", "no:tracegrade", "-p", "tracegrade_testing.plugin")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", *plugins, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the folder and the output of a session with everything that it may write."""
    folder = tmp_path_factory.mktemp("session")
    written = pytest_in(folder, "--tracegrade-update-baseline", "-k", "test_good")
    assert written.returncode == 0, written.stdout + written.stderr
    found = pytest_in(
        folder,
        *("--tracegrade-report", "report", "--tracegrade-lake", "lake", "--junit-xml", "out.xml"),
    )
    assert found.returncode == 1, found.stderr
    return folder, found.stdout


def test_failed_tests_show_what_went_wrong(session: tuple[Path, str]) -> None:
    """The first wrong step, the expected value, and calls against expected ones."""
    _, output = session

    assert "- tracegrade -" in output
    assert 'issue_refund({"order":"o-2"})' in output
    assert "the calls of the run differ" in output
    assert "- send_mail" in output
    assert 'search_orders({"customer":"c-7"})' in output


def test_graded_runs_fail_at_the_end(session: tuple[Path, str]) -> None:
    """Each has its own failure, and is not counted as passed."""
    _, output = session

    assert "tsa is 0.5, expected at least 1" in output
    assert "no spans: nothing that is instrumented ended" in output
    assert "did you mean 'refund-order'" in output
    assert "5 failed, 2 passed" in output


def test_junit_has_scores_and_failures(session: tuple[Path, str]) -> None:
    """Properties of tests that scored a run; a failure for each failed test."""
    folder, _ = session
    cases = list(ET.parse(folder / "out.xml").iter("testcase"))  # noqa: S314 - our own file
    failed = {case.get("name") for case in cases if case.find("failure") is not None}
    properties = {
        (case.get("name"), each.get("name")): each.get("value")
        for case in cases
        for each in case.iter("property")
    }

    assert failed == FAILED
    assert properties["test_good", "tsa"] == "1"
    assert properties["test_bad", "tsa"] == "0.5"


def test_report_and_lake_have_all_runs(session: tuple[Path, str]) -> None:
    """The lake is scored; the report has a page of each failed run."""
    folder, _ = session
    with connect(Lake.open(folder / "lake"), layers=(SCORES,)) as con:
        rows = con.sql(
            "SELECT value, count(*) FROM scores WHERE metric = 'tsa' GROUP BY value ORDER BY value"
        ).fetchall()

    assert rows == [(0.5, 2), (1.0, 3)]
    assert "Tool-selection accuracy" in (folder / "report" / "index.html").read_text("utf-8")
    assert len(list((folder / "report" / "runs").glob("*.html"))) >= 3


def test_processes_of_xdist_report_together(tmp_path: Path) -> None:
    """Each process scores its own runs; the results are those of one process."""
    (tmp_path / "a").mkdir()
    pytest_in(tmp_path, "--tracegrade-update-baseline", "-k", "test_good")
    found = pytest_in(tmp_path, "-n", "2", "--tracegrade-lake", "lake")

    assert found.returncode == 1, found.stderr
    assert "5 failed, 2 passed" in found.stdout
    assert "tsa is 0.5, expected at least 1" in found.stdout
    with connect(Lake.open(tmp_path / "lake"), layers=(SCORES,)) as con:
        assert con.sql("SELECT count(*) FROM trajectory_scores").fetchall() == [(5,)]


def test_nothing_is_written_without_an_option(tmp_path: Path) -> None:
    """No file appears but those that the session was given."""
    pytest_in(tmp_path, "-k", "not test_good")

    assert {path.name for path in tmp_path.rglob("*")} == {
        "tasks.yaml",
        "pytest.ini",
        "test_desk.py",
    }


def test_the_plugin_imports_pytest_alone() -> None:
    """Its entry point names it, and importing it loads no module of ours but the package."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert declared["entry-points"]["pytest11"] == {"tracegrade": "tracegrade_testing.plugin"}

    program = (
        "import sys, pytest; before = set(sys.modules); import tracegrade_testing.plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["tracegrade_testing", "tracegrade_testing.plugin"]
