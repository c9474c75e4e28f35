"""The weather agent on Microsoft's Agent Framework; its telemetry is built in."""

import asyncio

from agent_framework import Agent
from agent_framework.observability import enable_instrumentation
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI
from weather import API_KEY, QUESTION, SYSTEM_PROMPT, export, get_weather, model_url

export()
enable_instrumentation(enable_sensitive_data=True)
client = AsyncOpenAI(base_url=model_url(), api_key=API_KEY)
agent = Agent(
    client=OpenAIChatCompletionClient(model="fake-model", async_client=client),
    name="weather_agent",
    instructions=SYSTEM_PROMPT,
    tools=[get_weather],
)


async def main() -> None:
    """Ask the question."""
    print(await agent.run(QUESTION))


asyncio.run(main())
