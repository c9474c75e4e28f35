"""What was found of a run is said of the step that shows it, and counted alike on every page."""

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.scoring.job.lakes import values
from tests.scoring.report.build import Tables, as_lake

from tracegrade_lake import Lake

TASK = "refund"
SCORED = (0.0, 0.5, 0.5, 1.0)
"""Tool selection of the runs that have a value."""
UNSCORED = 3
"""Runs without one."""


def fill(tables: Tables) -> tuple[str, str]:
    """Insert a run whose sub-agent decided wrongly, and runs without findings.

    Returns:
        The run, and that of its sub-agent.
    """
    run = tables.run(task_id=TASK)
    helper = tables.run(agent="helper", parent_trajectory_id=run, parent_step=1, step_count=4)
    for whose, count in ((run, 3), (helper, 4)):
        for index in range(count):
            tables.insert("steps", trajectory_id=whose, step_index=index, kind="tool_call",
                          tool_name=f"tool-{index}", status="ok")  # fmt: skip
    tables.scored(run, TASK)
    tables.score(run, "tsa", 0.5, numerator=1.0, denominator=2.0)
    tables.score(run, "success", 0.0, numerator=0.0, denominator=1.0)
    shown = {"trajectory_id": run, "step_trajectory_id": helper, "task_id": TASK}
    tables.insert(
        "decisions", **shown, decision_index=0, step_index=2, correct=False, counted=True,
        missed=False, picked_tool="pay", expected_tool="pay", failed_criteria=["b"],
        reason="argument amount of pay is 60, expected 40",
    )  # fmt: skip
    tables.insert(
        "decisions", trajectory_id=run, decision_index=1, correct=False, counted=True, missed=True,
        expected_tool="tell", failed_criteria=["a"], task_id=TASK,
    )  # fmt: skip
    tables.insert("failed_calls", **shown, step_index=3, failed_by="status", outcome="lost")
    tables.insert("failures", **shown, mode="goal_drift", step_index=3, success=False)
    for value in (*SCORED, *[None] * UNSCORED):
        other = tables.run(task_id=TASK)
        tables.scored(other, TASK)
        tables.score(other, "tsa", value, reason=None if value is not None else "no_task")
        tables.score(other, "success", 0.0)
        tables.insert("failures", trajectory_id=other, mode="unclassified", success=False)
    return run, helper


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, str, str]:
    """The lake, the run and its sub-agent's."""
    with closing(Tables()) as tables:
        ids = fill(tables)
        return as_lake(tables, tmp_path_factory.mktemp("found") / "lake"), *ids


@pytest.fixture(scope="module")
def web(lake: tuple[Lake, str, str]) -> Iterator[TestClient]:
    """What asks for its pages."""
    with closing(explorer(lake[0])) as found, closing(found.latest):
        yield client(found)


def section(page: str, title: str) -> str:
    """Return the part of a page below one heading."""
    return page.split(title, 1)[1].split("</section>", 1)[0]


def test_histograms_count_no_run_without_a_value(web: TestClient) -> None:
    """They stand below the bars, whose numbers are those of the runs with one."""
    page = web.get("/runs").text
    drawn = re.search(r"<figure class=\"spread\">(?:(?!</figure>).)*</figure>", page, re.DOTALL)
    assert drawn is not None
    counts = [int(count) for count in re.findall(r": (\d+) runs?</title>", drawn[0])]
    assert sum(counts) == len(SCORED) + 1
    assert counts[-1] == SCORED.count(1.0)
    assert f"{UNSCORED} without a value" in drawn[0]


def test_evidence_of_a_sub_agent_leads_to_its_own_steps(
    web: TestClient, lake: tuple[Lake, str, str]
) -> None:
    """A step's number counts in the run of the agent whose step it is."""
    _, run, helper = lake
    page, its = web.get(f"/runs/{run}").text, web.get(f"/runs/{helper}").text

    found = section(page, "<h2>Findings")
    assert [*re.findall(r'href="([^"]+)"', found)] == [f"/runs/{helper}#s{n}" for n in (2, 3, 3)]
    assert not re.findall(r'id="(s\d)"[^>]*data-finding', page)
    assert f'href="/runs/{helper}#s2">helper s2✗' in section(page, 'id="scores-title"')
    assert re.findall(r'id="(s\d)"[^>]*data-finding', its) == ["s2", "s3"]
    assert f'href="/runs/{helper}#s2">a run' in web.get(f"/tasks/{TASK}").text


def test_findings_count_the_same_on_each_page(
    web: TestClient, lake: tuple[Lake, str, str]
) -> None:
    """As many stand on the page of a run as the list says, and a run without any is none."""
    _, run, helper = lake
    rows = web.get("/runs.json?level=all").json()["rows"]
    listed = {row["trajectory_id"]: row["finding_count"] for row in rows}
    for each, count in listed.items():
        page = web.get(f"/runs/{each}").text
        shown = section(page, "<h2>Findings") if "<h2>Findings" in page else ""
        assert shown.count('<li class="mark">') == count

    assert (listed[run], listed[helper], {*listed.values()}) == (4, 3, {0, 3, 4})
    assert web.get("/runs.json?findings=1..").json()["runs"] == 1
    assert sum(row["findings"] for row in web.get("/releases.json").json()["releases"]) == 1
    assert web.get("/tasks.json").json()["tasks"][0]["findings"] == 1


def test_right_tools_with_wrong_arguments_are_told_from_wrong_tools(web: TestClient) -> None:
    """The task's page says which argument was wrong, and names no tool as picked instead."""
    found = section(web.get(f"/tasks/{TASK}").text, ">Expected calls<")
    assert "wrong arguments 1 time, most often: argument amount of pay is 60, expected 40" in found
    (decision,) = (
        row
        for row in web.get(f"/tasks/{TASK}.json").json()["decisions"]
        if row["expected_tool"] == "pay"
    )
    assert (decision["wrong_arguments"], decision["instead"]) == (1, None)


def test_decisions_name_the_run_whose_step_they_are(scored_lake: Lake) -> None:
    """Each call of a decision is the step of that number in that run."""
    rows = values(
        scored_lake,
        "SELECT decisions.trajectory_id = step_trajectory_id, picked_tool = tool_name "
        "FROM decisions INNER JOIN steps ON step_trajectory_id = steps.trajectory_id "
        "AND decisions.step_index = steps.step_index",
    )
    made = "SELECT count(*) FROM decisions WHERE picked_tool IS NOT NULL"
    assert {right for _, right in rows} == {True}
    assert {own for own, _ in rows} == {True, False}
    assert [(len(rows),)] == values(scored_lake, made)


def test_failure_modes_are_listed_with_what_they_are_worth(
    web: TestClient, lake: tuple[Lake, str, str]
) -> None:
    """Below the findings of a run, and below the modes that runs can be filtered by."""
    note = "goal drift adds nothing: no step that it named was near it"

    assert note in section(web.get(f"/runs/{lake[1]}").text, ">Findings ")
    assert note in section(web.get("/runs").text, "<h2>Failure mode</h2>")
    assert "Measured" not in section(web.get("/runs").text, "<h2>Agent</h2>")
