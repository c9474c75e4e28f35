"""The weather agent on AutoGen; its telemetry is built in, another library reports model calls."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
from opentelemetry.sdk._events import EventLoggerProvider
from weather import API_KEY, QUESTION, SYSTEM_PROMPT, export, get_weather, model_url

export()
OpenAIInstrumentor().instrument(event_logger_provider=EventLoggerProvider())
abilities = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "family": "unknown",
    "structured_output": False,
}
model = OpenAIChatCompletionClient(
    model="fake-model", base_url=model_url(), api_key=API_KEY, model_info=abilities
)
agent = AssistantAgent(
    "weather_agent",
    model_client=model,
    tools=[get_weather],
    system_message=SYSTEM_PROMPT,
    reflect_on_tool_use=True,
)


async def main() -> None:
    """Ask the question."""
    print((await agent.run(task=QUESTION)).messages[-1])


asyncio.run(main())
