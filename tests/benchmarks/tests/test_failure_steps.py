"""What measure_failure_steps counts, of runs made by hand."""

from typing import Any

from tests.benchmarks.measure_failure_steps import (
    Agreement,
    Label,
    agreement,
    best_baseline,
    message_numbers,
    near_a_label,
    plan_graph,
    read_labels,
)

LABELS = {
    "a": Label(5, (3, 5), "plan"),
    "b": Label(10, (10,), "plan"),
    "c": Label(20, (20,), "user"),
}


def test_a_named_step_is_compared_with_the_root_cause_within_each_tolerance() -> None:
    """Run a is right, b is 1 message off and c is 4; d has no label."""
    named = {"a": 5, "b": 11, "c": 16, "d": 7}
    assert agreement(named, LABELS) == Agreement(3, 1, (1, 2, 2), 2)


def test_a_step_near_another_failure_is_near_any_label_alone() -> None:
    """In run a message 2 is next to the failure at 3, and 3 messages from the root cause at 5."""
    assert agreement({"a": 2}, LABELS) == Agreement(1, 0, (0, 0, 1), 1)


def test_nothing_named_agrees_with_nothing() -> None:
    """A mode that no run shows has a row of zeros."""
    assert agreement({}, LABELS) == Agreement(0, 0, (0, 0, 0), 0)


def test_the_best_baseline_is_of_the_same_runs() -> None:
    """What a baseline has right in other runs does not count."""
    named = {
        "goal_drift": {"a": 9, "b": 10},
        "baseline: the first call": {"a": 5, "b": 1, "c": 20},
        "baseline: the last call": {"a": 4, "b": 13, "c": 30},
    }
    assert best_baseline(named, named["goal_drift"], LABELS) == (1, 1, 2)


def test_a_run_counts_once_where_any_of_its_steps_is_near_any_label() -> None:
    """Run a by both, b by the second alone, c by none."""
    named = ({"a": 5, "b": 1, "d": 3}, {"a": 3, "b": 11})
    failures = {run: label.failures for run, label in LABELS.items()}
    assert [near_a_label(named, failures, most) for most in (0, 1)] == [1, 2]


def test_each_step_has_the_number_of_its_message() -> None:
    """Instructions, the first question and a last word that gets no answer are no steps."""
    call = {"function": {"name": "find"}}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "Cancel it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "found"},
        {"role": "assistant", "content": "Which?"},
        {"role": "user", "content": "Both."},
        {"role": "assistant", "content": "I look.", "tool_calls": [call, call]},
        {"role": "tool", "content": "one"},
        {"role": "tool", "content": "two"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Bye."},
    ]
    assert [*message_numbers(messages)] == [3, 4, 5, 6, 7, 7, 8, 7, 9, 10]


def test_the_root_cause_is_one_of_the_failures() -> None:
    """It is named by the id of a failure, which is not its place in the list."""
    truth = {
        "trajectory_id": 4,
        "failures": [
            {"failure_id": 2, "step_number": 9, "failure_category": "plan"},
            {"failure_id": 1, "step_number": 3, "failure_category": "user"},
        ],
        "root_cause": {"failure_id": 2},
    }
    assert read_labels([truth]) == {"4": Label(9, (9, 3), "plan")}


def test_expected_writes_are_a_chain_of_sub_goals() -> None:
    """Reads are none; each write depends on the one before."""
    tools = ("get_user_details", "modify_user_address", "cancel_pending_order")
    graph = plan_graph([{"tool": tool, "arguments": {}} for tool in tools])
    assert {name: goal.get("deps") for name, goal in graph.items()} == {
        "modify_user_address_1": None,
        "cancel_pending_order_2": ["modify_user_address_1"],
    }
