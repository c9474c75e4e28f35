"""The scenarios on AG2; its middleware tells what it does."""

import asyncio
from typing import Any

from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.middleware import TelemetryMiddleware
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    HELPER_KNOWS,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    begin,
    instrument,
    model_url,
)


def agent(scenario: dict[str, Any], name: str, *helpers: Any) -> Agent:
    """Return an agent of the scenario."""
    return Agent(
        name,
        PROMPT,
        config=OpenAIConfig(
            "fake-model",
            api_key=API_KEY,
            base_url=model_url(scenario, name),
            streaming=scenario.get("stream", False),
        ),
        tools=[*TOOLS, *helpers],
        middleware=[
            TelemetryMiddleware(agent_name=name, provider_name="openai", model_name="fake-model")
        ],
    )


async def main() -> None:
    """Ask all that the user asks."""
    helpers = []
    if HELPER in scenario["scripts"]:
        helper = agent(scenario, HELPER)
        helpers.append(helper.as_tool(name=HELPER, description=HELPER_KNOWS))
    asked = agent(scenario, AGENT, *helpers)
    for ask in scenario["asks"]:
        asked = await asked.ask(*([ask] if isinstance(ask, str) else ask))
        print(await asked.content())


scenario = begin()
if INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.openai", "OpenAIInstrumentor")
elif INSTRUMENTATION == "otel":
    instrument("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor")
elif INSTRUMENTATION == "traceloop":
    instrument("opentelemetry.instrumentation.openai", "OpenAIInstrumentor")
asyncio.run(main())
