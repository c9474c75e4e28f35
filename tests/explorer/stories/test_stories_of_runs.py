"""What readers want to know of one run, each in a real Chromium and held to SQL over the lake."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from tests.explorer.browser import needs_chromium
from tests.explorer.stories.conftest import BeginStory, ServedLake
from tests.explorer.stories.lakes import ask
from tests.explorer.test_plan_graph import needs_graphviz

from tracegrade_lake import Lake

pytestmark = [needs_chromium, pytest.mark.slow]
Served = Callable[[str], ServedLake]
NEWEST_FAILURES = """
SELECT trajectory_id, EXISTS (
    FROM trajectory_scores AS other
    WHERE other.task_id = failed.task_id AND other.success.value = 1
) AS task_was_solved
FROM trajectories
JOIN trajectory_scores AS failed USING (trajectory_id)
JOIN run_reasons USING (trajectory_id)
WHERE failed.success.value = 0 AND rank_in_run = 1
QUALIFY row_number() OVER (PARTITION BY kind, object ORDER BY start_time DESC) = 1
ORDER BY start_time DESC
"""
"""Of each reason the newest failed run, and whether another run solved its task."""
IN_VIEW = "document.activeElement.getBoundingClientRect().top >= 0 && "
IN_VIEW += "document.activeElement.getBoundingClientRect().top < innerHeight"


def newest_failure(lake: Lake) -> str:
    """Return the newest run that failed."""
    return str(ask(lake, NEWEST_FAILURES)[0][0])


def newest_link(run: str) -> str:
    """Return the selector of the link on the first page that opens a reason's newest run."""
    return f"a.sub[href*='/runs/{run}']"


def test_on_call(story: BeginStory, served: Served) -> None:
    """The heading of the newest failed run is its first reason."""
    lake, base = served("order desk")
    run = newest_failure(lake)
    with story("on call", base) as reader:
        reader.begin("/")
        reader.follow(reader.page.locator(newest_link(run)))
        heading = reader.sees(reader.page.locator("h1.run-verdict"))

    why = "SELECT sentence FROM run_reasons WHERE trajectory_id = $run AND rank_in_run = 1"
    ((sentence,),) = ask(lake, why, run=run)
    assert heading.startswith(f"Failed: {sentence}")


def test_wrong_decision(story: BeginStory, served: Served) -> None:
    """The card of the first wrong decision is in view, with the called and the expected tool."""
    lake, base = served("order desk")
    run = newest_failure(lake)
    with story("wrong decision", base) as reader:
        reader.begin("/")
        reader.follow(reader.page.locator(newest_link(run)))
        reader.press("e")
        card = reader.sees(reader.page.locator("[data-finding]:focus .decision-card"))
        assert reader.page.evaluate(IN_VIEW)

    wrong = """
    SELECT picked_tool, expected_tool FROM decisions
    WHERE trajectory_id = $run AND NOT correct AND NOT missed ORDER BY step_index LIMIT 1
    """
    ((picked, expected),) = ask(lake, wrong, run=run)
    assert f"{picked} where {expected} was expected" in card


def calls_in_column(page: Page, column: int) -> list[str]:
    """Return the tools that a column of the comparison shows."""
    cells = page.locator(f"table.aligned tbody td:nth-child({column})", has_text="tool call")
    return cells.locator("> .name").all_inner_texts()


def test_two_runs(story: BeginStory, served: Served) -> None:
    """A success of the same task stands next to the failed run, call by call."""
    lake, base = served("order desk")
    run = next(run for run, was_solved in ask(lake, NEWEST_FAILURES) if was_solved)
    with story("two runs", base) as reader:
        reader.begin("/")
        reader.follow(reader.page.locator(newest_link(run)))
        reader.press("c", leads_away=True)
        heading = reader.sees(reader.page.locator("h1"))
        ids = reader.page.locator(".sides .note.name").all_inner_texts()
        shown = [calls_in_column(reader.page, column) for column in (1, 3)]

    calls = """
    SELECT list(tool_name ORDER BY step_index) FROM steps
    WHERE trajectory_id = $run AND kind = 'tool_call'
    """
    facts = """
    SELECT success.value, trajectory_scores.task_id FROM trajectory_scores
    WHERE trajectory_id = $run
    """
    assert heading.startswith("Two runs")
    assert run in ids
    assert shown == [ask(lake, calls, run=each)[0][0] for each in ids]
    (first, second) = (ask(lake, facts, run=each)[0] for each in ids)
    assert {first[0], second[0]} == {0, 1}
    assert first[1] == second[1]


@needs_graphviz
def test_plan_graph(story: BeginStory, served: Served) -> None:
    """A number in a box of the graph leads to the call that served the sub-goal."""
    lake, base = served("order desk")
    served_goal = """
    SELECT trajectory_id, step_index, tool_name FROM steps
    JOIN sub_goals USING (trajectory_id, sub_goal)
    WHERE kind = 'tool_call' ORDER BY trajectory_id, step_index DESC LIMIT 1
    """
    ((run, index, tool),) = ask(lake, served_goal)
    goals = "SELECT sub_goal FROM sub_goals WHERE trajectory_id = $run"
    with story("plan graph", base) as reader:
        reader.begin(f"/runs/{run}")
        graph = reader.page.locator("svg.plan-graph").last
        drawn = graph.text_content() or ""
        graph.locator(f"a[href='#s{index}']").click()
        step = reader.sees(reader.page.locator(f"#s{index}:target"))

    assert all(goal in drawn for (goal,) in ask(lake, goals, run=run))
    assert step.startswith(f"s{index}")
    assert tool in step


def test_several_agents(story: BeginStory, served: Served) -> None:
    """A click on an agent of a team that a framework ran leaves the steps of that agent alone."""
    lake, base = served("teams")
    team = """
    SELECT trajectory_id, agent_name, step_indexes FROM agents
    WHERE parent_agent_span_id IS NOT NULL ORDER BY ALL LIMIT 1
    """
    ((run, name, indexes),) = ask(lake, team)
    with story("several agents", base) as reader:
        reader.begin(f"/runs/{run}")
        reader.follow(reader.page.locator("table.agents a", has_text=name))
        reader.sees(reader.page.locator("ol.steps li.step").first)
        ids = reader.page.locator("ol.steps [id^=s]").evaluate_all("all => all.map(e => e.id)")

    steps = [int(each[1:]) for each in ids if re.fullmatch(r"s\d+", each)]
    assert sorted(steps) == indexes


def test_conversation(story: BeginStory, served: Served) -> None:
    """The turn with a wrong decision is open, others are folded lines."""
    lake, base = served("airline")
    failed = """
    SELECT decisions.trajectory_id, list_sort(list(DISTINCT turn + 1))
    FROM decisions JOIN steps USING (trajectory_id, step_index)
    JOIN trajectory_scores USING (trajectory_id)
    WHERE NOT correct AND counted AND success.value = 0
    GROUP BY 1 ORDER BY 1 LIMIT 1
    """
    ((run, turns),) = ask(lake, failed)
    ((count,),) = ask(lake, "SELECT turn_count FROM trajectories WHERE trajectory_id = $r", r=run)
    with story("conversation", base) as reader:
        reader.begin("/conversations?outcome=failed")
        reader.follow(reader.page.locator(f"a[data-open][href*='{run}']"))
        heading = reader.sees(reader.page.locator("h1.run-verdict"))
        reader.sees(reader.page.locator("li.turn > details[open] .bubble").first)
        every = reader.page.locator("li.turn").count()
        opened = reader.page.locator("li.turn:has(> details[open])")
        ids = opened.evaluate_all("all => all.map(each => each.id)")

    assert heading.startswith("Failed")
    assert every == count
    assert {f"turn-{turn}" for turn in turns} <= {*ids}


def test_kill(story: BeginStory, served: Served) -> None:
    """The page of a kill counts the objects that stay changed, and lists each."""
    lake, base = served("kills")
    left = """
    SELECT trajectory_id, json_extract_string(leftovers, '$[*].object') AS objects
    FROM harness_trials WHERE json_array_length(leftovers) > 0
    """
    ((run, objects),) = ask(lake, left)
    with story("kill", base) as reader:
        reader.begin(f"/runs/{run}")
        reader.follow(reader.page.locator("p.kill-line a").first)
        heading = reader.sees(reader.page.locator("h1.kill-verdict"))
        listed = reader.page.locator("table.kill-states tr:has(.worse) .name").count()

    assert f"{len(objects)} objects stay changed" in heading
    assert listed == len(objects)
