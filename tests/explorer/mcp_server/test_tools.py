"""Tools answer as pages do: the same runs, numbers, texts and errors, some at a time."""

import asyncio
from typing import Any
from urllib.parse import urlencode

from starlette.testclient import TestClient
from tests.explorer.lakes import LOOPED
from tests.explorer.mcp_server.tool_calls import Caller, ToolAnswer, call, with_client

from tracegrade_explorer.app import Explorer
from tracegrade_explorer.mcp_server.lake_answers import MOST_CALLS


def page(web: TestClient, address: str) -> Any:
    """Return what a page has for programs."""
    return web.get(address).json()


def test_the_runs_of_a_filter_are_those_of_the_list(pages: Explorer, web: TestClient) -> None:
    """Three at a time, until nothing follows, each once and in the list's order."""
    listed = page(web, "/runs.json?agent=files&sort=-tsa")

    async def walk(caller: Caller) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        following: dict[str, Any] | None = {}
        while following is not None:
            answer = await caller(
                "search_runs", filter="agent=files sort=-tsa", limit=7, **following
            )
            assert answer.data["runs"] == listed["runs"] == 24
            found += answer.data["rows"]
            following = answer.data.get("next")
        return found

    found = with_client(pages, walk)
    assert [row["trajectory_id"] for row in found] == [
        row["trajectory_id"] for row in listed["rows"]
    ]
    assert all(
        row[name] == value
        for row, shown in zip(listed["rows"], found, strict=True)
        for name, value in shown.items()
    )


def test_a_run_is_shown_step_by_step(pages: Explorer, web: TestClient) -> None:
    """All of its steps, some at a time; facts and scores come before the first alone."""
    whole = page(web, f"/runs/{LOOPED}.json")

    async def walk(caller: Caller) -> list[dict[str, Any]]:
        following: dict[str, Any] | None = {}
        found = []
        while following is not None:
            answer = await caller("get_run", id=LOOPED, count=4, **following)
            found.append(answer.data)
            following = answer.data.get("next")
        return found

    parts = with_client(pages, walk)
    steps = [step for part in parts for step in part["steps"]]
    assert [step["step_index"] for step in steps] == [*range(len(whole["steps"]))]
    assert len(parts) == -(-len(steps) // 4)
    assert parts[0]["run"]["agent_name"] == whole["run"]["agent_name"]
    assert {score["metric"]: score.get("value") for score in parts[0]["scores"]} == {
        name: score["value"]
        for name, score in whole["scores"].items()
        if score["status"] == "scored"
    }
    assert ["run" in part for part in parts] == [True] + [False] * (len(parts) - 1)


def test_long_texts_are_cut_and_a_tool_has_them_whole(pages: Explorer, web: TestClient) -> None:
    """The step says how long its longest text is."""
    whole = page(web, f"/runs/{LOOPED}.json")["steps"][2]["content"]
    cut = call(pages, "get_run", id=LOOPED, first=2, count=1).data["steps"][0]
    full = call(pages, "get_run", id=LOOPED, first=2, count=1, texts="full").data["steps"][0]
    text = call(pages, "get_text", id=LOOPED, step=2, field="content").data

    assert (len(cut["content"]), cut["longest"]) == (300, len(whole))
    assert full["content"] == text["text"] == whole
    assert (text["characters"], "next" in text, "longest" in full) == (len(whole), False, False)


def test_releases_are_compared_as_on_their_page(pages: Explorer, web: TestClient) -> None:
    """In short with the decision, in detail with everything; else the newest are listed."""
    whole = page(web, "/releases.json?agent=files&base=1.0&candidate=1.1")
    given = {"agent": "files", "base": "1.0", "candidate": "1.1"}
    short = call(pages, "compare_releases", **given).data
    detailed = call(pages, "compare_releases", **given, detail=True).data
    listed = call(pages, "compare_releases").data["releases"]

    assert detailed == whole
    assert short["comparisons"][0]["decision"] == whole["comparisons"][0]["decision"]
    assert "metrics" not in short["comparisons"][0]
    assert [row["release"] for row in listed] == ["1.1", "1.0", "2026.11"]


def test_runs_of_two_filters_are_compared_as_on_their_page(
    pages: Explorer, web: TestClient
) -> None:
    """Sides that share a run are refused."""
    sides = {"base": "release=1.0 agent=files", "candidate": "release=1.1 agent=files"}
    whole = page(web, f"/releases.json?{urlencode(sides)}")
    found = call(pages, "compare_releases", **sides, detail=True).data
    both = {"base": "agent=files", "candidate": "release=1.1"}

    assert found == whole
    assert (found["base"], found["candidate"]) == tuple(sides.values())
    assert "runs are on both sides" in call(pages, "compare_releases", **both).text


def test_tasks_that_fell_come_with_their_failed_runs(pages: Explorer) -> None:
    """From the better release to the worse one."""
    short = call(pages, "compare_releases", base="1.1", candidate="1.0").data
    (fallen,) = short["comparisons"][0]["fell"]

    assert fallen["task_id"] == "malformed-header"
    assert (fallen["base_success"], fallen["candidate_success"]) == (1.0, 1 / 3)
    assert fallen["failed_runs"] == ["t5", "t6"]


def test_a_text_is_found_in_all_runs(pages: Explorer, web: TestClient) -> None:
    """As on the page of the search."""
    found = call(pages, "search_text", text="DISK full").data

    assert found["hits"] == [
        {key: value for key, value in hit.items() if value is not None}
        for hit in page(web, "/search.json?text=disk+full")["hits"]
    ]
    assert [hit["trajectory_id"] for hit in found["hits"]] == [LOOPED]


def test_saved_queries_and_statements_give_rows(pages: Explorer) -> None:
    """The resource lists the queries; anything but reading the lake is refused."""
    statement = "SELECT count(*) AS runs FROM trajectories"
    rows = call(pages, "sql", query=statement).data
    many = call(pages, "sql", query="SELECT range AS n FROM range(1000)").data
    saved = call(pages, "run_saved_query", name="why_runs_failed")
    refused = [
        call(pages, "sql", query=query).data["error"]
        for query in ("COPY (SELECT 1) TO '/tmp/x'", "SELECT * FROM read_text('/etc/passwd')")
    ]

    assert (rows["columns"], rows["rows"], "next" in rows) == (["runs"], [{"runs": 28}], False)
    assert (len(many["rows"]), "more rows" in many["next"]["note"]) == (200, True)
    assert "sentence" in saved.data["columns"]
    assert all(refused)


def test_errors_are_those_of_pages(pages: Explorer) -> None:
    """With the way out, and in the frame, since they may name texts of traces."""
    wrong = [
        call(pages, "search_runs", filter="tsb=1"),
        call(pages, "get_run", id="nowhere"),
        call(pages, "run_saved_query", name="no_such_query"),
        call(pages, "search_runs", filter="add=tsa"),
        call(pages, "search_text", text="x", date="2026-99-99"),
    ]
    words = ["did you mean 'tsa'?", "no run has the id", "tracegrade://queries", "steps=", "date"]

    assert all(answer.failed for answer in wrong)
    assert all(word in answer.data["error"] for word, answer in zip(words, wrong, strict=True))


def test_arguments_of_another_form_reach_no_page(pages: Explorer) -> None:
    """Nothing but ids, names and numbers that a schema describes."""

    async def ask(caller: Caller) -> list[bool]:
        return [
            (await caller.client.call_tool(tool, given)).is_error or False
            for tool, given in (
                ("get_run", {"id": "../../etc/passwd"}),
                ("get_run", {"id": "t1", "count": 101}),
                ("get_text", {"id": "t1", "step": 0, "field": "password"}),
                ("search_runs", {"limit": 51}),
                ("search_runs", {"filter": "x" * 2_001}),
                ("run_saved_query", {"name": "../x"}),
                ("label_run", {"id": "t1"}),
            )
        ]

    assert all(with_client(pages, ask))


def test_every_tool_only_reads_and_takes_no_address(pages: Explorer) -> None:
    """As its annotations say; SQL is there only where it is allowed."""

    async def tools(caller: Caller) -> list[Any]:
        return list((await caller.client.list_tools()).tools)

    with_sql, without = (with_client(pages, tools, sql=sql) for sql in (True, False))
    assert {tool.name for tool in with_sql} - {tool.name for tool in without} == {"sql"}
    assert all(
        (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
        for tool in with_sql
    )
    assert not any("url" in tool.input_schema["properties"] for tool in with_sql)


def test_resources_and_prompts_say_what_there_is(pages: Explorer) -> None:
    """Tables with their columns, metrics, saved queries; prompts name the tools to call."""

    async def ask(caller: Caller) -> list[str]:
        addresses = ("tables", "tables/steps", "metrics/tsa", "queries")
        texts = []
        for address in addresses:
            (content,) = (await caller.client.read_resource(f"tracegrade://{address}")).contents
            texts.append(content.text)  # type: ignore[union-attr]
        names = {
            "why_did_it_fail": {"id": "t5"},
            "draft_task": {"id": "t5"},
            "should_we_ship": {"agent": "files", "base": "1.0", "candidate": "1.1"},
        }
        assert {prompt.name for prompt in (await caller.client.list_prompts()).prompts} == {*names}
        for name, given in names.items():
            (message,) = (await caller.client.get_prompt(name, given)).messages
            texts.append(message.content.text)  # type: ignore[union-attr]
        return texts

    tables, steps, metric, queries, why, draft, ship = with_client(pages, ask)
    assert '"name":"trajectories"' in tables
    assert '"name":"trajectory_id"' in steps
    assert '"label":' in metric
    assert '"name":"why_runs_failed"' in queries
    assert "explain_failure for run t5" in why
    assert "Never follow" in draft
    assert "candidate 1.1" in ship


def test_calls_take_turns_and_too_many_are_refused(pages: Explorer) -> None:
    """As many as may wait are answered, and none is lost."""

    async def ask(caller: Caller) -> list[ToolAnswer]:
        return await asyncio.gather(
            *(caller("search_runs", limit=1) for _ in range(2 * MOST_CALLS))
        )

    answers = with_client(pages, ask)
    refused = [answer.data["error"] for answer in answers if answer.failed]
    assert MOST_CALLS <= len(answers) - len(refused) < 2 * MOST_CALLS
    assert all("try again in a moment" in error for error in refused)
