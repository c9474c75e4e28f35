"""The job agrees with the slow and plain definitions on many random attempts."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.examples import many
from tests.scoring.build import Row, call, trajectory

from . import plain, plain_plans
from .scored import plan, score

TASKS = 150
ATTEMPTS_EACH = 4

GOALS = ("a", "b", "c", "d", "e", "f")
TOOLS = ("t", "u", "v", "w")
WORDS = ("read", "check", "write", "send", "file", "order")


def random_goals(random: Random) -> dict[str, Any]:
    """Return the `sub_goals` of a task, now and then a faulty one."""
    names = list(GOALS[: random.randint(1, len(GOALS))])
    random.shuffle(names)
    goals: dict[str, Any] = {}
    for i, name in enumerate(names):
        earlier = names if random.random() < 0.03 else names[:i]
        goals[name] = {
            "critical": random.random() < 0.4,
            "weight": random.choice((0.1, 0.2, 0.7, 1.0, 3.0)),
            "deps": [dep for dep in earlier if random.random() < 0.3],
        }
        if random.random() < 0.7:
            goals[name]["serves"] = random_rules(random)
        if random.random() < 0.5:
            goals[name]["success"] = random_criterion(random)
        if random.random() < 0.15:
            goals[name]["any_of"] = [
                random.sample(names, random.randint(1, min(2, len(names))))
                for _ in range(random.randint(1, 3))
            ]
    shuffled = list(goals.items())
    random.shuffle(shuffled)
    return dict(shuffled)


def random_task(random: Random) -> dict[str, Any]:
    """Return a task with one plan graph, or with several of the same sub-goals."""
    goals = random_goals(random)
    if random.random() < 0.7:
        return {"sub_goals": goals}
    graphs: dict[str, dict[str, dict[str, Any]]] = {}
    for number in range(random.randint(1, 3)):
        names = [name for name in goals if number == 0 or random.random() < 0.7] or list(goals)
        random.shuffle(names)
        graphs[f"way {number}"] = {
            name: {"deps": [dep for dep in names[:i] if random.random() < 0.3]}
            for i, name in enumerate(names)
        }
        if random.random() < 0.3:
            graphs[f"way {number}"][names[0]]["any_of"] = [[name] for name in names[1:3]]
    bare = {
        name: {key: value for key, value in goal.items() if key not in {"deps", "any_of"}}
        for name, goal in goals.items()
    }
    return {"sub_goals": bare, "graphs": graphs}


def random_rules(random: Random) -> list[Any]:
    """Return one or two rules; some of them ask for arguments."""
    return [
        tool if random.random() < 0.7 else {"tool": tool, "arguments": '"k":1'}
        for tool in random.sample(TOOLS, random.randint(1, 2))
    ]


def random_criterion(random: Random) -> dict[str, Any]:
    """Return a criterion of one or more parts."""
    parts: dict[str, Any] = {
        "tool": random.choice(TOOLS),
        "result": {"$.n": random.choice((1, 1.0, True))},
        "state": {"$.s": random.choice(("on", 1)), "$.n": 1},
        "answer": "done",
        "sql": random.choice(list(plain.EXPRESSIONS)),
    }
    keys = random.sample(list(parts), random.choice((1, 1, 1, 2, 3)))
    criterion = {key: parts[key] for key in parts if key in keys}
    if "state" in criterion and random.random() < 0.6:
        del criterion["state"]["$.n"]
    if "tool" in criterion and random.random() < 0.3:
        criterion["status"] = random.choice(("ok", "error"))
    if random.random() < 0.25:
        any_of = [random_criterion(random) for _ in range(random.choice((1, 2)))]
        return {"any_of": any_of, **(criterion if random.random() < 0.4 else {})}
    return criterion


def random_attempt(random: Random) -> plain.Attempt:
    """Return a run of a few calls and plans."""
    blind = 0.08 if random.random() < 0.3 else 0.0
    steps = [
        random_plan(random, blind) if random.random() < 0.3 else random_call(random, blind)
        for _ in range(random.randint(0, 9))
    ]
    answer = random.choice((None, "done.", "sorry"))
    judged = GOALS if random.random() < 0.4 else ()
    verdicts = {
        name: random.choice((True, True, False, None)) for name in judged if random.random() < 0.5
    }
    return plain.Attempt(steps, answer, verdicts)


def random_call(random: Random, blind: float) -> plain.Call:
    """Return a call; with probability `blind` each of its contents was not captured."""
    values = {key: random.choice(("on", 1, 1.0, True, None)) for key in "sn"}
    kept = {key: value for key, value in values.items() if random.random() < 0.6}
    return plain.Call(
        tool=random.choice(TOOLS),
        arguments=None if random.random() < blind else random.choice(('{"k":1}', "{}")),
        result=None if random.random() < blind else random.choice((json.dumps(kept), "fine")),
        failed=random.random() < 0.3,
        sub_goal=random.choice((*GOALS, "x")) if random.random() < 0.25 else None,
        served=random_served(random) if random.random() < 0.5 else [],
    )


RANKS = {"verifier": 2, "evaluation": 1, "judge": 1}
"""Who says which sub-goal a call serves, and how many of them at most."""


def random_served(random: Random) -> list[tuple[str, str, plain.Known]]:
    """Return verdicts on which sub-goal a call serves; now and then two people differ."""
    return [
        (rank, name, random.choice((True, False, False, None)))
        for rank, people in RANKS.items()
        if random.random() < 0.5
        for name in GOALS
        for _ in range(people)
        if random.random() < 0.4
    ]


def random_plan(random: Random, blind: float) -> list[Any] | None:
    """Return a plan of up to four steps; None if it was not captured."""
    if random.random() < blind:
        return None
    with_marks = random.random() < 0.4
    return [random_step(random, with_marks) for _ in range(random.randint(0, 4))]


def random_step(random: Random, with_marks: bool) -> dict[str, str]:
    """Return one step of a plan."""
    step = {}
    if random.random() < 0.4:
        step["id"] = random.choice(GOALS[:4])
    if random.random() < 0.8 or not step:
        text = " ".join(random.choices(WORDS, k=random.randint(1, 3)))
        step["text"] = random.choice(("", "1. ", "- ", "Step 2: ")) + text
    if random.random() < 0.3:
        step["tool"] = random.choice(TOOLS)
        if random.random() < 0.3:
            step.pop("text", None)
    if with_marks and random.random() < 0.8:
        step["status"] = random.choice(("pending", "in_progress", "completed"))
    return step


def rows(trajectory_id: str, attempt: plain.Attempt) -> list[Row]:
    """Return the steps of an attempt as rows of the lake."""
    return [
        call(
            trajectory_id,
            i,
            step.tool,
            arguments=step.arguments,
            result=step.result,
            status="error" if step.failed else "ok",
            sub_goal=step.sub_goal,
        )
        if isinstance(step, plain.Call)
        else plan(trajectory_id, i, step)
        for i, step in enumerate(attempt.steps)
    ]


LABELS = {True: "yes", False: "no", None: "error"}


def served_rows(trajectory_id: str, attempt: plain.Attempt) -> list[Row]:
    """Return the verdicts on what the calls of an attempt serve as rows of the lake."""
    sources = {"verifier": "human:ann", "evaluation": "gen_ai.evaluation.result"}
    return [
        {
            **{"trajectory_id": trajectory_id, "subject": "served", "sub_goal": name},
            **{"step_index": i, "source": sources.get(rank, "judge:a"), "label": LABELS[said]},
        }
        for i, step in enumerate(attempt.steps)
        if isinstance(step, plain.Call)
        for rank, name, said in step.served
    ]


def verdict_rows(trajectory_id: str, attempt: plain.Attempt) -> list[Row]:
    """Return the verdicts on an attempt as rows of the lake."""
    return served_rows(trajectory_id, attempt) + [
        {
            **{"trajectory_id": trajectory_id, "subject": "sub_goal", "sub_goal": name},
            **{"source": "judge", "label": LABELS[said]},
        }
        for name, said in attempt.verdicts.items()
    ]


@settings(max_examples=many(1), phases=[Phase.generate])
@given(st.integers(min_value=0))
def test_job_agrees_with_the_definition(seed: int) -> None:
    """Scores and rows of 600 attempts at 150 tasks are those of the definition."""
    agrees(seed)


@pytest.mark.slow
@settings(max_examples=2, phases=[Phase.generate])
@given(st.integers(min_value=1))
def test_job_agrees_on_more_attempts(seed: int) -> None:
    """The same holds for 1,200 others; a share of them has combinations that are rare."""
    agrees(seed)


def agrees(seed: int) -> None:
    """Check the scores and rows of random attempts."""
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    tasks = {f"task-{i}": random_task(random) for i in range(TASKS)}
    attempts = {
        f"{task_id}/{i}": (task_id, random_attempt(random))
        for task_id in tasks
        for i in range(ATTEMPTS_EACH)
    }
    found = score(
        json.dumps({"tasks": tasks}),
        [row for name, (_, attempt) in attempts.items() for row in rows(name, attempt)],
        [
            trajectory(name, task_id=task_id, final_answer=attempt.answer)
            for name, (task_id, attempt) in attempts.items()
        ],
        [row for name, (_, attempt) in attempts.items() for row in verdict_rows(name, attempt)],
    )
    wanted_scores, wanted_rows = {}, {}
    for name, (task_id, attempt) in attempts.items():
        scores, sub_goals = plain.sub_goal_scores(tasks[task_id], attempt)
        for metric, wanted in {**scores, **plain_plans.plan_scores(attempt)}.items():
            wanted_scores[name, metric] = wanted
        for sub_goal, row in sub_goals.items():
            wanted_rows[name, sub_goal] = row

    found_scores = {key: (s.status, *s[1:3]) for key, s in found.scores.items()}
    assert differences(found_scores, wanted_scores) == {}
    found_rows = {
        key: {column: row[column] for column in next(iter(wanted_rows.values()), {})}
        for key, row in found.sub_goals.items()
    }
    assert differences(found_rows, wanted_rows) == {}
    for (name, metric), s in found.scores.items():
        if s.numerator is not None and s.denominator is not None:
            assert s.value == s.numerator / s.denominator, (name, metric)


def differences(found: dict[Any, Any], wanted: dict[Any, Any]) -> dict[Any, Any]:
    """Return up to three keys at which two mappings differ, with both values."""
    keys = [key for key in {**found, **wanted} if found.get(key) != wanted.get(key)]
    return {key: (found.get(key), wanted.get(key)) for key in keys[:3]}
