"""For each spelling, input and output are whole, and their parts are given."""

from typing import Any

import pytest

from tracegrade_collector.importing.usage import langfuse_usage, message_usage, read_usage

CACHED: dict[str, dict[str, Any]] = {
    "Chat Completions": {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 190},
        "completion_tokens_details": {"reasoning_tokens": 30},
    },
    "Responses": {
        "input_tokens": 1000,
        "output_tokens": 50,
        "total_tokens": 1050,
        "input_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 190},
        "output_tokens_details": {"reasoning_tokens": 30},
    },
    "LangChain": {
        "input_tokens": 1000,
        "output_tokens": 50,
        "input_token_details": {"cache_read": 800, "cache_creation": 190},
        "output_token_details": {"reasoning": 30},
    },
    "LangChain of Anthropic, by time": {
        "input_tokens": 1000,
        "output_tokens": 50,
        "input_token_details": {
            "cache_read": 800,
            "cache_creation": 0,
            "ephemeral_5m_input_tokens": 100,
            "ephemeral_1h_input_tokens": 90,
        },
        "output_token_details": {"reasoning": 30},
    },
    "AI SDK 6": {
        "inputTokens": 1000,
        "outputTokens": 50,
        "inputTokenDetails": {"cacheReadTokens": 800, "cacheWriteTokens": 190},
        "outputTokenDetails": {"reasoningTokens": 30},
    },
    "Inspect": {
        "input_tokens": 10,
        "output_tokens": 50,
        "total_tokens": 1050,
        "input_tokens_cache_read": 800,
        "input_tokens_cache_write": 190,
        "reasoning_tokens": 30,
    },
    "Inspect of 2025, of OpenAI, whose total shows the input to be whole": {
        "input_tokens": 1000,
        "output_tokens": 50,
        "total_tokens": 1050,
        "input_tokens_cache_read": 800,
        "input_tokens_cache_write": 190,
        "reasoning_tokens": 30,
    },
    "Langfuse's names, which the total shows to be separate": {
        "input_tokens": 10,
        "output_tokens": 50,
        "total": 1050,
        "prompt_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 190},
        "reasoning_tokens": 30,
    },
}
UNREASONED: dict[str, dict[str, Any]] = {
    "Anthropic": {
        "input_tokens": 10,
        "output_tokens": 50,
        "cache_read_input_tokens": 800,
        "cache_creation_input_tokens": 190,
    },
    "Anthropic, by time alone": {
        "input_tokens": 10,
        "output_tokens": 50,
        "cache_read_input_tokens": 800,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 90},
    },
    "Bedrock": {
        "inputTokens": 10,
        "outputTokens": 50,
        "totalTokens": 1050,
        "cacheReadInputTokens": 800,
        "cacheWriteInputTokens": 190,
    },
    "LiteLLM of Anthropic": {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "cache_read_input_tokens": 800,
        "cache_creation_input_tokens": 190,
    },
}
WHOLE = {
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.output_tokens": 50,
    "gen_ai.usage.cache_read.input_tokens": 800,
    "gen_ai.usage.cache_creation.input_tokens": 190,
}
REASONING = {"gen_ai.usage.reasoning.output_tokens": 30}


@pytest.mark.parametrize("name", CACHED)
def test_cached_and_reasoning_tokens_are_parts_of_the_whole(name: str) -> None:
    """As providers count them or not, the conventions' input and output are whole."""
    assert read_usage(CACHED[name]) == WHOLE | REASONING


@pytest.mark.parametrize("name", UNREASONED)
def test_what_stands_beside_the_input_is_added_to_it(name: str) -> None:
    """Anthropic and Bedrock name the input without what a cache had."""
    assert read_usage(UNREASONED[name]) == WHOLE


@pytest.mark.parametrize(
    "usage",
    [
        {
            "promptTokenCount": 900,
            "toolUsePromptTokenCount": 100,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 30,
            "cachedContentTokenCount": 800,
            "totalTokenCount": 1050,
        },
        {
            "prompt_token_count": 1000,
            "candidates_token_count": 20,
            "thoughts_token_count": 30,
            "cached_content_token_count": 800,
        },
    ],
)
def test_googles_thoughts_are_added_to_its_candidates(usage: dict[str, int]) -> None:
    """Its cached content is part of the prompt; what tools read is not."""
    whole = {key: count for key, count in WHOLE.items() if "creation" not in key}
    assert read_usage(usage) == whole | REASONING


def test_langfuse_counts_each_type_by_itself() -> None:
    """Unless its total says that input and output are whole, or it kept a provider's names."""
    apart = {
        "input": 10,
        "input_cached_tokens": 800,
        "input_cache_creation": 190,
        "output": 20,
        "output_reasoning_tokens": 30,
    }
    assert langfuse_usage(apart) == WHOLE | REASONING
    assert langfuse_usage({**apart, "total": 1050}) == WHOLE | REASONING
    whole = {**apart, "input": 1000, "output": 50, "total": 1050}
    assert langfuse_usage(whole) == WHOLE | REASONING
    assert langfuse_usage({"promptTokens": 7, "completionTokens": 2}) == {
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 2,
    }


def test_zero_is_told_and_what_is_no_count_is_not() -> None:
    """A message that took nothing says so; text, true and what no integer holds say nothing."""
    assert read_usage({"input_tokens": 0, "output_tokens": 0}) == {
        "gen_ai.usage.input_tokens": 0,
        "gen_ai.usage.output_tokens": 0,
    }
    assert read_usage({"input_tokens": True, "output_tokens": "7", "total_tokens": 2**70}) == {}
    assert read_usage(None) == {}
    assert message_usage({"usage": {}, "usage_metadata": {"input_tokens": 3}}) == {
        "gen_ai.usage.input_tokens": 3
    }
