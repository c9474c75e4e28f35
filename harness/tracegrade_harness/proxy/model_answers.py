"""Answers of models as HTTP replies, and the number of tokens in each.

An answer may be streamed or not; `token_counts` decides which APIs are read.
"""

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple, Protocol

from tracegrade_harness.proxy.messages import FAILED, ProxiedReply, ProxiedRequest, messages_in
from tracegrade_harness.proxy.upstream import UpstreamHandler
from tracegrade_queries.costs.answer_cost import TokenCounts
from tracegrade_queries.costs.usage import token_counts

FREE: Final = ("/count_tokens", "/input_tokens")
"""Path endings of requests that only count the tokens of another request."""


class ModelAnswer(NamedTuple):
    """An answer of a model, and the tokens that it used."""

    model: str | None
    """None if neither the reply nor the request names a model."""
    counts: TokenCounts | None
    """None if the reply does not report them."""


class ModelMeter(Protocol):
    """Counts the usage in models' answers, from any thread."""

    def add_from_upstream(self, answer: ModelAnswer) -> None:
        """Count an answer of a live model."""

    def add_from_tape(self, answer: ModelAnswer) -> None:
        """Count an answer of a tape."""

    def refusal(self) -> str | None:
        """Return why no model may be asked any more; None if models may be asked."""


def metered(upstream: UpstreamHandler, meter: ModelMeter) -> UpstreamHandler:
    """Return a model whose answers a meter counts; the meter may refuse requests."""

    def ask(request: ProxiedRequest) -> ProxiedReply:
        if (reason := meter.refusal()) is not None:
            body = json.dumps({"error": f"tracegrade: {reason}"}).encode()
            headers = (("content-type", "application/json"),)
            return ProxiedReply(HTTPStatus.PAYMENT_REQUIRED, headers, (body,))
        reply = upstream(request)
        if (answer := answer_in(request, reply)) is not None:
            meter.add_from_upstream(answer)
        return reply

    return ask


def answer_in(request: ProxiedRequest, reply: ProxiedReply) -> ModelAnswer | None:
    """Return the model's answer in a reply; None if there is none.

    A reply without an answer used no tokens. A successful reply to a POST counts as an answer,
    unless its path is known to be free.
    """
    is_posted = request.method == "POST" and not request.path.endswith(FREE)
    if not is_posted or reply.status >= FAILED:
        return None
    model: str | None = None
    usage: dict[str, Any] = {}
    for part in _parts(reply):
        if isinstance(named := part.get("model"), str):
            model = named
        if isinstance(own_usage := part.get("usage"), dict):
            usage |= {key: value for key, value in own_usage.items() if value is not None}
    return ModelAnswer(model or _requested_model(request), token_counts(usage))


def _parts(reply: ProxiedReply) -> Iterator[Mapping[str, Any]]:
    """Yield each JSON object of a reply, including the answers inside stream events."""
    for text in messages_in(reply):
        found = _json(text)
        if isinstance(found, dict):
            parts = (found, found.get("response"), found.get("message"))
            yield from (part for part in parts if isinstance(part, dict))


def _requested_model(request: ProxiedRequest) -> str | None:
    found = _json(request.body)
    model = found.get("model") if isinstance(found, dict) else None
    return model if isinstance(model, str) else None


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
