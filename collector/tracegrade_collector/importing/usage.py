"""Converts token usage reported by providers and tools into the GenAI conventions.

In the conventions, tokens read from or written to a cache are part of the input, and reasoning is
part of the output. OpenAI, LangChain and the AI SDK count this way. Anthropic, Bedrock and Inspect
report the input without its cached parts, Google reports the output without its thoughts, and
Langfuse reports each part separately. The spelling shows which provider counted, unless the total
only fits another way of counting.

Anthropic documents this at
https://platform.claude.com/docs/en/build-with-claude/prompt-caching, Google at
https://ai.google.dev/api/generate-content#UsageMetadata, and Inspect in `ModelUsage`. LiteLLM's
`prompt_tokens` include Anthropic's `cache_…_input_tokens`, which it also reports. Inspect's logs
of 2025 report OpenAI's whole input; there the total is input and output alone.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

MAX_TOKENS: Final = 2**62  # the range of an attribute's integer, and more than any real count

USAGE_KEYS: Final = ("usage", "usage_metadata", "usageMetadata", "token_usage", "tokenUsage")
"""Under which of its fields a message tells its usage."""

_WHOLE_INPUT: Final = ("prompt_tokens", "promptTokens")  # LiteLLM's include the cached tokens
_INPUT: Final = (
    *_WHOLE_INPUT,
    "input_tokens",
    "inputTokens",
    "inputTokens.total",
    "promptTokenCount",
    "prompt_token_count",
    "input",
)
_OUTPUT: Final = (
    "completion_tokens",
    "completionTokens",
    "output_tokens",
    "outputTokens",
    "outputTokens.total",
    "candidatesTokenCount",
    "candidates_token_count",
    "output",
)
_TOTAL: Final = (
    "total_tokens",
    "totalTokens",
    "totalTokenCount",
    "total_token_count",
    "total",
)
_READ: Final = (
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "input_token_details.cache_read",
    "inputTokenDetails.cacheReadTokens",
    "inputTokens.cacheRead",
    "cachedContentTokenCount",
    "cached_content_token_count",
    "cachedInputTokens",
    "cached_input_tokens",
    "cached_tokens",
    "prompt_cache_hit_tokens",
)
_READ_BESIDE: Final = (
    "cache_read_input_tokens",
    "cacheReadInputTokens",
    "cacheReadInputTokenCount",
    "input_tokens_cache_read",
)
_WRITTEN: Final = (
    "prompt_tokens_details.cache_write_tokens",
    "prompt_tokens_details.cache_creation_tokens",
    "input_tokens_details.cache_write_tokens",
    "inputTokenDetails.cacheWriteTokens",
    "inputTokens.cacheWrite",
    "cache_write_input_tokens",  # Codex's
)
_WRITTEN_BY_TIME: Final = (  # LangChain then says 0 of the sum
    "input_token_details.ephemeral_5m_input_tokens",
    "input_token_details.ephemeral_1h_input_tokens",
)
_WRITTEN_BY_TIME_BESIDE: Final = (
    "cache_creation.ephemeral_5m_input_tokens",
    "cache_creation.ephemeral_1h_input_tokens",
)
_WRITTEN_BESIDE: Final = (
    "cache_creation_input_tokens",
    "cacheWriteInputTokens",
    "cacheWriteInputTokenCount",
    "cacheCreationInputTokens",
    "input_tokens_cache_write",
)
_INSPECT_CACHED: Final = ("input_tokens_cache_read", "input_tokens_cache_write")
_REASONING: Final = (
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "output_token_details.reasoning",
    "outputTokenDetails.reasoningTokens",
    "outputTokens.reasoning",
    "reasoningTokens",
    "reasoning_tokens",
    "reasoning_output_tokens",
)
_THOUGHTS: Final = ("thoughtsTokenCount", "thoughts_token_count")  # Google's candidates lack them
_OF_TOOLS: Final = ("toolUsePromptTokenCount", "tool_use_prompt_token_count")
_LANGFUSE_READ: Final = ("input_cached_tokens", "input_cache_read", "cache_read_input_tokens")
_LANGFUSE_WRITTEN: Final = ("input_cache_creation", "input_cache_write")
_LANGFUSE_REASONING: Final = ("output_reasoning_tokens", "output_reasoning")


class _Cached(NamedTuple):
    """Tokens read from a cache and written to it, and whether the input excludes them."""

    read: int | None
    written: int | None
    is_beside: bool

    @property
    def tokens(self) -> int:
        return (self.read or 0) + (self.written or 0)


def message_usage(message: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens that a message tells, by attribute of the conventions; empty if none."""
    stated = (message.get(key) for key in USAGE_KEYS)
    return next((read for usage in stated if (read := read_usage(usage))), {})


def read_usage(usage: Any) -> dict[str, int]:
    """Return the tokens by attribute of the conventions: whole input, whole output, their parts.

    Args:
        usage: Usage as a provider or a tool wrote it. Anything but an object yields no tokens, and
            a count that is not an integer from 0 to 2^62 is ignored.
    """
    counts = _counts(usage)
    given, given_output = _first(counts, _INPUT), _first(counts, _OUTPUT)
    cached = _cached(counts)
    thoughts, reasoning = _first(counts, _THOUGHTS), _first(counts, _REASONING)
    output = _plus(given_output, thoughts)
    if cached.is_beside or _total_adds(counts, given, output, cached.tokens):
        given = _plus(given, cached.tokens)
    return _attributes(
        _plus(given, _first(counts, _OF_TOOLS)),
        output,
        cached,
        reasoning if thoughts is None else thoughts,
    )


def read_cost(value: Any) -> float | None:
    """Return a cost in US dollars; None for anything but a finite number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        cost = float(value)
    except OverflowError:
        return None
    return cost if math.isfinite(cost) and cost >= 0 else None


def langfuse_usage(usage: Any) -> dict[str, int]:
    """Return the tokens of an observation of Langfuse by attribute of the conventions.

    Its counts by type are apart from one another, and their total is their sum: what `input` names
    is without `input_…`. One whose total is input and output alone tells both whole. One without
    `input` is in its provider's spelling.
    """
    counts = _counts(usage)
    if "input" not in counts:
        return read_usage(usage)
    given, output = counts["input"], counts.get("output")
    read, written = _first(counts, _LANGFUSE_READ), _sum(counts, _LANGFUSE_WRITTEN)
    written = _plus(written, _first(counts, _WRITTEN_BESIDE))
    reasoning = _first(counts, _LANGFUSE_REASONING)
    cached = _Cached(read, written, is_beside=True)
    if counts.get("total") != given + (output or 0):
        given, output = given + cached.tokens, _plus(output, reasoning)
    return _attributes(given, output, cached, reasoning)


def _counts(usage: Any) -> dict[str, int]:
    """Return the counts; those of an object inside by both names, with a dot between."""
    if not isinstance(usage, Mapping):
        return {}
    inner = {
        f"{key}.{name}": count
        for key, value in usage.items()
        if isinstance(value, Mapping)
        for name, count in value.items()
    }
    return {key: count for key, count in {**usage, **inner}.items() if _is_count(count)}


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < MAX_TOKENS


def _cached(counts: Mapping[str, int]) -> _Cached:
    read, written = _first(counts, _READ), _first(counts, _WRITTEN)
    written = _larger(written, counts.get("input_token_details.cache_creation"))
    written = _larger(written, _sum(counts, _WRITTEN_BY_TIME))
    read_beside = _first(counts, _READ_BESIDE)
    written_beside = _larger(
        _first(counts, _WRITTEN_BESIDE), _sum(counts, _WRITTEN_BY_TIME_BESIDE)
    )
    named_apart = read is None and written is None and _first(counts, _WHOLE_INPUT) is None
    named_apart = named_apart and not _is_whole_in_inspect(counts)
    return _Cached(
        read_beside if read is None else read,
        written_beside if written is None else written,
        is_beside=named_apart and not (read_beside is None and written_beside is None),
    )


def _is_whole_in_inspect(counts: Mapping[str, int]) -> bool:
    """Return whether usage has Inspect's names, and a total of input and output alone."""
    if not any(name in counts for name in _INSPECT_CACHED):
        return False
    return counts.get("total_tokens") == counts.get("input_tokens", 0) + counts.get(
        "output_tokens", 0
    )


def _total_adds(
    counts: Mapping[str, int], given: int | None, output: int | None, cached: int
) -> bool:
    """Return whether there is a total that is the sum of input, output and cached tokens."""
    total = _first(counts, _TOTAL)
    return bool(cached) and total == (given or 0) + (output or 0) + cached


def _attributes(
    given: int | None, output: int | None, cached: _Cached, reasoning: int | None
) -> dict[str, int]:
    stated = {
        "gen_ai.usage.input_tokens": given,
        "gen_ai.usage.output_tokens": output,
        "gen_ai.usage.cache_read.input_tokens": cached.read,
        "gen_ai.usage.cache_creation.input_tokens": cached.written,
        "gen_ai.usage.reasoning.output_tokens": reasoning,
    }
    return {name: min(count, MAX_TOKENS) for name, count in stated.items() if count is not None}


def _first(counts: Mapping[str, int], names: Iterable[str]) -> int | None:
    return next((counts[name] for name in names if name in counts), None)


def _sum(counts: Mapping[str, int], names: Iterable[str]) -> int | None:
    found = [counts[name] for name in names if name in counts]
    return sum(found) if found else None


def _plus(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)


def _larger(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)
