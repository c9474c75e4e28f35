"""Which questions a judge is asked: on each sub-goal, plan or run that it may decide."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from tracegrade_judges.judge_file.model import AsksAbout, Judge
from tracegrade_judges.questions.runs import JudgedRun, JudgedTurn, turns_of
from tracegrade_judges.verdict import PLANS, JudgedStep
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.model import Task


class JudgeQuestion(NamedTuple):
    """What one verdict is asked for."""

    judge: str
    run: JudgedRun
    sub_goal: str | None
    """None: it is about the run's answers, or its plan."""
    criterion: str
    """Of a sub-goal or a plan; '' of answers."""
    deps: tuple[str, ...] = ()
    needed_by: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """The right answers of the conversation, turn by turn."""
    documents: Mapping[str, str] = {}
    """Texts that the judge may read, by name."""
    plan_question: str | None = None
    """Which question about the run's plan; None: it is about something else."""

    @property
    def subject(self) -> AsksAbout:
        """What the verdict is on, as the lake names it."""
        if self.plan_question is not None:
            return "planning"
        return "success" if self.sub_goal is None else "sub_goal"


PLAN_CRITERIA: Final[Mapping[str, str]] = {
    "dependency_ordering": "The plan is in an order in which it can be carried out: whatever a "
    "step needs is given by the request or by an earlier step of the plan.",
    "branch_coverage": "For each step of the plan that can fail, such as a call, a search or a "
    "write, the plan says what to do if it fails.",
    "scope_control": "Each step of the plan serves what was asked for; none goes beyond it.",
    "reversibility": "For each step of the plan that changes or destroys something, the plan says "
    "how to undo it. A plan without such a step meets this.",
}
"""What a judge of plans decides: the four questions of docs/metrics.md, section 5.2."""


def questions_of(
    judge: tuple[str, Judge],
    runs: Iterable[JudgedRun],
    specification: Specification,
    documents: Mapping[str, str],
) -> list[JudgeQuestion]:
    """Return what a judge is asked about these runs, run by run, in the order of the task file."""
    name, asked = judge
    return [
        question
        for run in runs
        if (task := specification.tasks.get(run.task_id)) is not None
        for question in _questions(name, asked, run, task, documents)
        if asked.is_asked(run.task_id, question.sub_goal)
    ]


def _questions(
    name: str, judge: Judge, run: JudgedRun, task: Task, documents: Mapping[str, str]
) -> Iterator[JudgeQuestion]:
    readable = {each: documents[each] for each in task.documents if each in documents}
    if judge.asks == "planning":
        for asked in run.plan_questions:
            yield JudgeQuestion(
                name, run, None, PLAN_CRITERIA[asked], documents=readable, plan_question=asked
            )
        return
    if judge.asks == "success":
        if task.reference is not None:
            given = [task.reference] if isinstance(task.reference, str) else task.reference
            yield JudgeQuestion(name, run, None, "", references=tuple(given))
        return
    for sub_goal, node in task.sub_goals.items():
        if node.success is not None and node.success.judge is not None:
            yield JudgeQuestion(
                name,
                run,
                sub_goal,
                node.success.judge,
                tuple(node.deps),
                tuple(n for n, other in task.sub_goals.items() if sub_goal in other.deps),
                documents=readable,
            )


def readable_steps(question: JudgeQuestion, steps: Sequence[JudgedStep]) -> Sequence[JudgedStep]:
    """Return the steps that a judge may read: of a plan what stands before the first call.

    That is what the agent declared, thought and was asked. As for rules, what it said to the user
    is no plan (docs/metrics.md, section 5.1).
    """
    if question.subject != "planning":
        return steps
    opening = takewhile(lambda step: step.kind != "tool_call", steps)
    return [
        step
        for step in opening
        if step.kind in PLANS or (step.kind, step.role) == ("message", "user")
    ]


def lacking(question: JudgeQuestion, steps: Sequence[JudgedStep]) -> str | None:
    """Return the code for what a judge would need and cannot read; None if it is all there.

    Of a sub-goal these are the steps whose spans name it, or any step if none does; of answers
    every answer and its reference; of a plan one that was declared or thought.
    """
    if question.subject == "planning":
        planned = any(step.is_whole and step.texts for step in steps if step.kind in PLANS)
        return None if planned else "content_missing"
    if question.sub_goal is None:
        return _lacking_answer(question, turns_of(question.run, steps))
    named = [step for step in steps if step.sub_goal == question.sub_goal]
    if named:
        return None if all(step.is_whole for step in named) else "content_missing"
    return None if any(step.is_whole and step.texts for step in steps) else "content_missing"


def _lacking_answer(question: JudgeQuestion, turns: Sequence[JudgedTurn]) -> str | None:
    if any(turn.answered is None for turn in turns):
        return "content_missing"
    if any(turn.number >= len(question.references) for turn in turns):
        return "no_reference"
    return None
