"""What people say of success and of steps, against the words of docs/metrics.md."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import strategies as st
from tests.drawn import drawn
from tests.scoring.build import (
    Row,
    all_scores,
    connection,
    scored,
    scores,
    specification,
    trajectory,
)

from .test_success import ANSWER, success, verdict

SAID = st.tuples(
    st.lists(st.sampled_from([True, False, None]), max_size=5),
    st.sampled_from([True, False, None]),
)
"""What people say of an attempt, and what a verifier says."""


def people(said: Sequence[bool | None], **columns: str) -> list[Row]:
    """Return a verdict of one person each."""
    values = {True: 1.0, False: 0.0, None: None}
    labels = {True: "good", False: "bad", None: "unsure"}
    return [
        verdict(f"human:p{i}", value=values[each], label=labels[each], **columns)
        for i, each in enumerate(said)
    ]


def plain_success(
    said: Sequence[bool | None], verifier: bool | None
) -> tuple[float | None, str | None, str | None]:
    """Return value, source and label of success by docs/metrics.md, section 8.3."""
    votes = [each for each in said if each is not None]
    if votes:
        yes, no = votes.count(True), votes.count(False)
        label = "disputed" if yes and no else None
        return (None, None, label) if yes == no else (float(yes > no), "human", label)
    if verifier is not None:
        return float(verifier), "verifier", None
    return None, None, None


def test_success_is_what_most_people_say() -> None:
    """Before verifiers; who is unsure has no vote, and an even split leaves it unknown."""
    cases = {f"t{number}": case for number, case in enumerate(drawn(SAID))}
    said = [row for run, (each, _) in cases.items() for row in people(each, trajectory_id=run)]
    said += [
        verdict("pytest", value=float(each), trajectory_id=run)
        for run, (_, each) in cases.items()
        if each is not None
    ]
    con = connection((), [trajectory(run, task_id=run) for run in cases], said)
    found = all_scores(scored(con, specification("version: 1"), until="step_efficiency"))

    for run, case in cases.items():
        score = found[run]["success"]
        assert (score.value, score.source, score.label) == plain_success(*case), case


def test_a_person_decides_where_a_verifier_is_in_error() -> None:
    """The error is no more what the attempt is known by."""
    failed = verdict("pytest", label="error")
    assert success(None, (), [failed]).reason == "verifier_failed"
    assert success(None, (), [failed, *people([True])]).value == 1


STEPS = [
    {"trajectory_id": "t1", "step_index": i, "kind": kind, "span_id": span, "tool_name": "pay"}
    for i, (kind, span) in enumerate([("thought", "a"), ("tool_call", "a"), ("tool_call", "b")])
]


def step(source: str = "human:ann", **columns: object) -> Row:
    """Return a verdict that a step failed."""
    return {"trajectory_id": "t1", "subject": "step", "value": 0.0, "source": source, **columns}


LABELED: list[tuple[list[Row], tuple[str, str | None, str, int | None]]] = [
    ([step(span_id="b", tag="looped")], ("person", "looped", "ann says: looped", 2)),
    ([step(span_id="a", step_index=0)], ("person", None, "ann says: this step failed", 0)),
    ([step(span_id="a", step_index=7)], ("person", None, "ann says: this step failed", 1)),
    ([step(step_index=2)], ("person", None, "ann says: this step failed", 2)),
    ([step(span_id="c", evidence="no")], ("person", None, "ann says: no", None)),
    (
        [step("lint", span_id="b", evidence="bad")],
        ("check", "lint", "check failed: lint: bad", 2),
    ),
    (
        [
            verdict("human:ann", value=0.0, tag="slow"),
            step(span_id="b", tag="slow", evidence="x"),
        ],
        ("person", "slow", "ann says: x", 2),
    ),
    (
        [verdict("human:ann", value=0.0, tag="a"), step("human:bob", span_id="b", tag="b")],
        ("person", "b", "bob says: b", 2),
    ),
    (
        [step(span_id="b", tag="\x1b[2J<b>\n", evidence=None)],
        ("person", "[2J<b>", "ann says: [2J<b>", 2),
    ),
]
"""Labels of a failed run, and its first reason."""


def of(run: str, row: Row) -> Row:
    """Return a row of the run `t1` as one of another run."""
    return {**row, "trajectory_id": run}


@pytest.fixture(scope="module")
def first_reasons() -> dict[str, tuple[Any, ...]]:
    """The first reason of each run, which are the cases of LABELED."""
    runs = {f"t{number}": labels for number, (labels, _) in enumerate(LABELED)}
    con = connection(
        [of(run, each) for run in runs for each in STEPS],
        [trajectory(run, outcome="failure") for run in runs],
        [of(run, each) for run, labels in runs.items() for each in labels],
    )
    reasons = (
        "SELECT trajectory_id, kind, object, sentence, step_index FROM reason_rows "
        "WHERE rank_in_run = 1"
    )
    with scored(con, specification("version: 1"), until="run_reasons") as con:
        return {run: tuple(first) for run, *first in con.sql(reasons).fetchall()}


@pytest.mark.parametrize(
    ("case", "first"),
    [(number, first) for number, (_, first) in enumerate(LABELED)],
    ids=[f"labels{number}-first{number}" for number in range(len(LABELED))],
)
def test_a_labeled_step_is_the_first_reason(
    first_reasons: dict[str, tuple[Any, ...]], case: int, first: tuple[Any, ...]
) -> None:
    """It is found by its span, wherever that stands now, and says what the person says."""
    assert first_reasons[f"t{case}"] == first


def test_a_labeled_step_moves_no_score() -> None:
    """It is a reason, no decision: scores are what they are without it."""
    spec = specification("tasks: {t: {expected: [{decision: d, tool: pay}]}}")
    run = trajectory("t1", task_id="t", outcome="failure")
    label = step(span_id="b", tag="wrong tool")
    with_label = scores(scored(connection([*STEPS, ANSWER], [run], [label]), spec))
    without = scores(scored(connection([*STEPS, ANSWER], [run]), spec))

    assert with_label == without
