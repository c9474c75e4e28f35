"""Scores of two definitions are not compared: a comparison names what differs, and the way out."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from tests.commands import tracegrade
from tests.explorer.lakes import client, explorer
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.build import specification
from tests.scoring.job.lakes import TASKS
from tests.slow import slow_after

from tracegrade_lake import Lake
from tracegrade_scoring.job import discovery, score_table
from tracegrade_scoring.job.discovery import TraceFilter
from tracegrade_scoring.job.run_scoring import score

OTHER_TASKS: Final = TASKS.replace("decision: pay, tool: pay", "decision: pay, tool: look")
OTHER_TOOLS: Final = TASKS.replace("look: {effect: read", "look: {effect: write")


def run(number: int, release: str, task: str | None = "refund") -> bytes:
    """Return a run of a release that looks and pays."""
    named: dict[str, Any] = {"tracegrade__task__id": task} if task else {}
    spans = [agent(1, trace=number, gen_ai__agent__name="desk", **named)]
    spans += [tool(2, 1, tool_name="look", trace=number, at=2)]
    spans += [tool(3, 1, tool_name="pay", trace=number, at=3)]
    return request_of(spans, {"service.version": release})


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Three runs each of two releases; only those of the first are scored."""
    made = Lake.create(tmp_path / "lake")
    for number in range(1, 7):
        release = "1.0" if number <= 3 else "1.1"
        land(made, run(number, release), seq=number)
    score(made, specification(TASKS), chosen=TraceFilter(release="1.0"))
    return made


def compared(lake: Lake) -> dict[str, Any]:
    """Return what `compare` says of both releases."""
    ended = tracegrade("compare", "1.0", "1.1", "--lake", str(lake.location), "--format", "json")
    assert ended.returncode == 0, ended.stderr
    (cohort,) = json.loads(ended.stdout)["comparisons"]
    return dict(cohort)


def reported(lake: Lake, *options: str) -> dict[str, Any]:
    """Return the report."""
    ended = tracegrade("report", "--lake", str(lake.location), "--format", "json", *options)
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads(ended.stdout))


@pytest.mark.parametrize("tasks", slow_after(1, [OTHER_TASKS, OTHER_TOOLS]))
def test_a_changed_task_or_tool_lets_nothing_be_compared(lake: Lake, tasks: str) -> None:
    """Until all runs are scored again; a report says so too."""
    score(lake, specification(tasks), chosen=TraceFilter(release="1.1"))
    decision, report = compared(lake)["decision"], reported(lake)

    assert decision["word"] == "not comparable"
    assert decision["better"] == decision["worse"] == []
    assert report["comparisons"][0]["answer"].startswith(
        "1.0 and 1.1 cannot be compared: their runs were scored by several definitions "
        "(changed task refund);"
    )
    assert "several definitions (changed task refund)" in report["standing"][0]
    assert reported(lake, "--release", "1.1")["standing"] == []

    score(lake, specification(tasks))

    assert compared(lake)["decision"]["word"] != "not comparable"
    assert compared(lake)["mixed_definitions"] == reported(lake)["standing"] == []


def test_a_newer_version_of_the_metrics_lets_nothing_be_compared(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an upgrade leaves a lake whose new runs alone are scored."""
    for module in (discovery, score_table):
        monkeypatch.setattr(module, "SCORER_VERSION", "99")
    score(lake, specification(TASKS), chosen=TraceFilter(release="1.1"))
    (mixed,) = compared(lake)["mixed_definitions"]

    assert mixed["part"] == "metrics"
    assert "99" in mixed["definitions"]


def test_pages_with_rates_name_mixed_definitions(lake: Lake) -> None:
    """Above releases, trends and tasks, and in their JSON; the decision is that of the command."""
    score(lake, specification(OTHER_TASKS), chosen=TraceFilter(release="1.1"))
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web = client(pages)
        listed = web.get("/releases.json").json()
        page = web.get("/releases?base=1.0&candidate=1.1").text
        others = [web.get(path) for path in ("/trends", "/tasks", "/trends.json", "/tasks.json")]

    assert "several definitions (changed task refund)" in listed["mixed"][0]
    assert "not comparable" in page
    assert "(changed task refund), so their scores cannot be compared" in page
    assert all("several definitions (changed task refund)" in each.text for each in others)


def test_rules_are_not_judged_by_mixed_scores(lake: Lake) -> None:
    """A gate does not pass what it cannot know, and says why."""
    score(lake, specification(OTHER_TASKS), chosen=TraceFilter(release="1.1"))
    place = str(lake.location)
    ended = tracegrade("compare", "1.0", "1.1", "--lake", place, "--fail-on", "tsa<-0.5")

    assert ended.returncode != 0
    assert "several definitions (changed task refund)" in ended.stderr


def test_runs_that_find_their_task_by_rules_are_compared_with_those_that_name_it(
    tmp_path: Path,
) -> None:
    """The definition is the same."""
    made = Lake.create(tmp_path / "lake")
    tasks = TASKS.replace("    category", "    match: {agent_name: desk}\n    category")
    for number in range(1, 5):
        release, task = ("1.0", "refund") if number <= 2 else ("1.1", None)
        land(made, run(number, release, task), seq=number)
    score(made, specification(tasks))
    found = compared(made)

    assert found["tasks"] == 1
    assert found["mixed_definitions"] == []
