"""One vote: a conversation with a judge's model that ends in a verdict, or in a code."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

import httpx2
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext, Tool, ToolOutput, UsageLimits
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    OutputTokenLimitExceeded,
    UsageLimitExceeded,
)
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from tracegrade_judges.ask.clients import model_of
from tracegrade_judges.calls.exchange import (
    CallFailed,
    Conversation,
    Exchange,
    ExchangeTransport,
)
from tracegrade_judges.judge_file.load import ModelEndpoint
from tracegrade_judges.judge_file.model import Judge
from tracegrade_judges.judge_file.providers import PROVIDERS

VERDICT: Final = "verdict"
"""The tool with which a model answers."""

V = TypeVar("V", bound=BaseModel)


@dataclass(frozen=True)
class VoteRequest(Generic[V]):
    """The request for one vote."""

    kind: type[V]
    instructions: str
    message: str
    fault: Callable[[V], str | None]
    """Why a verdict cannot stand, for its judge to read; None if it can."""
    tools: Sequence[Callable[..., str]] = ()


class VoteResult(NamedTuple, Generic[V]):
    """The result of a vote: a verdict, or the code for why there is none."""

    verdict: V | None
    reason: str | None


async def vote(
    judge: Judge,
    request: VoteRequest[V],
    conversation: Conversation,
    exchange: Exchange,
    endpoint: ModelEndpoint,
    seed: int | None,
) -> VoteResult[V]:
    """Ask once, with the re-asks that the judge's limits allow.

    Raises:
        BudgetSpent: The rest of the budget does not suffice.
        EndpointRefuses: No request will be answered.
        NotCached: An answer is not in the lake, and requests are not allowed.
        TooManyFailures: The endpoint failed again and again.
    """
    transport = ExchangeTransport(exchange, conversation)
    async with httpx2.AsyncClient(transport=transport) as http:
        agent = _agent(judge, request, model_of(endpoint, http))
        try:
            run = await agent.run(
                request.message,
                model_settings=_settings(judge, seed),
                usage_limits=UsageLimits(
                    request_limit=judge.limits.requests,
                    tool_calls_limit=judge.limits.tool_calls,
                    input_tokens_limit=judge.limits.input_tokens,
                ),
            )
        except Exception as error:  # noqa: BLE001 - the library may raise anything
            if conversation.failure and not isinstance(conversation.failure, CallFailed):
                raise conversation.failure from None
            return VoteResult(None, _code(conversation.failure or error))
    return VoteResult(run.output, None)


def _agent(judge: Judge, request: VoteRequest[V], model: Model) -> Agent[None, V]:
    agent: Agent[None, V] = Agent(
        model,
        output_type=ToolOutput(request.kind, name=VERDICT),
        instructions=request.instructions,
        tools=[Tool(tool, takes_ctx=False) for tool in request.tools],
        retries=judge.limits.retries,
    )

    @agent.output_validator
    def _standing(context: RunContext[None], verdict: V) -> V:
        fault = _unclear(context.messages) or request.fault(verdict)
        if fault:
            raise ModelRetry(fault)
        return verdict

    return agent


def _unclear(messages: Sequence[object]) -> str | None:
    """Return why the last answer says more than one thing; None if it does not."""
    last = next((each for each in reversed(messages) if isinstance(each, ModelResponse)), None)
    calls = [part for part in last.parts if isinstance(part, ToolCallPart)] if last else []
    if len(calls) != 1:
        return f"call {VERDICT} alone, and once"
    try:
        given = calls[0].args
        json.loads(given if isinstance(given, str) else calls[0].args_as_json_str(),
                   object_pairs_hook=_refuse_equal_keys)  # fmt: skip
    except ValueError:
        return "a key of the verdict stands twice; give each once"
    return None


def _refuse_equal_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "equal keys"
        raise ValueError(msg)
    return found


def _settings(judge: Judge, seed: int | None) -> ModelSettings:
    settings = ModelSettings(max_tokens=judge.model.max_output_tokens, parallel_tool_calls=False)
    if judge.model.temperature is not None and judge.model.class_ is None:
        settings["temperature"] = judge.model.temperature
    if seed is not None and PROVIDERS[judge.model.provider].takes_seed:
        settings["seed"] = seed
    return settings


def _code(error: Exception) -> str:
    """Return why there is no verdict; texts of models and requests are not in it."""
    if isinstance(error, CallFailed):
        return str(error)
    codes: list[tuple[type[Exception], str]] = [
        (UsageLimitExceeded, "limit_reached"),
        (ContentFilterError, "refused"),
        (OutputTokenLimitExceeded, "truncated"),
        (AgentRunError, "unusable_answer"),
    ]
    return next((code for kind, code in codes if isinstance(error, kind)), "unusable_answer")
