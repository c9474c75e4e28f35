"""The scenarios on OpenAI's Agents SDK."""

import asyncio
from typing import Any

from agents import (
    Agent,
    Runner,
    function_tool,
    handoff,
    set_default_openai_client,
)
from agents.exceptions import ModelBehaviorError
from agents.models.openai_responses import OpenAIResponsesModel
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


def agent(scenario: dict[str, Any], name: str) -> Agent:
    """Return an agent of the scenario, without helpers."""
    client = AsyncOpenAI(base_url=model_url(scenario, name), api_key=API_KEY)
    return Agent(
        name=name,
        instructions=PROMPT,
        model=OpenAIResponsesModel("fake-model", client),
        tools=[function_tool(each, strict_mode=False) for each in TOOLS],
        handoff_description=HELPER_KNOWS,
    )


def with_helper(scenario: dict[str, Any]) -> Agent:
    """Return the agent that is asked, with its helper if it has one."""
    asked = agent(scenario, AGENT)
    if HELPER not in scenario["scripts"]:
        return asked
    helper = agent(scenario, HELPER)
    if scenario["name"] == "hand_off":
        asked.handoffs = [handoff(helper)]
    else:
        asked.tools.append(helper.as_tool(HELPER, HELPER_KNOWS))
    return asked


def message(asked: str | list[str]) -> dict[str, Any]:
    """Return a message of the user, in parts if it has several."""
    if isinstance(asked, str):
        return {"role": "user", "content": asked}
    return {"role": "user", "content": [{"type": "input_text", "text": part} for part in asked]}


async def main() -> None:
    """Ask all that the user asks."""
    asked, history = with_helper(scenario), []
    for ask in scenario["asks"]:
        history.append(message(ask))
        if scenario.get("stream"):
            result = Runner.run_streamed(asked, history)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(asked, history)
        print(result.final_output)
        history = result.to_input_list()


scenario = begin()
if INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.openai_agents", "OpenAIAgentsInstrumentor")
elif INSTRUMENTATION == "otel":
    instrument("opentelemetry.instrumentation.genai.openai_agents", "OpenAIAgentsInstrumentor")
    instrument("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor")
else:
    instrument("opentelemetry.instrumentation.openai_agents", "OpenAIAgentsInstrumentor")
set_default_openai_client(AsyncOpenAI(api_key=API_KEY), use_for_tracing=False)
try:
    asyncio.run(main())
except ModelBehaviorError as error:  # a tool that does not exist ends the run
    print(error)
