"""Builds a judge's questions: one on each sub-goal, plan, call or run that it may decide."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from tracegrade_judges.judge_file.model import AsksAbout, Judge
from tracegrade_judges.questions.runs import JudgedRun, JudgedTurn, turns_of
from tracegrade_judges.verdict import PLANS, JudgedStep
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.model import Task


class JudgeQuestion(NamedTuple):
    """The question of one verdict."""

    judge: str
    run: JudgedRun
    sub_goal: str | None
    """None: it is about the run's answers, or its plan."""
    criterion: str
    """The criterion of a sub-goal, a plan or a call; '' for answers."""
    deps: tuple[str, ...] = ()
    needed_by: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """The right answers of the conversation, turn by turn."""
    documents: Mapping[str, str] = {}
    """Texts that the judge may read, by name."""
    plan_question: str | None = None
    """Which question about the run's plan; None: it is about something else."""
    step_index: int | None = None
    """The call that may serve the sub-goal; None: the question is not about a call."""
    candidates: Mapping[str, str] = {}
    """The sub-goals that the call may serve, with their definitions in the task file."""

    @property
    def subject(self) -> AsksAbout:
        """The subject of the verdict, as the lake names it."""
        if self.plan_question is not None:
            return "planning"
        if self.step_index is not None:
            return "served"
        return "success" if self.sub_goal is None else "sub_goal"


PLAN_CRITERIA: Final[Mapping[str, str]] = {
    "dependency_ordering": "The plan is in an order in which it can be carried out: the "
    "request or an earlier step of the plan gives everything that a step needs.",
    "branch_coverage": "For each step of the plan that can fail, such as a call, a search or a "
    "write, the plan says what to do if it fails.",
    "scope_control": "Each step of the plan serves what was asked for; none goes beyond it.",
    "reversibility": "For each step of the plan that changes or destroys something, the plan says "
    "how to undo it. A plan without such a step meets this.",
}
"""The four questions that a judge of plans decides: docs/metrics.md, section 5.2."""


SERVED_CRITERION: Final = (
    "The call of step {step_index} was made to get the sub-goal '{sub_goal}' done, rather than "
    "another one that it may serve."
)
"""The question that a judge of calls decides for each sub-goal that rules give the call to."""


def questions_of(
    judge: tuple[str, Judge],
    runs: Iterable[JudgedRun],
    specification: Specification,
    documents: Mapping[str, str],
) -> list[JudgeQuestion]:
    """Return a judge's questions about these runs, run by run, in the order of the task file."""
    name, definition = judge
    return [
        question
        for run in runs
        if (task := specification.tasks.get(run.task_id)) is not None
        for question in _questions(name, definition, run, task, documents)
        if definition.covers(run.task_id, question.sub_goal)
    ]


def _questions(
    name: str, judge: Judge, run: JudgedRun, task: Task, documents: Mapping[str, str]
) -> Iterator[JudgeQuestion]:
    readable = {each: documents[each] for each in task.documents if each in documents}
    if judge.subject == "planning":
        for plan_question in run.plan_questions:
            yield JudgeQuestion(
                name,
                run,
                None,
                PLAN_CRITERIA[plan_question],
                documents=readable,
                plan_question=plan_question,
            )
        return
    if judge.subject == "served":
        yield from _on_calls(name, run, task, readable)
        return
    if judge.subject == "success":
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


def _on_calls(
    name: str, run: JudgedRun, task: Task, documents: Mapping[str, str]
) -> Iterator[JudgeQuestion]:
    """Yield a question for each candidate of a call, about the run of the agent that made it."""
    for call in run.calls:
        of_root = call.trajectory_id == run.trajectory_id
        made_by = run if of_root else run._replace(
            trajectory_id=call.trajectory_id, user_input=None, final_answer=None
        )  # fmt: skip
        candidates = {each: _sub_goal_json(task, each) for each in call.candidates}
        for sub_goal in call.candidates:
            yield JudgeQuestion(
                name,
                made_by,
                sub_goal,
                SERVED_CRITERION.format(step_index=call.step_index, sub_goal=sub_goal),
                documents=documents,
                step_index=call.step_index,
                candidates=candidates,
            )


def _sub_goal_json(task: Task, sub_goal: str) -> str:
    """Return the task file's definition of a sub-goal, as one line of JSON; {} if it has none."""
    node = task.sub_goals.get(sub_goal)
    fields = node.model_dump(mode="json", exclude_defaults=True) if node else {}
    return json.dumps(fields, ensure_ascii=False)


def readable_steps(question: JudgeQuestion, steps: Sequence[JudgedStep]) -> Sequence[JudgedStep]:
    """Return the steps that a judge may read; for a plan, only those before the first call.

    These are the agent's declarations and thoughts, and the requests to it. As for rules, its
    messages to the user are not a plan (docs/metrics.md, section 5.1).
    """
    if question.subject != "planning":
        return steps
    opening = takewhile(lambda step: step.kind != "tool_call", steps)
    return [
        step
        for step in opening
        if step.kind in PLANS or (step.kind, step.role) == ("message", "user")
    ]


def missing_inputs(question: JudgeQuestion, steps: Sequence[JudgedStep]) -> str | None:
    """Return the code for an input that a judge needs and cannot read; None if all are readable.

    A sub-goal needs the steps whose spans name it, or any step if none does. Answers need every
    answer and its reference. A plan needs one that was declared or thought. A call needs the call.
    """
    if question.step_index is not None:
        call = next((step for step in steps if step.number == question.step_index), None)
        return None if call is not None and call.is_whole else "content_missing"
    if question.subject == "planning":
        planned = any(step.is_whole and step.texts for step in steps if step.kind in PLANS)
        return None if planned else "content_missing"
    if question.sub_goal is None:
        return _missing_of_answer(question, turns_of(question.run, steps))
    named = [step for step in steps if step.sub_goal == question.sub_goal]
    if named:
        return None if all(step.is_whole for step in named) else "content_missing"
    return None if any(step.is_whole and step.texts for step in steps) else "content_missing"


def _missing_of_answer(question: JudgeQuestion, turns: Sequence[JudgedTurn]) -> str | None:
    if any(turn.answered is None for turn in turns):
        return "content_missing"
    if any(turn.number >= len(question.references) for turn in turns):
        return "no_reference"
    return None
