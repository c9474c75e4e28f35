"""The scenarios on AWS Strands, which streams all answers; its spans are built in."""

import importlib
from typing import Any

from opentelemetry.sdk.trace import SpanProcessor
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    HELPER_KNOWS,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    begin,
    model_url,
)
from strands import Agent, tool
from strands.models.openai import OpenAIModel


def agent(scenario: dict[str, Any], name: str) -> Agent:
    """Return an agent of the scenario, with its helper as a tool if it has one."""
    is_asked = name == AGENT and HELPER in scenario["scripts"]
    helpers = [agent(scenario, HELPER).as_tool()] if is_asked else []
    client = {"base_url": model_url(scenario, name), "api_key": API_KEY}
    return Agent(
        model=OpenAIModel(client_args=client, model_id="fake-model"),
        tools=[*(tool(each) for each in TOOLS), *helpers],
        system_prompt=PROMPT,
        name=name,
        description=HELPER_KNOWS,
        callback_handler=None,
    )


def message(asked: str | list[str]) -> str | list[dict[str, str]]:
    """Return what the user asks, in blocks if it has several parts."""
    return asked if isinstance(asked, str) else [{"text": part} for part in asked]


def rewriting() -> list[SpanProcessor]:
    """Return what rewrites its own spans, if anything does."""
    if INSTRUMENTATION != "openinference":
        return []  # they have two forms; OTEL_SEMCONV_STABILITY_OPT_IN chooses
    module = importlib.import_module("openinference.instrumentation.strands_agents")
    return [module.StrandsAgentsToOpenInferenceProcessor()]


scenario = begin(*rewriting())
asked = agent(scenario, AGENT)
for ask in scenario["asks"]:
    print(asked(message(ask)))
