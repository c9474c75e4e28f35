"""Scores by turn and by conversation: a conversation is correct only if each of its turns is."""

import json
from typing import Any

import pytest
from tests.scoring.report.build import Tables, pages

from tracegrade_scoring.rendering.words import NOTHING
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.view import agent_views


def converse(tables: Tables, conversation: str, *turns: float | None, task: str = "math") -> None:
    """Insert a run for each turn, with one decision point, right if the turn is correct."""
    for value in turns:
        run = tables.run(task_id=task, conversation_id=conversation)
        tables.scored(run, task)
        tables.score(run, "success", value, numerator=value, denominator=value and 1.0)
        picked = value or 0.0
        tables.score(run, "tsa", picked, numerator=picked, denominator=1.0)
        tables.score(run, "tool_correctness", picked)


def test_turns_and_conversations_of_the_papers_experiment(tables: Tables) -> None:
    """Three conversations of three turns; one of them fails at its first: 2 of 3 [Agentic]."""
    converse(tables, "c1", 1.0, 1.0, 1.0)
    converse(tables, "c2", 1.0, 1.0, 1.0)
    converse(tables, "c3", 0.0, 1.0, 1.0)
    (agent,) = agent_views(tables.report())

    assert [row[1:] for row in agent.turns] == [
        ("1", "66.7%, 2 of 3", "66.7%", "66.7%"),
        ("2", "100.0%, 3 of 3", "100.0%", "100.0%"),
        ("3", "100.0%, 3 of 3", "100.0%", "100.0%"),
    ]
    assert [row[1:6] for row in agent.conversations] == [
        ("c3", "math", "3", "2 of 3", "failed"),
        ("c1", "math", "3", "3 of 3", "correct"),
        ("c2", "math", "3", "3 of 3", "correct"),
    ]
    (release,) = json.loads(render_json(tables.report()))["releases"]
    assert release["pass"][0]["pass_at_k"] == 2 / 3
    assert [row["is_correct"] for row in release["conversations"]] == [False, True, True]
    assert release["conversations"][0]["trajectory_id"] == "t7"
    for page in pages(tables.report()):
        assert "2 of 3" in page
        assert "onversation" in page


def test_unknown_turn_leaves_a_conversation_unknown_unless_another_failed(tables: Tables) -> None:
    """As attempts are counted; a turn without success has no share."""
    converse(tables, "c1", 1.0, None)
    converse(tables, "c2", 0.0, None)
    (agent,) = agent_views(tables.report())

    assert {row[1]: row[5] for row in agent.conversations} == {"c1": "unknown", "c2": "failed"}
    assert agent.turns[1][2] == f"{NOTHING}, 0 of 0"


def test_runs_without_a_conversation_have_no_turns(tables: Tables) -> None:
    """A conversation of one run is that run, and shown as such elsewhere."""
    converse(tables, "c1", 1.0)
    run = tables.run(task_id="math")
    tables.scored(run, "math")
    tables.score(run, "success", 1.0)
    (agent,) = agent_views(tables.report())

    assert (agent.turns, agent.conversations) == ((), ())
    for page in pages(tables.report()):
        assert "by turn" not in page


def turn(tables: Tables, value: float, **facts: Any) -> None:
    """Insert a run of conversation c."""
    run = tables.run(task_id="math", conversation_id="c", **facts)
    tables.scored(run, "math")
    for metric in ("success", "tool_correctness"):
        tables.score(run, metric, value, numerator=value, denominator=1.0)


def test_turns_are_counted_over_runs_that_tell_several(tables: Tables) -> None:
    """A run of two turns stands at the first; the next one begins in the third."""
    turn(tables, 1.0, turn_count=2)
    turn(tables, 0.0)
    (agent,) = agent_views(tables.report())

    assert [row[1:3] for row in agent.turns] == [("1", "100.0%, 1 of 1"), ("3", "0.0%, 0 of 1")]
    assert [row[3:5] for row in agent.conversations] == [("3", "1 of 2")]


@pytest.mark.parametrize("earlier_is_scored", [True, False])
def test_run_that_goes_on_begins_in_the_turn_that_waited(
    tables: Tables, earlier_is_scored: bool
) -> None:
    """A conversation of two turns, the second interrupted; a third follows. Parts are one run."""
    first = tables.run(task_id="math", conversation_id="c", turn_count=2, open_calls=["k"],
                       interrupted=True)  # fmt: skip
    if earlier_is_scored:
        tables.scored(first, "math")
    turn(tables, 1.0, resumed_calls=["k"])
    turn(tables, 0.0)
    (agent,) = agent_views(tables.report())

    assert [row[1] for row in agent.turns] == ["1", "3"]
    assert [row[3:5] for row in agent.conversations] == [("3", "1 of 2")]


def test_trials_and_tasks_of_one_conversation_id_are_several_conversations(tables: Tables) -> None:
    """They are distinguished like attempts; each is named with its task and trial."""
    for trial, value in ((0, 1.0), (0, 1.0), (1, 0.0), (1, 1.0)):
        turn(tables, value, trial=trial)
    (agent,) = agent_views(tables.report())

    assert [row[1:6] for row in agent.conversations] == [
        ("c", "math, trial 1", "2", "1 of 2", "failed"),
        ("c", "math, trial 0", "2", "2 of 2", "correct"),
    ]
    assert [row[1] for row in agent.turns] == ["1", "2"]


def test_shares_by_turn_are_weighted_and_do_not_depend_on_order(tables: Tables) -> None:
    """A run of weight 3 counts thrice; three thirds in any order are the same double."""
    for place, (value, weight) in enumerate(((1.0, 3.0), (0.0, 1.0))):
        for _ in range(2):
            run = tables.run(task_id="math", conversation_id=f"c{place}")
            tables.scored(run, "math")
            tables.scores[run]["sample_weight"] = weight
            tables.score(run, "success", value, numerator=value, denominator=1.0)
    (agent,) = agent_views(tables.report())

    assert agent.turns[0][2] == "75.0%, 1 of 2"


def test_conversations_that_are_not_listed_are_counted(tables: Tables) -> None:
    """Of 205, HTML lists 200; each format says how many more there are."""
    for place in range(205):
        converse(tables, f"c{place}", 1.0, 1.0)
    report = tables.report()
    (agent,) = agent_views(report)
    terminal, html, markdown = pages(report)

    assert (len(agent.conversations), agent.conversation_count) == (200, 205)
    assert "… and 165 more; --format html lists 200 of all 205." in terminal
    assert "… and 155 more; --format html lists 200 of all 205." in markdown
    assert "205 conversations, those whose runs failed most first" in html
    assert "5 more, whose runs failed no more often, are not listed." in html
