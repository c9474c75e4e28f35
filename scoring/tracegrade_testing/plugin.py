"""The plugin of pytest: the fixture `graded`, evidence of failed tests, and what a session writes.

Every project's pytest loads it where tracegrade is installed, so it imports only pytest. All else
is imported once a test uses it.
"""

import sys
from collections.abc import Generator
from typing import Any

import pytest

LAKE = "--tracegrade-lake"
REPORT = "--tracegrade-report"
UPDATE = "--tracegrade-update-baseline"
TASKS = "tracegrade_tasks"
METRICS = "tracegrade_metrics"
OUTPUT = "tracegrade"
"""Key of what a process of xdist hands to the one that started it."""

_GRADING: pytest.StashKey[Any] = pytest.StashKey()
_PARTS: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()
_FAILED: pytest.StashKey[list[str]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("tracegrade", "tests of agents")
    group.addoption(
        REPORT,
        metavar="DIR",
        help="write an HTML report on all captured runs, with a page for each failed one",
    )
    group.addoption(LAKE, metavar="DIR", help="import all captured runs into a lake")
    group.addoption(
        UPDATE,
        action="store_true",
        help="let assert_no_regression write baselines instead of comparing",
    )
    parser.addini(TASKS, "task file, or folder of them, for runs of `graded`", type="string")
    parser.addini(METRICS, "folder of metrics of your own, for the same runs", type="string")


def pytest_configure(config: pytest.Config) -> None:
    """Note the options, where one is given."""
    config.stash[_PARTS], config.stash[_FAILED] = [], []
    if config.getoption(UPDATE) or config.getoption(REPORT) or config.getoption(LAKE):
        from tracegrade_testing.recent import notes  # noqa: PLC0415 - only where it is needed

        notes.updates_baselines = bool(config.getoption(UPDATE))
        notes.keeps_captures = bool(config.getoption(REPORT) or config.getoption(LAKE))


@pytest.fixture
def graded(request: pytest.FixtureRequest) -> Any:
    """Return what captures the run of a block and checks it at the end of the session."""
    config = request.config
    if _GRADING not in config.stash:
        try:
            from tracegrade_testing.graded import Grading  # noqa: PLC0415 - only where it is used
        except ModuleNotFoundError as error:
            msg = f"{error.name} is not installed; install tracegrade[testing]"
            raise pytest.UsageError(msg) from error
        given = (config.getini(option) for option in (TASKS, METRICS))
        config.stash[_GRADING] = Grading(
            *(config.rootpath / path if path else None for path in given)
        )
    return config.stash[_GRADING].of_test(request.node.nodeid, request.node.location)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Show calls that differ from expected ones as a diff."""
    results = sys.modules.get("tracegrade_testing.results")
    if results is None or op != "==" or not isinstance(left, results.Calls):
        return None
    if not isinstance(right, list | tuple):
        return None
    from tracegrade_testing.checks import difference  # noqa: PLC0415 - loaded with the results

    return ["the calls of the run differ", *difference(left.made, right)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a test what was scored in it."""
    report = yield
    recent = sys.modules.get("tracegrade_testing.recent")
    if recent is not None and call.when == "call":
        _describe(item, report, recent.notes.take_results())
    return report


def _describe(item: pytest.Item, report: pytest.TestReport, results: list[Any]) -> None:
    if not results:
        return
    from tracegrade_testing.sections import (  # noqa: PLC0415 - loaded with the results
        evidence_of,
        properties_of,
    )

    if item.config.getoption("xmlpath", None):  # what a test did not ask for is scored for a file
        item.user_properties.extend(properties_of(results))  # reports of later phases have them
    if report.failed:
        item.config.stash[_FAILED].extend(each.trajectory_id for each in results)
        if text := evidence_of(results):
            report.sections.append(("tracegrade", text))


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Check graded runs once all tests have run, also if the loop was stopped."""
    try:
        return (yield)
    finally:
        _end_loop(session.config)


def _end_loop(config: pytest.Config) -> None:
    grading = config.stash.get(_GRADING, None)
    faults = [fault._asdict() for fault in grading.faults()] if grading else []
    part = {"faults": faults, "failed": config.stash[_FAILED], **_captures(config)}
    if hasattr(config, "workeroutput"):
        config.workeroutput[OUTPUT] = part
    else:
        _take(config, part)


def _captures(config: pytest.Config) -> dict[str, Any]:
    """Return the captures of this process, if something is made of them."""
    scoring = sys.modules.get("tracegrade_testing.scoring")
    if scoring is None or not (config.getoption(REPORT) or config.getoption(LAKE)):
        return {}
    from tracegrade_testing.outputs import plain_captures  # noqa: PLC0415 - only for an option
    from tracegrade_testing.recent import notes  # noqa: PLC0415 - loaded before

    return plain_captures(notes)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over what a process of xdist has found."""
    part = getattr(node, "workeroutput", {}).get(OUTPUT)
    if part:
        _take(node.config, part)


def _take(config: pytest.Config, part: dict[str, Any]) -> None:
    """Report the faults of a process, and keep its captures for the end."""
    if part.get("captures"):
        config.stash[_PARTS].append(part)
    failed = config.stash[_FAILED]
    failed.extend(each for each in part["failed"] if each not in failed)
    for fault in part["faults"]:
        failed.extend(fault["trajectory_ids"])
        _report(config, fault)


def _report(config: pytest.Config, fault: dict[str, Any]) -> None:
    """Report a test as failed that had passed before its run was checked."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    passed = terminal.stats.get("passed", []) if terminal else []
    passed[:] = [each for each in passed if each.nodeid != fault["test"]]
    report = pytest.TestReport(
        nodeid=fault["test"],
        location=tuple(fault["location"]),
        keywords={},
        outcome="failed",
        longrepr=fault["text"],
        when="call",
    )
    config.hook.pytest_runtest_logreport(report=report)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report and the lake, if asked to."""
    config = session.config
    parts, failed = config.stash[_PARTS], config.stash[_FAILED]
    if not parts:
        return
    from tracegrade_testing.outputs import write_outputs  # noqa: PLC0415 - only for an option

    write_outputs(
        parts,
        failed,
        report=config.getoption(REPORT),
        lake=config.getoption(LAKE),
    )
