"""What people say of success and of steps, against the words of docs/metrics.md."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scoring.build import Row, connection, scored, scores, specification, trajectory

from .test_success import ANSWER, success, verdict

SAID = st.lists(st.sampled_from([True, False, None]), max_size=5)


def people(said: Sequence[bool | None]) -> list[Row]:
    """Return a verdict of one person each."""
    values = {True: 1.0, False: 0.0, None: None}
    labels = {True: "good", False: "bad", None: "unsure"}
    return [
        verdict(f"human:p{i}", value=values[each], label=labels[each])
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


@settings(max_examples=25, deadline=None)
@given(said=SAID, verifier=st.sampled_from([True, False, None]))
def test_success_is_what_most_people_say(
    said: Sequence[bool | None], verifier: bool | None
) -> None:
    """Before verifiers; who is unsure has no vote, and an even split leaves it unknown."""
    given_verdicts = people(said)
    if verifier is not None:
        given_verdicts.append(verdict("pytest", value=float(verifier)))
    score = success(None, (), given_verdicts)

    assert (score.value, score.source, score.label) == plain_success(said, verifier)


def test_a_person_decides_where_a_verifier_is_in_error() -> None:
    """The error is no more what the attempt is known by."""
    failed = verdict("pytest", label="error")
    assert success(None, (), [failed]).reason == "verifier_failed"
    assert success(None, (), [failed, *people([True])]).value == 1


REASONS = "SELECT kind, object, sentence, step_index FROM reason_rows ORDER BY rank_in_run"
STEPS = [
    {"trajectory_id": "t1", "step_index": i, "kind": kind, "span_id": span, "tool_name": "pay"}
    for i, (kind, span) in enumerate([("thought", "a"), ("tool_call", "a"), ("tool_call", "b")])
]


def step(source: str = "human:ann", **columns: object) -> Row:
    """Return a verdict that a step failed."""
    return {"trajectory_id": "t1", "subject": "step", "value": 0.0, "source": source, **columns}


@pytest.mark.parametrize(
    ("labels", "first"),
    [
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
    ],
)  # fmt: skip
def test_a_labeled_step_is_the_first_reason(
    labels: list[Row], first: tuple[str, str | None, str, int | None]
) -> None:
    """It is found by its span, wherever that stands now, and says what the person says."""
    run = trajectory("t1", outcome="failure")
    con = connection(STEPS, [run], labels)
    with scored(con, specification("version: 1"), until="run_reasons") as con:
        assert con.sql(REASONS).fetchall()[0] == first


def test_a_labeled_step_moves_no_score() -> None:
    """It is a reason, no decision: scores are what they are without it."""
    spec = specification("tasks: {t: {expected: [{decision: d, tool: pay}]}}")
    run = trajectory("t1", task_id="t", outcome="failure")
    label = step(span_id="b", tag="wrong tool")
    with_label = scores(scored(connection([*STEPS, ANSWER], [run], [label]), spec))
    without = scores(scored(connection([*STEPS, ANSWER], [run]), spec))

    assert with_label == without
