"""Tokens of spans: what a cache had is priced as such, wherever its writer counted it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.queries.traces import Row, agent, apart, land, message, model, request_of, rows, span

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.costs.pricing import Price, Prices

PRICES: Prices = {"m": Price(1_000_000, 100_000, 2_000_000, 10_000_000, 10_000_000)}
WHOLE = (10 * 1 + 800 * 0.1 + 190 * 2 + 50 * 10) / 1e6
"""Of 1,000 tokens of input, 800 read from a cache and 190 written to it, and 50 of output."""
READ = (200 * 1 + 800 * 0.1 + 50 * 10) / 1e6
"""Of 1,000 tokens of input, 800 read from a cache, and 50 of output."""


def chat(scope: str, given: int, *, openinference: bool = False, **said: Any) -> Row:
    """Return a span of a model by its scope, with 50 tokens of output and what else is said."""
    usage: Row = {"gen_ai.usage.input_tokens": given, "gen_ai.usage.output_tokens": 50}
    if openinference:
        usage = {"llm.token_count.prompt": given, "llm.token_count.completion": 50}
        usage |= {"openinference.span.kind": "LLM", "llm.model_name": "m"}
    told = {key.replace(".", "__"): value for key, value in {**usage, **said}.items()}
    answer = [message("assistant", "Done.")]
    return model(2, 1, at=1, said=answer, scope=scope, gen_ai__response__model="m", **told)


def named(prefix: str = "gen_ai.usage.", **counts: int) -> dict[str, Any]:
    """Return counts by attribute: `cache_read__input_tokens=8` has a dot between."""
    return {prefix + name.replace("__", "."): count for name, count in counts.items()}


READ_AND_WRITTEN = named(cache_read_input_tokens=800, cache_creation_input_tokens=190)
BY_CONVENTION = named(cache_read__input_tokens=800, cache_creation__input_tokens=190)
OF_OPENINFERENCE = named("llm.token_count.prompt_details.", cache_read=800, cache_write=190)
KNOWN = {
    "conventions": (chat("x", 1000, **BY_CONVENTION), WHOLE),
    "pydantic": (chat("pydantic-ai", 1000, **named(cache_read_tokens=800)), READ),
    "pydantic, in details": (
        chat("pydantic-ai", 1000, **named("gen_ai.usage.details.", cache_read_tokens=800)),
        READ,
    ),
    "OpenAI's names": (chat("x", 1000, **named(cached_input_tokens=800)), READ),
    "names of Langfuse": (chat("x", 1000, **named(input_cached_tokens=800)), READ),
    "OpenLLMetry of Anthropic": (
        chat("opentelemetry.instrumentation.anthropic", 1000, **READ_AND_WRITTEN),
        WHOLE,
    ),
    "OpenLLMetry of Bedrock": (
        chat("opentelemetry.instrumentation.bedrock", 10, **READ_AND_WRITTEN),
        WHOLE,
    ),
    "OpenLIT of Anthropic": (
        chat("openlit.instrumentation.anthropic", 10, **BY_CONVENTION),
        WHOLE,
    ),
    "Strands of Bedrock": (
        chat("strands.telemetry.tracer", 10, **READ_AND_WRITTEN, **named(total_tokens=1050)),
        WHOLE,
    ),
    "Strands of OpenAI": (
        chat(
            "strands.telemetry.tracer",
            1000,
            **named(cache_read_input_tokens=800, total_tokens=1050),
        ),
        READ,
    ),
    "a total that has both": (
        chat("x", 1000, **named(cache_read_tokens=300, total_tokens=1350)),
        (1000 + 300 * 0.1 + 500) / 1e6,
    ),
    "more than the input": (chat("x", 10, **READ_AND_WRITTEN), WHOLE),
    "OpenInference": (chat("x", 1000, openinference=True, **OF_OPENINFERENCE), WHOLE),
    "OpenInference with a total": (
        chat(
            "x",
            500,
            openinference=True,
            **{"llm.token_count.prompt_details.cache_read": 300, "llm.token_count.total": 850},
        ),
        (500 + 300 * 0.1 + 500) / 1e6,
    ),
}
AMBIGUOUS = {
    "Anthropic's names": chat("x", 1000, **READ_AND_WRITTEN),
    "short names": chat("x", 1000, **named(cache_read_tokens=800)),
    "a total that its writer may have added up": chat(
        "x", 1000, **named(cache_read_tokens=800, total_tokens=1050)
    ),
}


def found(folder: Path, chats: list[Row]) -> list[Any]:
    """Return what each run costs, and whether one of its steps is flagged, in order."""
    lake = Lake.create(folder / "lake")
    land(lake, request_of(apart([agent(1), each] for each in chats)))
    build(lake, prices=PRICES)
    made = rows(
        lake,
        "SELECT trace_id, any_value(trajectories.cost_usd) AS cost, "
        "bool_or(list_contains(steps.flags, 'ambiguous_tokens')) AS flagged "
        "FROM trajectories JOIN steps USING (trace_id) GROUP BY ALL ORDER BY trace_id",
    )
    return [(row["cost"], row["flagged"]) for row in made]


def test_cached_tokens_cost_what_a_cache_costs(tmp_path: Path) -> None:
    """In the input or beside it, as is known of who wrote it; then nothing is flagged."""
    made = found(tmp_path, [each for each, _ in KNOWN.values()])
    assert dict(zip(KNOWN, made, strict=True)) == {
        name: (pytest.approx(cost), False) for name, (_, cost) in KNOWN.items()
    }


def test_what_can_be_read_two_ways_is_flagged(tmp_path: Path) -> None:
    """It is taken to be in the input, as the conventions say, and the step tells that."""
    costs = [WHOLE, READ, READ]
    assert found(tmp_path, list(AMBIGUOUS.values())) == [
        (pytest.approx(cost), True) for cost in costs
    ]


TOLD: dict[str, tuple[Row, Row]] = {
    "OpenAI": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 40},
            "completion_tokens_details": {"reasoning_tokens": 8},
        },
        {},
    ),
    "DeepSeek": (
        {"prompt_tokens": 100, "completion_tokens": 20, "prompt_cache_hit_tokens": 40},
        {"visible_output_tokens": 20, "reasoning_tokens": 0},
    ),
    "Google, from Python": (
        {
            "prompt_token_count": 90,
            "tool_use_prompt_token_count": 10,
            "candidates_token_count": 12,
            "thoughts_token_count": 8,
            "cached_content_token_count": 40,
            "total_token_count": 120,
        },
        {},
    ),
    "the AI SDK": (
        {
            "inputTokens": 100,
            "outputTokens": 20,
            "inputTokenDetails": {"cacheReadTokens": 40},
            "outputTokenDetails": {"reasoningTokens": 8},
        },
        {},
    ),
    "the AI SDK's models": (
        {
            "inputTokens": {"total": 100, "cacheRead": 40},
            "outputTokens": {"total": 20, "reasoning": 8},
        },
        {},
    ),
    "Codex": (
        {
            "input_tokens": 100,
            "output_tokens": 20,
            "cached_input_tokens": 40,
            "reasoning_output_tokens": 8,
        },
        {},
    ),
}
"""Usage as a platform keeps it, and how its counts differ from those of the first."""


def used(folder: Path, chats: list[Row]) -> list[Row]:
    """Return the counts of each run's only model call, in order."""
    lake = Lake.create(folder / "lake")
    land(lake, request_of(apart([each] for each in chats)))
    build(lake)
    counts = (
        "SELECT usage.fresh_input_tokens, usage.cache_read_tokens, usage.visible_output_tokens, "
        "usage.reasoning_tokens"
    )
    each = "SELECT trace_id, unnest(model_usage) AS usage FROM trajectories"
    return rows(lake, f"{counts} FROM ({each}) ORDER BY trace_id")


def test_platforms_keep_counts_in_each_spelling(tmp_path: Path) -> None:
    """What Langfuse was given by a client, as the client names it."""
    keys: Row = {
        "langfuse__observation__type": "generation",
        "langfuse__observation__output": "Done.",
    }
    given = [
        span(2, **keys, langfuse__observation__usage_details=json.dumps(usage))
        for usage, _ in TOLD.values()
    ]
    expected = {
        "fresh_input_tokens": 60,
        "cache_read_tokens": 40,
        "visible_output_tokens": 12,
        "reasoning_tokens": 8,
    }
    assert used(tmp_path, given) == [expected | differing for _, differing in TOLD.values()]


def test_reasoning_that_a_total_counts_apart_is_output(tmp_path: Path) -> None:
    """XAI counts it beside what else is said, in its total alone; others in the output."""
    reasoning = named(reasoning__output_tokens=30)
    chats = [
        chat("x", 100, **reasoning, **named(total_tokens=180)),
        chat("x", 100, **reasoning, **named(total_tokens=150)),
    ]
    made = [row["visible_output_tokens"] for row in used(tmp_path, chats)]
    assert made == [50, 20]
