"""The request and response format of each provider; everything else is the same for all."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from tracegrade_collector.redact.redaction import Redactor
from tracegrade_judges.calls.answers import CompletionRequest, JudgeAnswer
from tracegrade_judges.calls.anthropic_messages import read_message
from tracegrade_judges.calls.chat_completions import read_completion
from tracegrade_judges.judge_file.providers import ProviderName


class WireFormat(NamedTuple):
    """The properties of a provider that the path of a request needs."""

    read: Callable[[bytes, CompletionRequest, Redactor], JudgeAnswer | None]
    headers: frozenset[str]
    """Sent in addition to those of every request; no other header of the client is sent."""
    unseen_tokens: int = 0
    """The most that the provider adds to the text of a request, and counts."""
    always_counts: bool = True
    """Whether an answer without a count is bounded by the tokens that its request allows."""


FORMATS: Final[Mapping[ProviderName, WireFormat]] = {
    "openai": WireFormat(read_completion, frozenset({"authorization"})),
    "anthropic": WireFormat(
        read_message,
        frozenset({"authorization", "x-api-key", "anthropic-version", "anthropic-beta"}),
        unseen_tokens=1_000,  # a request with tools gets instructions of a few hundred tokens
    ),
    "langchain": WireFormat(
        read_completion, frozenset(), unseen_tokens=1_000, always_counts=False
    ),
}
