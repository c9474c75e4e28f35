"""The path of one request: the cache, the budget, the endpoint's pace, and the wire.

It is the transport of the library that talks with the model. So limits, counts and the cache see
exactly what is sent. The text of requests and answers leaves it only for the lake: failures have
codes.
"""

import asyncio
import time
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2

from tracegrade_collector.redact.redaction import Redactor
from tracegrade_judges.calls.answers import CompletionRequest, JudgeAnswer
from tracegrade_judges.calls.cache import CachedCall, CallCache, request_key
from tracegrade_judges.calls.formats import WireFormat
from tracegrade_judges.calls.pace import ConcurrencyLimit
from tracegrade_judges.calls.sending import AnswerTooLong, ModelFailed, Sender, SentAnswer
from tracegrade_judges.calls.spending import Amount, JudgeSpending
from tracegrade_queries.costs.answer_cost import TokenCounts

MAX_TRIES: Final = 6
"""Limit of the tries of one request without an answer."""
RETRIED: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
FATAL: Final = frozenset({301, 302, 303, 307, 308, 401, 402, 403, 404, 405})
"""No other request would fare better."""
ENDPOINT_FAILED: Final = "endpoint_failed"
RATE_LIMITED: Final = "rate_limited"
REFUSED: Final = "request_refused"
MODEL_FAILED: Final = "model_failed"
TIMEOUT: Final = "timeout"
TOO_LONG: Final = "answer_too_long"
UNREADABLE: Final = "unreadable"
"""Codes for why a request has no answer; unreadable: the response holds no message."""


class NotCached(Exception):
    """The answer is not in the lake, and requests are not allowed."""


class UsageNotReported(Exception):
    """A model does not count its tokens, so that only a number of calls can limit it."""


class EndpointRefuses(Exception):
    """The endpoint answers with a status that it will give to every request."""

    def __init__(self, status: int) -> None:
        """Take the HTTP status."""
        super().__init__(str(status))
        self.status = status


class CallFailed(Exception):
    """One request failed; its text is a code."""

    def __init__(self, code: str, *, is_billed: bool = True) -> None:
        """Take the code, and whether the endpoint may have worked for it nonetheless."""
        super().__init__(code)
        self.is_billed = is_billed


class _Again(CallFailed):
    """It may be answered when it is sent again."""


@dataclass
class Conversation:
    """The requests that one vote takes."""

    judge: str
    trajectory_id: str
    sub_goal: str | None
    step_index: int | None
    """Step of a call that may serve it."""
    question: str | None
    """About a plan."""
    nonce: str
    prompt_version: str
    model: str
    wire: WireFormat
    """The provider's wire format."""
    max_output_tokens: int
    timeout_secs: float
    retries: int
    """Number of times that a request is repeated after an unreadable response."""
    calls: list[CachedCall] = field(default_factory=list)
    """Answered so far, in order."""
    failure: Exception | None = None
    """Why a request failed: the library wraps the exception."""
    settings: str = ""
    """Settings that decide on the model's answers and are not in the requests; no secret."""


class Exchange:
    """Answers requests from the cache, else from the endpoint."""

    def __init__(
        self,
        cache: CallCache,
        spending: JudgeSpending,
        pace: ConcurrencyLimit,
        redactor: Redactor,
        sender: Sender,
        *,
        offline: bool,
    ) -> None:
        """Take what requests go through; `offline` lets none out."""
        self.cache = cache
        self.spending = spending
        self._pace = pace
        self._redactor = redactor
        self._offline = offline
        self._sender = sender

    async def close(self) -> None:
        """Close the connections."""
        await self._sender.close()

    async def answer(self, conversation: Conversation, request: httpx2.Request) -> str:
        """Return the answer to a request.

        Raises:
            BudgetSpent: The rest of the budget does not suffice.
            CallFailed: It has no answer.
            EndpointRefuses: No request will be answered.
            NotCached: It is not stored, and requests are not allowed.
            TooManyFailures: The endpoint failed again and again.
            UsageNotReported: The model does not count, and the number of calls has no limit.
        """
        body = request.content
        key = request_key(body, conversation.nonce, conversation.settings)
        call = self.cache.find(conversation.trajectory_id, key)
        if call is None:
            if self._offline:
                raise NotCached
            call = await self._ask(conversation, request, key)
        conversation.calls.append(call)
        return call.response

    async def _ask(
        self, conversation: Conversation, request: httpx2.Request, key: str
    ) -> CachedCall:
        began = time.monotonic()
        answer = await self._send_until_answered(conversation, request)
        counts = answer.counts
        cost = self.spending.cost(counts).usd if counts and self.spending.price else None
        call = CachedCall(
            conversation.trajectory_id,
            key,
            answer.text,
            counts.input if counts else None,
            counts.output if counts else None,
            cost,
        )
        self.cache.add(
            call,
            judge=conversation.judge,
            sub_goal=conversation.sub_goal,
            step_index=conversation.step_index,
            question=conversation.question,
            model=conversation.model,
            prompt_version=conversation.prompt_version,
            seconds=time.monotonic() - began,
        )
        must_count = (
            not conversation.wire.always_counts and self.spending.budget.most_calls is None
        )
        if counts is None and must_count:
            raise UsageNotReported
        return call

    async def _send_until_answered(
        self, conversation: Conversation, request: httpx2.Request
    ) -> JudgeAnswer:
        """Return the answer; repeat the request while it is refused or unreadable."""
        code, unread = ENDPOINT_FAILED, 0
        for tries in range(1, MAX_TRIES + 1):
            try:
                return await self._once(conversation, request, tries)
            except _Again as again:
                code = str(again)
            unread += code == UNREADABLE
            if unread > conversation.retries:
                break
        raise CallFailed(code)

    async def _once(
        self, conversation: Conversation, request: httpx2.Request, tries: int
    ) -> JudgeAnswer:
        bound = self.spending.bound(_most_tokens(conversation, request))
        await self.spending.budget.reserve(bound)
        spent = Amount()
        try:
            async with self._pace.turn():
                spent = bound  # as long as the usage is unknown
                answer = await self._answered(conversation, request, tries)
            if answer.counts:
                spent = self.spending.cost(answer.counts)
            return answer
        except CallFailed as failed:
            spent = bound if failed.is_billed else Amount()
            raise
        finally:
            await self.spending.budget.settle(bound, spent)

    async def _answered(
        self, conversation: Conversation, request: httpx2.Request, tries: int
    ) -> JudgeAnswer:
        try:
            async with asyncio.timeout(conversation.timeout_secs):
                answered = await self._sender.send(request, conversation.wire.headers)
        except AnswerTooLong:
            raise CallFailed(TOO_LONG) from None
        except ModelFailed as failed:
            self._pace.failed(1, retry_after=0, slower=False)
            code = f"{MODEL_FAILED}: {failed}"
            raise CallFailed(code) from None
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            self._pace.failed(tries, slower=False)
            raise _Again(ENDPOINT_FAILED, is_billed=False) from None
        except (httpx2.TransportError, TimeoutError):
            self._pace.failed(tries, slower=False)
            raise _Again(TIMEOUT) from None
        if answered.status != 200:
            self._refused(answered, tries)
        self._pace.went_well()
        most = _most_tokens(conversation, request)
        expected = CompletionRequest(conversation.model, most, len(conversation.calls))
        answer = conversation.wire.read(answered.body, expected, self._redactor)
        if answer is None:
            raise _Again(UNREADABLE)
        return answer

    def _refused(self, answered: SentAnswer, tries: int) -> None:
        """Raise what a status other than 200 means."""
        if answered.status in FATAL:
            raise EndpointRefuses(answered.status)
        slower = answered.status == 429
        wait = retry_after_secs(answered.retry_after)
        if answered.status in RETRIED or answered.status >= 500:
            self._pace.failed(tries, retry_after=wait, slower=slower)
            raise _Again(RATE_LIMITED if slower else ENDPOINT_FAILED, is_billed=False)
        self._pace.failed(1, retry_after=0, slower=False)
        raise CallFailed(REFUSED, is_billed=False)


def _most_tokens(conversation: Conversation, request: httpx2.Request) -> TokenCounts:
    """Return the tokens that a request takes at most: a token has at least one byte."""
    read = len(request.content) + conversation.wire.unseen_tokens
    return TokenCounts(read, conversation.max_output_tokens)


def retry_after_secs(text: str | None) -> float | None:
    """Return the seconds that a `Retry-After` asks for; None without one that can be read."""
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        due = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, due.timestamp() - time.time())


class ExchangeTransport(httpx2.AsyncBaseTransport):
    """The transport of one conversation: what the library sends goes through the exchange."""

    def __init__(self, exchange: Exchange, conversation: Conversation) -> None:
        """Take both."""
        self._exchange = exchange
        self._conversation = conversation

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request; a failure is noted in the conversation, too."""
        await request.aread()
        try:
            text = await self._exchange.answer(self._conversation, request)
        except Exception as error:
            self._conversation.failure = error
            raise
        return httpx2.Response(
            200, content=text, headers={"content-type": "application/json"}, request=request
        )
