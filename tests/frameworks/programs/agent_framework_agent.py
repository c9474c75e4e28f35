"""The scenarios on Microsoft's Agent Framework; its telemetry is built in."""

import asyncio
from typing import Any

from agent_framework import Agent, Message
from agent_framework.observability import enable_instrumentation
from agent_framework.openai import OpenAIChatCompletionClient
from agent_framework.orchestrations import HandoffBuilder
from openai import AsyncOpenAI
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
    client = AsyncOpenAI(base_url=model_url(scenario, name), api_key=API_KEY)
    return Agent(
        client=OpenAIChatCompletionClient(model="fake-model", async_client=client),
        name=name,
        description=HELPER_KNOWS if name == HELPER else None,
        instructions=PROMPT,
        tools=[*TOOLS, *helpers],
        require_per_service_call_history_persistence=scenario["name"] == "hand_off",
    )


def message(asked: str | list[str]) -> str | Message:
    """Return a message of the user, in parts if it has several."""
    return asked if isinstance(asked, str) else Message("user", asked)


async def hand_over() -> None:
    """Ask a team of two, whose first hands over to the second."""
    asked, helper = agent(scenario, AGENT), agent(scenario, HELPER)
    team = HandoffBuilder(participants=[asked, helper]).with_start_agent(asked).build()
    print((await team.run(*scenario["asks"])).get_outputs())


async def main() -> None:
    """Ask all that the user asks."""
    helpers = [agent(scenario, HELPER).as_tool()] if HELPER in scenario["scripts"] else []
    asked = agent(scenario, AGENT, *helpers)
    session = asked.create_session()
    for ask in scenario["asks"]:
        if scenario.get("stream"):
            stream = asked.run(message(ask), stream=True, session=session)
            async for _ in stream:
                pass
            print(await stream.get_final_response())
        else:
            print(await asked.run(message(ask), session=session))


if INSTRUMENTATION == "openinference":
    from openinference.instrumentation.agent_framework import (
        AgentFrameworkToOpenInferenceProcessor,
    )

    scenario = begin(AgentFrameworkToOpenInferenceProcessor())
else:
    scenario = begin()
enable_instrumentation(enable_sensitive_data=True)
if INSTRUMENTATION == "otel":
    instrument("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor")
elif INSTRUMENTATION == "traceloop":
    instrument("opentelemetry.instrumentation.openai", "OpenAIInstrumentor")
asyncio.run(hand_over() if scenario["name"] == "hand_off" else main())
