"""Asks a judge one question, as often as it votes, and makes a verdict of the votes."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel

from tracegrade_judges.ask import prompts
from tracegrade_judges.ask.reader_tools import RunReader
from tracegrade_judges.ask.vote import VoteRequest, VoteResult, vote
from tracegrade_judges.calls.exchange import Conversation, Exchange
from tracegrade_judges.calls.formats import FORMATS
from tracegrade_judges.judge_file.load import ModelEndpoint
from tracegrade_judges.judge_file.model import TOOLS, Judge, JudgeModel
from tracegrade_judges.questions.build import JudgeQuestion, missing_inputs, readable_steps
from tracegrade_judges.questions.runs import JudgedTurn, turns_of
from tracegrade_judges.untrusted_text import new_nonce, quoted
from tracegrade_judges.verdict import AnswerVerdict, JudgedStep, SubGoalVerdict
from tracegrade_judges.verdict_checks import (
    fault_of_answer,
    fault_of_plan,
    fault_of_served,
    fault_of_sub_goal,
)

YES: Final = "yes"
NO: Final = "no"
ERROR: Final = "error"

V = TypeVar("V", bound=BaseModel)


class JudgeVerdict(NamedTuple):
    """A judge's reply to one question."""

    question: JudgeQuestion
    label: str
    """yes | no | error."""
    value: float | None
    """1 or 0 of a sub-goal, the lowest score of answers; NULL if it is an error."""
    evidence: Mapping[str, Any]
    """Steps, quote and reason of the vote that decides; tokens, cost and calls of all."""


class JudgeSession(NamedTuple):
    """The judge to ask, and the connection to its model."""

    judge: Judge
    endpoint: ModelEndpoint
    exchange: Exchange


async def ask(
    session: JudgeSession, question: JudgeQuestion, steps: Sequence[JudgedStep]
) -> JudgeVerdict:
    """Return a verdict; if the question cannot be judged, its label is `error`, never a guess.

    Raises:
        BudgetSpent: The rest of the budget does not suffice.
        EndpointRefuses: No request will be answered.
        NotCached: An answer is not in the lake, and requests are not allowed.
        TooManyFailures: The endpoint failed again and again.
    """
    steps = readable_steps(question, steps)
    reason = missing_inputs(question, steps)
    if reason:
        return JudgeVerdict(question, ERROR, None, {"reason_code": reason})
    conversations: list[Conversation] = []
    votes = []
    vote_on = _answers if question.subject == "success" else _criterion
    for number in range(session.judge.votes):
        first = session.judge.model.seed
        seed = None if first is None else first + number
        votes.append(await vote_on(_Poll(session, question, seed, conversations), steps))
    return _counted(question, votes, _spending(session, conversations))


class _Vote(NamedTuple):
    label: str
    value: float | None
    evidence: Mapping[str, Any]


class _Poll(NamedTuple):
    """The number of times a question is asked, each time in a conversation of its own."""

    session: JudgeSession
    question: JudgeQuestion
    seed: int | None
    conversations: list[Conversation]
    """So far."""

    async def vote(self, request_of: Callable[[str], VoteRequest[V]]) -> VoteResult[V]:
        """Hold one vote, on the ballot for the nonce of its conversation."""
        session = self.session
        conversation = _conversation(session, self.question)
        self.conversations.append(conversation)
        return await vote(
            session.judge,
            request_of(conversation.nonce),
            conversation,
            session.exchange,
            session.endpoint,
            self.seed,
        )


async def _criterion(poll: _Poll, steps: Sequence[JudgedStep]) -> _Vote:
    question, judge = poll.question, poll.session.judge
    allowed = judge.tools if judge.tools is not None else TOOLS
    cites_action = judge.evidence == "actions"

    def request(nonce: str) -> VoteRequest[SubGoalVerdict]:
        reader = RunReader(steps, question.documents, nonce)
        return VoteRequest(
            SubGoalVerdict,
            _instructions(question, nonce, cites_action=cites_action),
            _message(question, reader, nonce),
            lambda verdict: _fault(question, verdict, steps, cites_action=cites_action),
            [tool for name, tool in reader.tools().items() if name in allowed],
        )

    return _vote_on_criterion(await poll.vote(request))


def _fault(
    question: JudgeQuestion,
    verdict: SubGoalVerdict,
    steps: Sequence[JudgedStep],
    *,
    cites_action: bool,
) -> str | None:
    if question.subject == "planning":
        return fault_of_plan(verdict, steps)
    if question.step_index is not None:
        return fault_of_served(verdict, steps, question.step_index)
    return fault_of_sub_goal(verdict, steps, cites_action=cites_action)


def _vote_on_criterion(result: VoteResult[SubGoalVerdict]) -> _Vote:
    verdict = result.verdict
    if verdict is None:
        return _Vote(ERROR, None, {"reason_code": result.reason})
    evidence = {
        "evidence_steps": verdict.evidence_steps, "quote": verdict.quote, "reason": verdict.reason,
    }  # fmt: skip
    if verdict.met == "cannot_tell":
        return _Vote(ERROR, None, {"reason_code": "cannot_tell", **evidence})
    return _Vote(verdict.met, float(verdict.met == YES), evidence)


async def _answers(poll: _Poll, steps: Sequence[JudgedStep]) -> _Vote:
    """Judge every turn's answer: the lowest score is the run's."""
    turns = []
    for turn in turns_of(poll.question.run, steps):
        result = await poll.vote(partial(_answer_request, turn, poll.question))
        if result.verdict is None:
            return _Vote(ERROR, None, {"reason_code": result.reason, "turn": turn.number})
        steps_cited = [] if turn.step_index is None else [turn.step_index]
        turns.append(
            {"turn": turn.number, "evidence_steps": steps_cited, **result.verdict.model_dump()}
        )
    score = min(turn["score"] for turn in turns)
    label = YES if round(score, 9) >= poll.session.judge.least_score else NO
    return _Vote(label, score, {"turns": turns})


def _answer_request(
    turn: JudgedTurn, question: JudgeQuestion, nonce: str
) -> VoteRequest[AnswerVerdict]:
    return VoteRequest(
        AnswerVerdict,
        prompts.ANSWER.format(nonce=nonce),
        _answer_message(turn, question, nonce),
        partial(fault_of_answer, answer=turn.answered or ""),
    )


def _counted(
    question: JudgeQuestion, votes: Sequence[_Vote], spending: Mapping[str, Any]
) -> JudgeVerdict:
    """Return the majority of the votes; if one vote has no verdict, the result has none."""
    labels = Counter(each.label for each in votes)
    failed = next((each for each in votes if each.label == ERROR), None)
    label = ERROR if failed else labels.most_common(1)[0][0]
    deciding = failed or next(each for each in votes if each.label == label)
    values = [each.value for each in votes if each.value is not None]
    value = None if failed else _value(question, values, deciding)
    counted = {"votes": dict(sorted(labels.items()))} if len(votes) > 1 else {}
    return JudgeVerdict(question, label, value, {**deciding.evidence, **counted, **spending})


def _value(question: JudgeQuestion, values: Sequence[float], deciding: _Vote) -> float | None:
    return median(values) if question.subject == "success" else deciding.value


def _spending(session: JudgeSession, conversations: Sequence[Conversation]) -> Mapping[str, Any]:
    """Return what the votes took, as the lake keeps it of each call."""
    calls = [call for conversation in conversations for call in conversation.calls]
    costs = [call.cost_usd for call in calls]
    return {
        "model": session.endpoint.model,
        "prompt_version": prompts.PROMPT_VERSION,
        "requests": len(calls),
        "input_tokens": sum(call.input_tokens or 0 for call in calls),
        "output_tokens": sum(call.output_tokens or 0 for call in calls),
        "cost_usd": sum(c for c in costs if c is not None) if None not in costs else None,
    }


def _conversation(session: JudgeSession, question: JudgeQuestion) -> Conversation:
    return Conversation(
        judge=question.judge,
        trajectory_id=question.run.trajectory_id,
        sub_goal=question.sub_goal,
        step_index=question.step_index,
        question=question.plan_question,
        nonce=new_nonce(),
        prompt_version=prompts.PROMPT_VERSION,
        model=session.endpoint.model,
        wire=FORMATS[session.endpoint.provider],
        max_output_tokens=session.judge.model.max_output_tokens,
        timeout_secs=session.judge.model.timeout_secs,
        retries=session.judge.limits.retries,
        settings=_class_settings(session.judge.model),
    )


def _class_settings(model: JudgeModel) -> str:
    """Return the class and its options as the judge file has them; empty without a class."""
    return "" if model.class_ is None else json.dumps([model.class_, model.options])


def _instructions(question: JudgeQuestion, nonce: str, *, cites_action: bool) -> str:
    context = ""
    if question.deps:
        context += f" It depends on: {', '.join(question.deps)}."
    if question.needed_by:
        context += f" These depend on it: {', '.join(question.needed_by)}."
    if question.documents:
        context += f" Documents to read: {', '.join(question.documents)}."
    if question.subject == "planning":
        return prompts.PLANNING.format(
            criterion=question.criterion, task=question.run.task_id, place=context, nonce=nonce
        )
    if question.subject == "served":
        candidates = (f"- {name}: {text}" for name, text in question.candidates.items())
        return prompts.SERVED.format(
            criterion=question.criterion,
            task=question.run.task_id,
            candidates="\n".join(candidates),
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


def _message(question: JudgeQuestion, reader: RunReader, nonce: str) -> str:
    user_input = question.run.user_input
    request = f"What the user asked:\n{quoted(user_input, nonce)}\n" if user_input else ""
    return f"{request}The steps of the run:\n{reader.list_steps()}"


def _answer_message(turn: JudgedTurn, question: JudgeQuestion, nonce: str) -> str:
    parts = {
        "What the user asked": turn.question,
        "The right answer": question.references[turn.number],
        "The agent's answer": turn.answered,
    }
    return "\n".join(
        f"{what}:\n{quoted(text, nonce)}" for what, text in parts.items() if text is not None
    )
