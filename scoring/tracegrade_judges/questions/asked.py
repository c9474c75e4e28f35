"""Which questions a judge is asked: one for each sub-goal, or each run, that it may decide."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tracegrade_judges.judge_file.model import Judge
from tracegrade_judges.questions.runs import JudgedRun, JudgedTurn, turns_of
from tracegrade_judges.verdict import JudgedStep
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.model import Task


class JudgeQuestion(NamedTuple):
    """What one verdict is asked for."""

    judge: str
    run: JudgedRun
    sub_goal: str | None
    """None: it is about the run's answers."""
    criterion: str
    """Of a sub-goal; '' of answers."""
    deps: tuple[str, ...] = ()
    needed_by: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """The right answers of the conversation, turn by turn."""
    documents: Mapping[str, str] = {}
    """Texts that the judge may read, by name."""

    @property
    def subject(self) -> str:
        """What the verdict is on, as the lake names it."""
        return "success" if self.sub_goal is None else "sub_goal"


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


def lacking(question: JudgeQuestion, steps: Sequence[JudgedStep]) -> str | None:
    """Return the code for what a judge would need and cannot read; None if it is all there.

    Of a sub-goal these are the steps whose spans name it, or any step if none does; of answers
    every answer and its reference.
    """
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
