"""Counts spans of agents that the OpenTelemetry conventions or Google's ADK describe."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.collector.importing.raw_counts import RunCounts

_OPERATION = "gen_ai.operation.name"
_RESPONSE = "gcp.vertex.agent.llm_response"


class PlainSpan(NamedTuple):
    """What is counted of a span, as its format wrote it."""

    trace: str
    name: str
    attributes: Mapping[str, Any]
    failed: bool


def span_counts(spans: list[PlainSpan]) -> RunCounts:
    """Return the counts; of ADK's model calls, not those of the client libraries inside them."""
    agents = ("invoke_agent", "execute_tool")
    tools = [each for each in spans if each.attributes.get(_OPERATION) == "execute_tool"]
    models = [each for each in spans if each.name == "call_llm"]
    responses = [json.loads(each.attributes[_RESPONSE])["content"]["parts"] for each in models]
    return RunCounts(
        runs=len({each.trace for each in spans if each.attributes.get(_OPERATION) in agents}),
        calls=len(tools),
        failed_calls=sum(each.failed for each in tools),
        answers=sum(all("text" in part for part in parts) for parts in responses),
        input_tokens=sum(int(each.attributes["gen_ai.usage.input_tokens"]) for each in models),
        output_tokens=sum(int(each.attributes["gen_ai.usage.output_tokens"]) for each in models),
    )
