"""Scores by turn and by conversation: a conversation is correct only if each of its turns is."""

import json

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
    """Three conversations of three turns, one of which fails at its first: 2 of 3 [Agentic]."""
    converse(tables, "c1", 1.0, 1.0, 1.0)
    converse(tables, "c2", 1.0, 1.0, 1.0)
    converse(tables, "c3", 0.0, 1.0, 1.0)
    (agent,) = agent_views(tables.report())

    assert [row[1:] for row in agent.turns] == [
        ("1", "66.7%, 2 of 3", "66.7%", "66.7%"),
        ("2", "100.0%, 3 of 3", "100.0%", "100.0%"),
        ("3", "100.0%, 3 of 3", "100.0%", "100.0%"),
    ]
    assert [row[1:4] for row in agent.conversations] == [
        ("c3", "2 of 3", "failed"),
        ("c1", "3 of 3", "correct"),
        ("c2", "3 of 3", "correct"),
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

    assert {row[1]: row[3] for row in agent.conversations} == {"c1": "unknown", "c2": "failed"}
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
