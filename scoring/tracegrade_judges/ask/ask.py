"""Asks a judge one question, as often as it votes, and makes a verdict of the votes."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel

from tracegrade_judges.ask import prompts
from tracegrade_judges.ask.instructions import (
    answer_instructions,
    answer_message,
    instructions_of,
    message_of,
)
from tracegrade_judges.ask.reader_tools import RunReader
from tracegrade_judges.ask.rubric_prompts import rubric_prompt_version
from tracegrade_judges.ask.vote import VoteRequest, VoteResult, vote
from tracegrade_judges.calls.exchange import Conversation, Exchange
from tracegrade_judges.calls.formats import FORMATS
from tracegrade_judges.judge_file.load import ModelEndpoint
from tracegrade_judges.judge_file.model import TOOLS, Judge, JudgeModel, Rubric
from tracegrade_judges.questions.build import JudgeQuestion, missing_inputs, readable_steps
from tracegrade_judges.questions.runs import JudgedTurn, turns_of
from tracegrade_judges.untrusted_text import new_nonce
from tracegrade_judges.verdict import (
    AnswerMetVerdict,
    AnswerVerdict,
    AnyAnswerVerdict,
    GradedAnswerVerdict,
    GradedVerdict,
    JudgedStep,
    SubGoalVerdict,
    score_of,
)
from tracegrade_judges.verdict_checks import (
    fault_of_answer,
    fault_of_plan,
    fault_of_served,
    fault_of_sub_goal,
)

YES: Final = "yes"
NO: Final = "no"
ERROR: Final = "error"
CANNOT_TELL: Final = "cannot_tell"

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

    name: str
    judge: Judge
    endpoint: ModelEndpoint
    exchange: Exchange
    rubric: Rubric | None = None
    """The user's own, which it judges by; None for tracegrade's."""

    @property
    def is_graded(self) -> bool:
        """Whether its model answers with a score."""
        if self.rubric is not None:
            return self.rubric.graded
        return self.judge.subject == "success"

    @property
    def prompt_version(self) -> str:
        """The version of its instructions."""
        return rubric_prompt_version(self.rubric) if self.rubric else prompts.PROMPT_VERSION


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

    rubric, least = poll.session.rubric, judge.least_score
    kind = GradedVerdict if rubric and rubric.graded else SubGoalVerdict

    def request(nonce: str) -> VoteRequest[SubGoalVerdict | GradedVerdict]:
        reader = RunReader(steps, question.documents, nonce)
        return VoteRequest(
            kind,
            instructions_of(question, rubric, nonce, cites_action=cites_action),
            message_of(question, reader, nonce),
            lambda verdict: _fault(
                question, _met(verdict, least), steps, cites_action=cites_action
            ),
            [tool for name, tool in reader.tools().items() if name in allowed],
        )

    return _vote_on_criterion(await poll.vote(request), least)


def _met(verdict: SubGoalVerdict | GradedVerdict, least_score: float) -> SubGoalVerdict:
    return verdict.as_met(least_score) if isinstance(verdict, GradedVerdict) else verdict


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


def _vote_on_criterion(
    result: VoteResult[SubGoalVerdict | GradedVerdict], least_score: float
) -> _Vote:
    if result.verdict is None:
        return _Vote(ERROR, None, {"reason_code": result.reason})
    verdict = _met(result.verdict, least_score)
    evidence = {
        "evidence_steps": verdict.evidence_steps, "quote": verdict.quote, "reason": verdict.reason,
    }  # fmt: skip
    if verdict.met == "cannot_tell":
        return _Vote(ERROR, None, {"reason_code": CANNOT_TELL, **evidence})
    value = float(verdict.met == YES)
    if isinstance(result.verdict, GradedVerdict):
        value = result.verdict.score or 0.0
    return _Vote(verdict.met, value, evidence)


async def _answers(poll: _Poll, steps: Sequence[JudgedStep]) -> _Vote:
    """Judge every turn's answer: the lowest score is the run's."""
    turns, scores = [], []
    request_of = partial(_answer_request, poll.session.rubric, poll.question)
    for turn in turns_of(poll.question.run, steps):
        result = await poll.vote(partial(request_of, turn))
        score = score_of(result.verdict) if result.verdict else None
        if result.verdict is None or score is None:
            reason = result.reason or CANNOT_TELL
            return _Vote(ERROR, None, {"reason_code": reason, "turn": turn.number})
        scores.append(score)
        steps_cited = [] if turn.step_index is None else [turn.step_index]
        turns.append(
            {"turn": turn.number, "evidence_steps": steps_cited, **result.verdict.model_dump()}
        )
    score = min(scores)
    label = YES if round(score, 9) >= poll.session.judge.least_score else NO
    return _Vote(label, score, {"turns": turns})


def _answer_request(
    rubric: Rubric | None, question: JudgeQuestion, turn: JudgedTurn, nonce: str
) -> VoteRequest[AnyAnswerVerdict]:
    kind: type[AnyAnswerVerdict] = AnswerVerdict
    if rubric is not None:
        kind = GradedAnswerVerdict if rubric.graded else AnswerMetVerdict
    return VoteRequest(
        kind,
        answer_instructions(question, rubric, nonce),
        answer_message(turn, question, nonce),
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
    value = None if failed else median(values)
    counted = {"votes": dict(sorted(labels.items()))} if len(votes) > 1 else {}
    return JudgeVerdict(question, label, value, {**deciding.evidence, **counted, **spending})


def _spending(session: JudgeSession, conversations: Sequence[Conversation]) -> Mapping[str, Any]:
    """Return what the votes took, as the lake keeps it of each call."""
    calls = [call for conversation in conversations for call in conversation.calls]
    costs = [call.cost_usd for call in calls]
    rubric = session.rubric
    return {
        "model": session.endpoint.model,
        "prompt_version": session.prompt_version,
        **({"rubric": session.judge.rubric, "rubric_hash": rubric.digest} if rubric else {}),
        "requests": len(calls),
        "input_tokens": sum(call.input_tokens or 0 for call in calls),
        "output_tokens": sum(call.output_tokens or 0 for call in calls),
        "cost_usd": sum(c for c in costs if c is not None) if None not in costs else None,
    }


def _conversation(session: JudgeSession, question: JudgeQuestion) -> Conversation:
    return Conversation(
        judge=session.name,
        trajectory_id=question.run.trajectory_id,
        sub_goal=question.sub_goal,
        step_index=question.step_index,
        question=question.plan_question,
        nonce=new_nonce(),
        prompt_version=session.prompt_version,
        model=session.endpoint.model,
        wire=FORMATS[session.endpoint.provider],
        max_output_tokens=session.judge.model.max_output_tokens,
        timeout_secs=session.judge.model.timeout_secs,
        retries=session.judge.limits.retries,
        settings=_unsent_settings(session.judge.model),
    )


def _unsent_settings(model: JudgeModel) -> str:
    """Return what decides on answers and is not sent: a class with its options, or an endpoint.

    They are as the judge file has them, so that answers are found where a variable is not set.
    """
    if model.class_ is None:
        return model.other_endpoint
    return json.dumps([model.class_, model.options])
