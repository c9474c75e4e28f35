"""A run of a conversation scores as if its task expected what its own turns expect alone."""

import json
from random import Random
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.scoring.build import (
    Score,
    all_scores,
    call,
    connection,
    scored,
    specification,
    trajectory,
)

METRICS = ("tsa", "missed_decisions", "tool_correctness", "tool_correct", "tool_sequence")
TOOLS: dict[str, Any] = {"look": {"effect": "read"}, "pay": {"effect": "write"}}


def random_task(random: Random) -> dict[str, Any]:
    """Return a task that expects calls in the turns 0 to 3; of some it does not say when."""
    expected = [
        {"tool": random.choice([*TOOLS]), "turn": random.choice((None, 0, 1, 2, 3))}
        for _ in range(random.randint(1, 5))
    ]
    expected[0]["turn"] = random.randint(0, 3)
    return {
        "expected": [{k: v for k, v in each.items() if v is not None} for each in expected],
        "expected_complete": random.choice((True, False, "writes")),
        "sequence_matters": random.random() < 0.7,
    }


def own_task(task: dict[str, Any], first: int, end: int | None) -> dict[str, Any]:
    """Return the task as it is for a run with these turns of the conversation, from its 0 on."""
    own = [
        {**each, "turn": each.get("turn", 0) - first}
        for each in task["expected"]
        if first <= each.get("turn", 0) and (end is None or each.get("turn", 0) < end)
    ]
    return {**task, "expected": own}


@settings(max_examples=3, phases=[Phase.generate])
@given(st.integers(min_value=0))
def test_scores_are_those_of_the_own_turns_alone(seed: int) -> None:
    """Of 40 conversations, each with a run that has some of the turns, against plain tasks."""
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    tasks, plain, steps, turns = {}, {}, [], []
    for i in range(40):
        name, first = f"t{i:02}", random.randint(0, 3)
        end = random.choice((None, first + random.randint(1, 2)))
        whole = random_task(random)
        tasks[name], plain[name] = whole, own_task(whole, first, end)
        turns.append((name, first, end))
        made = sorted(random.randint(0, (end or first + 2) - first - 1) for _ in range(4))
        steps += [
            call(name, k, random.choice([*TOOLS]), turn=turn)
            for k, turn in enumerate(made[: random.randint(0, 4)])
        ]

    found, wanted = of(tasks, steps, turns), of(plain, steps, [])
    for name in tasks:
        for metric in METRICS:
            if plain[name]["expected"]:  # nothing expected is a task of its own: no call at all
                assert found[name][metric] == wanted[name][metric], (name, metric)


def of(
    tasks: dict[str, Any], steps: list[Any], turns: list[tuple[str, int, int | None]]
) -> dict[str, dict[str, Score]]:
    """Return the scores of one run of each task."""
    con = connection(steps, [trajectory(name, task_id=name) for name in tasks])
    if turns:
        con.executemany("INSERT INTO first_turns VALUES (?, ?, ?)", turns)
    spec = specification(json.dumps({"tools": TOOLS, "tasks": tasks}))
    return all_scores(scored(con, spec, until="tool_correctness"))
