"""Writes the instructions of a judge, and its messages with the quoted texts of a run."""

from tracegrade_judges.ask import prompts
from tracegrade_judges.ask.reader_tools import RunReader
from tracegrade_judges.ask.rubric_prompts import rubric_instructions
from tracegrade_judges.judge_file.model import Rubric
from tracegrade_judges.judge_file.rubric_places import ANSWER_PARTS
from tracegrade_judges.questions.build import JudgeQuestion
from tracegrade_judges.questions.runs import JudgedTurn
from tracegrade_judges.untrusted_text import quoted


def instructions_of(
    question: JudgeQuestion, rubric: Rubric | None, nonce: str, *, cites_action: bool
) -> str:
    """Return the instructions about a sub-goal, a plan or a call."""
    context = _context(question)
    if rubric is not None:
        values = {
            "criterion": question.criterion,
            "sub_goal": question.sub_goal or "",
            "task": question.run.task_id,
            "candidates": _candidates(question),
        }
        return rubric_instructions(
            rubric, question.subject, values, nonce, context=context, cites_action=cites_action
        )
    if question.subject == "planning":
        return prompts.PLANNING.format(
            criterion=question.criterion, task=question.run.task_id, place=context, nonce=nonce
        )
    if question.subject == "served":
        return prompts.SERVED.format(
            criterion=question.criterion,
            task=question.run.task_id,
            candidates=_candidates(question),
            place=context and f"\n{context.strip()}",
            nonce=nonce,
        )
    return prompts.SUB_GOAL.format(
        criterion=question.criterion,
        sub_goal=question.sub_goal,
        task=question.run.task_id,
        place=context,
        nonce=nonce,
        citing=prompts.ACTIONS if cites_action else prompts.ANY_STEP,
    )


def answer_instructions(question: JudgeQuestion, rubric: Rubric | None, nonce: str) -> str:
    """Return the instructions about an answer."""
    if rubric is None:
        return prompts.ANSWER.format(nonce=nonce)
    return rubric_instructions(rubric, "success", {"task": question.run.task_id}, nonce)


def message_of(question: JudgeQuestion, reader: RunReader, nonce: str) -> str:
    """Return what a judge of sub-goals, plans or calls is shown first."""
    user_input = question.run.user_input
    request = f"What the user asked:\n{quoted(user_input, nonce)}\n" if user_input else ""
    return f"{request}The steps of the run:\n{reader.list_steps()}"


def answer_message(turn: JudgedTurn, question: JudgeQuestion, nonce: str) -> str:
    """Return what a judge of answers is shown of a turn."""
    parts = {
        "question": turn.question,
        "reference": question.references[turn.number],
        "answer": turn.answered,
    }
    return "\n".join(
        f"{ANSWER_PARTS[name]}:\n{quoted(text, nonce)}"
        for name, text in parts.items()
        if text is not None
    )


def _context(question: JudgeQuestion) -> str:
    context = ""
    if question.deps:
        context += f" It depends on: {', '.join(question.deps)}."
    if question.needed_by:
        context += f" These depend on it: {', '.join(question.needed_by)}."
    if question.documents:
        context += f" Documents to read: {', '.join(question.documents)}."
    return context


def _candidates(question: JudgeQuestion) -> str:
    return "\n".join(f"- {name}: {text}" for name, text in question.candidates.items())
