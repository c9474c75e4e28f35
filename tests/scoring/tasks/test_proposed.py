"""Sub-goals that a draft proposes are what the runs of a task have in common."""

import json
from typing import Any

from tracegrade_scoring.tasks.proposed import ToolUse, fewest_calls, proposed

EFFECTS = {"look": "read", "find": "read", "pay": "write", "tell": "write"}


def call(tool: str, **arguments: Any) -> ToolUse:
    """Return a call that went well."""
    return ToolUse(tool, json.dumps(arguments))


def goals(*runs: list[ToolUse], effects: dict[str, str | None] | None = None) -> dict[str, Any]:
    """Return the sub-goals of these runs, as in a task file."""
    found = proposed(runs, EFFECTS if effects is None else effects)
    return {each.name: each.sub_goal() for each in found}


LOOK, FIND, PAY, TELL = (call(tool) for tool in ("look", "find", "pay", "tell"))


def test_what_came_before_in_every_run_is_a_prerequisite() -> None:
    """Directly, where nothing stands between; what came now before and now after is none."""
    found = goals([LOOK, FIND, PAY, TELL], [FIND, LOOK, PAY, TELL])

    assert {name: goal.get("deps") for name, goal in found.items()} == {
        "look": None,
        "find": None,
        "pay": ["find", "look"],
        "tell": ["pay"],
    }


def test_writes_that_all_runs_made_are_critical() -> None:
    """All that all made, where it is not known what any of them does."""
    runs = [LOOK, PAY, TELL], [LOOK, PAY]

    assert [name for name, goal in goals(*runs).items() if "critical" in goal] == ["pay"]
    unknown = goals(*runs, effects={})
    assert [name for name, goal in unknown.items() if "critical" in goal] == ["look", "pay"]


def test_what_most_runs_did_is_a_sub_goal_with_their_number() -> None:
    """What half of them did, or fewer, is none."""
    found = proposed([[LOOK, PAY], [LOOK, PAY], [PAY, TELL], [PAY, TELL, FIND]], EFFECTS)
    assert [(each.name, each.runs, each.all_runs) for each in found] == [("pay", 4, 4)]

    found = proposed([[LOOK, PAY], [LOOK, PAY], [PAY]], EFFECTS)
    assert [(each.name, each.runs, each.is_critical) for each in found] == [
        ("look", 2, False),
        ("pay", 3, True),
    ]


def test_arguments_count_that_say_what_a_call_is_about() -> None:
    """The arguments that are equal in all runs; an agent's own wording is not among them."""
    note = "The user told me that the order never came."
    first = call("pay", order="A-1", items=[{"id": 7}], note=note)
    other = call("pay", order="A-1", items=[{"id": 7}], note=f"{note} Again.")

    assert goals([first], [other])["pay"]["success"] == {
        "tool": "pay",
        "arguments": {"order": "A-1", "items": [{"id": 7}]},
    }
    assert "success" not in goals([first], [call("pay", order="A-2")])["pay"]


def test_calls_of_one_tool_about_several_things_are_several_sub_goals() -> None:
    """Each is served by the calls about its own thing."""
    found = goals(
        [call("look", id="a"), call("look", id="b.")],
        [call("look", id="b."), call("look", id="a")],
    )

    assert {name: goal["serves"] for name, goal in found.items()} == {
        "look": [{"tool": "look", "arguments": '"id":"a"'}],
        "look-2": [{"tool": "look", "arguments": r'"id":"b\."'}],
    }
    assert all("deps" not in goal for goal in found.values())


def test_keys_of_any_alphabet_are_served_as_they_are_recorded() -> None:
    """Canonical JSON writes letters as they are, in keys as in values."""
    found = goals([call("look", größe="groß"), call("look", größe="klein")])

    assert found["look"]["serves"] == [{"tool": "look", "arguments": '"größe":"groß"'}]


def test_thoughts_and_repeats_are_neither_sub_goals_nor_needed() -> None:
    """A tool in which an agent thinks does nothing; what is read again after a write is needed."""
    think = call("think", thought="So.")
    run = [think, LOOK, LOOK, think, FIND, LOOK, PAY, LOOK, TELL]

    assert [*goals(run)] == ["look", "find", "pay", "tell"]
    assert fewest_calls([run], EFFECTS) == 5
    assert fewest_calls([run, [think]], EFFECTS) == 0


def test_arguments_that_nobody_knows_are_any() -> None:
    """Redacted arguments, or arguments that are not an object: the tool alone is the sub-goal."""
    assert goals([ToolUse("look", None), PAY], [ToolUse("look", "[1]"), PAY])["look"] == {
        "serves": ["look"]
    }


def test_no_run_and_no_call_propose_nothing() -> None:
    """Where a run did nothing, nothing is common to all."""
    assert goals([], [LOOK]) == {}
    assert goals([]) == {}
