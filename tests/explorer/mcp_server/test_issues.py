"""Issues for coding agents: those of the page, and those of a run."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from tests.explorer.lakes import client, explorer
from tests.explorer.mcp_server.tool_calls import Caller, with_client
from tests.scoring.issues.test_states import add_runs
from tests.scoring.report.build import Tables, as_lake

from tracegrade_explorer.app import Explorer


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """Pages over a lake whose newest release shows an issue that was fixed, and 100 new ones."""
    with closing(Tables()) as tables:
        for release, failures in (("1.0", 9), ("1.1", 0), ("1.2", 2)):
            last = add_runs(tables, release, failures, 10)
        for number in range(100):
            tables.insert("run_reasons", trajectory_id=last[9], rank_in_run=number + 1,
                          kind="drift", key=f"k{number}", sentence="drifted " * 20,
                          success=False, task_id="t", release="1.2",
                          agent_name="files")  # fmt: skip
        lake = as_lake(tables, tmp_path_factory.mktemp("issues") / "lake")
    with closing(explorer(lake)) as found, closing(found.latest):
        yield found


def test_issues_are_those_of_the_page(pages: Explorer) -> None:
    """As many as fit, until none follows; each names its newest run."""
    listed = client(pages).get("/issues.json").json()["issues"]

    async def walk(caller: Caller) -> list[list[dict[str, Any]]]:
        following: dict[str, Any] | None = {}
        found = []
        while following is not None:
            answer = (await caller("list_issues", **following)).data
            found.append(answer["rows"])
            following = answer.get("next")
        return found

    parts = with_client(pages, walk)
    rows = [row for part in parts for row in part]
    assert [(row["issue"], row["state"], row["runs"]) for row in rows] == [
        (row["issue"], row["state"], row["runs"]) for row in listed
    ]
    assert len(parts) > 1
    assert rows[0]["trajectory_id"]


def test_issues_are_chosen_by_state_and_agent(pages: Explorer) -> None:
    """As on the page; another state is refused."""

    async def ask(caller: Caller) -> list[Any]:
        states = [
            {row["state"] for row in (await caller("list_issues", **given)).data["rows"]}
            for given in ({"state": "reopened"}, {"state": "new", "agent": "files"},
                          {"agent": "nobody"})
        ]  # fmt: skip
        refused = await caller.client.call_tool("list_issues", {"state": "closed"})
        return [*states, refused.is_error]

    assert with_client(pages, ask) == [{"reopened"}, {"new"}, set(), True]


def test_a_run_is_explained_with_its_issues(pages: Explorer) -> None:
    """Once the issues of the lake are worked out."""

    async def ask(caller: Caller) -> list[dict[str, str]]:
        issue = (await caller("list_issues", state="reopened")).data["rows"][0]
        why = await caller("explain_failure", id=issue["trajectory_id"])
        found: list[dict[str, str]] = why.data["issues"]
        return found

    assert "reopened" in {issue["state"] for issue in with_client(pages, ask)}
