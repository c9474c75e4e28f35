"""Reads the `usage` objects in which providers' APIs state an answer's token counts."""

from collections.abc import Mapping
from typing import Final

from tracegrade_queries.costs.answer_cost import TokenCounts

MAX_COUNT: Final = 2**40
"""A greater number of tokens is none."""


def token_counts(usage: object) -> TokenCounts | None:
    """Return the tokens of an answer; None if input or output is missing or not a count.

    Reads OpenAI's chat completions, embeddings and responses, Anthropic's messages, and compatible
    APIs. Details that are not counts are 0.

    Args:
        usage: Any value that was parsed from JSON.

    See https://platform.openai.com/docs/api-reference and
    https://docs.anthropic.com/en/api/messages, where cached tokens are apart from the input.
    """
    if not isinstance(usage, Mapping):
        return None
    of_completions = _count(usage, "prompt_tokens") is not None
    names = ("prompt", "completion") if of_completions else ("input", "output")
    given, made = (_count(usage, f"{name}_tokens") for name in names)
    if of_completions and made is None and _count(usage, "total_tokens") == given:
        made = 0  # embeddings
    if given is None or made is None:
        return None
    of_input, of_output = (usage.get(f"{name}_tokens_details") for name in names)
    reasoning = _count(of_output, "reasoning_tokens") or 0
    if isinstance(of_input, Mapping):
        read, stored = _count(of_input, "cached_tokens"), _count(of_input, "cache_write_tokens")
        return TokenCounts(given, made, read or 0, stored or 0, reasoning)
    read, stored = (
        _count(usage, f"cache_{name}_input_tokens") or 0 for name in ("read", "creation")
    )
    beside = 0 if of_completions else read + stored
    return TokenCounts(given + beside, made, read, stored, reasoning)


def _count(usage: object, key: str) -> int | None:
    value = usage.get(key) if isinstance(usage, Mapping) else None
    return value if type(value) is int and 0 <= value <= MAX_COUNT else None
