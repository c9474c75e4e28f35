"""What people and judges say of a plan counts as its definition says, and gives a T-Score."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.scoring.build import (
    Row,
    Score,
    call,
    connection,
    prepared,
    score_rows,
    specification,
    trajectory,
)

from . import plain
from .test_planning import FILES, FIVE_STEPS, TOOLS, plan, random_plan, random_task, thought

PROSE = {**plan(None), "content": "I shall read all files first, and write the report last."}
ALL = dict(zip(plain.QUESTIONS, (1.0, 0.5, 1.0, 0.0), strict=True))
SOURCES = {
    "verifier": ("human:ann", "checker", "human"),
    "evaluation": ("gen_ai.evaluation.result",),
    "judge": ("judge:plans", "judge"),
}


def verdict(question: str, value: float | str, source: str = "human:ann", run: str = "t1") -> Row:
    """Return one verdict on the plan of an attempt: a share, or a word."""
    said = {"label": value} if isinstance(value, str) else {"value": value}
    return {
        "trajectory_id": run,
        "subject": "planning",
        "question": question,
        "source": source,
        **said,
    }


def verdicts(said: Mapping[str, float | str], source: str = "human:ann") -> list[Row]:
    """Return the verdicts of one source on several questions."""
    return [verdict(question, value, source) for question, value in said.items()]


def scored(
    tasks: str, steps: Sequence[Row], given: Sequence[Row], attempts: Mapping[str, str]
) -> dict[str, dict[str, Score]]:
    """Return the scores of each attempt at a task, with verdicts on its plan."""
    runs = [trajectory(name, task_id=task_id) for name, task_id in attempts.items()]
    spec = specification(tasks)
    found: dict[str, dict[str, Score]] = {name: {} for name in attempts}
    with connection(steps, runs, given) as con:
        prepared(con, spec, "plan_graph", "planning")
        for name, metric, score in score_rows(con, "planning_scores"):
            found[name][metric] = score
    return found


def of(task: str, steps: Sequence[Row], *given: Row) -> dict[str, Score]:
    """Return the scores of attempt t1, which makes a call after these steps."""
    rows = [*steps, call("t1", 50, "list_files")]
    return scored(FILES, rows, given, {"t1": task})["t1"]


JUDGED: list[tuple[str, list[Row]]] = [
    ("files", [PROSE]),
    ("files", [plan({"text": "I read, then I write."})]),
    ("files", [thought("First I read all files, and then I write the report.")]),
    ("files", []),
    ("files", [plan(None)]),
    ("unknown", [PROSE]),
    ("no such task", [thought("First I read, then I write.")]),
]
"""A task, and what stands before the first call: plans in words, and what may be one."""


@pytest.mark.parametrize(("source", "who"), [("human:ann", "verifier"), ("judge:p", "judge")])
def test_four_answers_are_a_score(source: str, who: str) -> None:
    """Whatever form the plan has: declared in words, thought, or not captured."""
    attempts = {f"t{i}": task for i, (task, _) in enumerate(JUDGED)}
    steps = [
        {**row, "trajectory_id": name}
        for name, (_, steps) in zip(attempts, JUDGED, strict=True)
        for row in (*steps, call(name, 50, "list_files"))
    ]
    given = [{**row, "trajectory_id": name} for name in attempts for row in verdicts(ALL, source)]

    for found in scored(FILES, steps, given, attempts).values():
        assert found["pq"][:3] == (6.25, 6.25, 1.0)
        assert {found[name].source for name in ("pq", "pq_strict", "pq_partial")} == {who}
        assert found["pq_strict"].value == 5.0
        assert found["pq_branch_coverage"][:3] == (0.5, 0.5, 1.0)
        assert found["pq"].label is None


def test_a_question_without_an_answer_is_named() -> None:
    """There is no score of a part of the plan, but what is known stands in the partial one."""
    said: dict[str, float | str] = {"dependency_ordering": "yes", "reversibility": 0.5}
    found = of("files", [PROSE], *verdicts(said))

    reason = "not_judged: branch_coverage, not_judged: scope_control"
    assert (found["pq"].status, found["pq"].reason) == ("error", reason)
    assert found["pq_scope_control"].reason == "not_judged: scope_control"
    assert found["pq_partial"].value == 7.5


def test_a_declared_plan_in_words_that_nobody_judged_is_no_missing_plan() -> None:
    """It cannot be read, which is no 0; a judge who cannot tell changes nothing."""
    found = of("files", [PROSE])
    unsure = of("files", [PROSE], verdict("reversibility", "error", "judge:p"))

    assert (found["pq"].status, found["pq"].reason) == ("error", "plan_unreadable")
    assert found["pq_partial"].reason == "plan_unreadable"
    assert found["pq_reversibility"].reason == "plan_unreadable"
    assert unsure == found


def test_people_come_before_rules_and_rules_before_judges() -> None:
    """A judge fills what no rule can tell; a person may say otherwise than a rule."""
    text = [thought("1. list_files (write)\n2. read_csv")]
    judged = of("files", text, *verdicts(ALL, "judge:plans"))
    person = of("files", text, *verdicts(ALL, "judge:plans"), verdict("scope_control", 0.25))

    assert judged["pq_dependency_ordering"][:3] == (1.0, 1.0, 1.0)
    assert judged["pq_dependency_ordering"].source == "judge"
    assert judged["pq_branch_coverage"].source == "static"
    assert judged["pq"].source == "judge"
    assert person["pq_scope_control"][:3] == (0.25, 0.25, 1.0)
    assert person["pq_scope_control"].source == "verifier"
    assert person["pq"].source == "judge"
    assert of("files", [plan(FIVE_STEPS)], *verdicts(ALL, "judge:plans")) == of(
        "files", [plan(FIVE_STEPS)]
    )


def test_a_task_that_needs_no_plan_has_none_to_judge() -> None:
    """Only the task says that it has one step or two."""
    assert of("one", [], *verdicts(ALL))["pq"].label == "no_plan_needed"
    assert of("two", [PROSE], *verdicts(ALL))["pq"].reason == "two_steps"


def random_verdicts(
    random: Random, run: str
) -> tuple[list[Row], list[tuple[str, str, Fraction | None]]]:
    """Return verdicts on a plan as rows, and as the definition takes them."""
    rows, plainly = [], []
    for question in plain.QUESTIONS:
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            who = random.choice([*SOURCES])
            said = random.choice((0.0, 0.25, 0.5, 1.0, "yes", "no", "error"))
            rows.append(verdict(question, said, random.choice(SOURCES[who]), run))
            words = {"yes": Fraction(1), "no": Fraction(0), "error": None}
            share = words[said] if isinstance(said, str) else Fraction(said)
            plainly.append((question, who, share))
    return rows, plainly


@settings(max_examples=2, phases=[Phase.generate])
@given(st.integers(min_value=0))
def test_scores_are_those_of_the_definition(seed: int) -> None:
    """Plans, read or not, that people, evaluations and judges speak of, agree or not."""
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    tasks = {f"task-{i}": {**random_task(random), "optimal_steps": 3} for i in range(40)}
    plans = {f"{task_id}/{i}": random_plan(random) for task_id in tasks for i in range(4)}
    attempts = {name: name.split("/")[0] for name in plans}
    said = {name: random_verdicts(random, name) for name in plans}
    rows = [row for given, _ in said.values() for row in given]
    steps = [plan(each, 0, name) for name, each in plans.items()]

    found = scored(json.dumps({"tools": TOOLS, "tasks": tasks}), steps, rows, attempts)
    for name, task_id in attempts.items():
        task = tasks[task_id]
        rules = plain.scores(task, TOOLS, plans[name])
        wanted = plain.with_verdicts(rules, said[name][1])
        for metric, value in wanted.items():
            score = found[name][metric]
            if isinstance(value, str):
                assert score.status == value, (name, metric)
            else:
                assert score.value == pytest.approx(float(value), abs=1e-12), (name, metric)
