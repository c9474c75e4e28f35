"""A verdict stands only on what was read."""

import pytest

from tracegrade_judges.verdict import AnswerVerdict, JudgedStep, SubGoalVerdict
from tracegrade_judges.verdict_checks import fault_of_answer, fault_of_sub_goal

STEPS = [
    JudgedStep(0, "thought", "assistant", None, None, {"content": "I have\n  paid."}),
    JudgedStep(1, "tool_call", "assistant", "pay", "ok", {"result": '{"state": "paid"}'}),
    JudgedStep(2, "answer", "assistant", None, None, {"content": "It is paid."}),
]


def fault(met: str, steps: list[int], quote: str, *, cites_action: bool = True) -> str | None:
    """Return what is wrong with a verdict on the steps."""
    said = {"met": met, "evidence_steps": steps, "quote": quote, "reason": "r"}
    verdict = SubGoalVerdict.model_validate(said)
    return fault_of_sub_goal(verdict, STEPS, cites_action=cites_action)


@pytest.mark.parametrize(
    ("met", "steps", "quote", "begins"),
    [
        ("yes", [1], '"state": "paid"', None),
        ("yes", [1], '\\"state\\": \\"paid\\"', None),
        ("yes", [1], '{"state":"paid"}', None),
        ("yes", [0, 1], "I have paid.", None),
        ("no", [0], "I have paid.", None),
        ("cannot_tell", [], "", None),
        ("yes", [0], "I have paid.", "a yes has to cite a tool_call or an observation"),
        ("yes", [2], "It is paid.", "a yes has to cite a tool_call or an observation"),
        ("yes", [9], '"paid"', "evidence_steps names steps that do not exist: [9]"),
        ("yes", [1, -1], '"paid"', "evidence_steps names steps that do not exist: [-1]"),
        ("no", [], "", "evidence_steps is empty"),
        ("yes", [1], "It is paid.", "quote is in none of the cited steps"),
        ("yes", [1], " ", "quote is in none of the cited steps"),
    ],
)
def test_verdict_cites_what_stands_there(
    met: str, steps: list[int], quote: str, begins: str | None
) -> None:
    """Steps exist, the quote stands in one of them, and a yes shows what was done."""
    found = fault(met, steps, quote)

    assert found is None if begins is None else (found or "").startswith(begins)


def test_what_is_said_can_be_evidence_of_how_it_is_said() -> None:
    """A judge of words may cite an answer."""
    assert fault("yes", [2], "It is paid.", cites_action=False) is None


def test_verdict_on_an_answer_quotes_it() -> None:
    """A quote from elsewhere is refused; of an empty answer there is none."""
    said = {"score": 0.5, "quote": "paid", "reason": "r"}
    verdict = AnswerVerdict.model_validate(said)

    assert fault_of_answer(verdict, "It is paid.") is None
    assert fault_of_answer(verdict, "It is not.") is not None
    assert fault_of_answer(verdict, " ") is None
