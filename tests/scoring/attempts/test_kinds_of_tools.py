"""A task file may say which tools plan, hand over or answer, beside those known by name."""

from tests.scoring.build import call, connection, scored, scores, specification, trajectory

PLAN = '[{"id":"look","tool":"look"},{"id":"pay","tool":"pay"}]'
STEPS = [
    call("t1", 0, "my_todos", arguments=f'{{"items":{PLAN}}}'),
    call("t1", 1, "look"),
    {**call("t1", 2, "TodoWrite", status=None, plan="[]"), "kind": "plan"},
    call("t1", 3, "to_billing"),
    call("t1", 4, "say", arguments='{"text":"done"}'),
]
TOOLS = """
tools:
  my_todos: {kind: plan}
  to_billing: {kind: handoff}
  say: {kind: answer}
  TodoWrite: {kind: tool_call}
  look: {effect: read}
"""


def test_tools_are_what_the_task_file_says() -> None:
    """Only its tool calls are calls; its plans are read, also in the arguments of a call."""
    con = scored(connection(STEPS, [trajectory("t1")]), specification(TOOLS), until="conduct")

    assert con.sql("SELECT tool_name, status FROM calls ORDER BY call_index").fetchall() == [
        ("look", "ok"),
        ("TodoWrite", "unknown"),
    ]
    assert con.sql("SELECT plan FROM plans").fetchall() == [(f'{{"items":{PLAN}}}',)]
    assert scores(con)["actual_steps"].value == 2


def test_without_it_the_name_says() -> None:
    """A tool that is not in the list is called, and one that is plans."""
    con = scored(connection(STEPS, [trajectory("t1")]), specification("tools: {look: {}}"))

    calls = con.sql("SELECT tool_name FROM calls ORDER BY call_index").fetchall()
    assert [name for (name,) in calls] == ["my_todos", "look", "to_billing", "say"]
    assert con.sql("SELECT plan FROM plans").fetchall() == [("[]",)]
