"""The weather agent on one framework each, in programs that know nothing of traces.

Run as `python ask.py FRAMEWORK`, with MODEL_SERVER.
"""
# ruff: noqa: PLC0415 - a program imports the one framework that it uses

import asyncio
import json
import os
import sys

from openai import AsyncOpenAI, OpenAI

QUESTION = "What is the weather in Paris?"
PROMPT = "You tell the weather."
URL = f"{os.environ['MODEL_SERVER']}/get_weather/v1"
KEY = "not-a-key"  # the fake model asks for none, its clients do
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tell it.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def get_weather(city: str) -> str:
    """Tell the weather of a city.

    Args:
        city: Which one.
    """
    return f"22C in {city}"


def langgraph() -> str:
    """Ask an agent of LangChain, which is a graph."""
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="fake-model", base_url=URL, api_key=KEY)
    agent = create_agent(model, [get_weather], system_prompt=PROMPT, name="weather_agent")
    return agent.invoke({"messages": [("user", QUESTION)]})["messages"][-1].content


def openai_agents() -> str:
    """Ask an agent of OpenAI's SDK."""
    from agents import Agent, Runner, function_tool, set_default_openai_client

    set_default_openai_client(AsyncOpenAI(base_url=URL, api_key=KEY), use_for_tracing=False)
    tools = [function_tool(get_weather)]
    agent = Agent(name="weather_agent", model="fake-model", instructions=PROMPT, tools=tools)
    return Runner.run_sync(agent, QUESTION).final_output


def pydantic_ai() -> str:
    """Ask an agent of Pydantic AI."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("fake-model", provider=OpenAIProvider(base_url=URL, api_key=KEY))
    agent = Agent(model, tools=[get_weather], name="weather_agent", system_prompt=PROMPT)
    return agent.run_sync(QUESTION).output


def agent_framework() -> str:
    """Ask an agent of Microsoft's framework."""
    from agent_framework import Agent
    from agent_framework.openai import OpenAIChatCompletionClient

    client = AsyncOpenAI(base_url=URL, api_key=KEY)
    model = OpenAIChatCompletionClient(model="fake-model", async_client=client)
    agent = Agent(client=model, name="weather_agent", instructions=PROMPT, tools=[get_weather])
    return asyncio.run(agent.run(QUESTION)).text


def client_alone() -> str:
    """Ask the model itself, where the frameworks are installed and unused."""
    client = OpenAI(base_url=URL, api_key=KEY)
    messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": QUESTION}]
    while True:
        completion = client.chat.completions.create(
            model="fake-model", messages=messages, tools=[TOOL]
        )
        said = completion.choices[0].message
        if not said.tool_calls:
            return said.content
        messages.append(said.model_dump(include={"role", "content", "tool_calls"}))
        for call in said.tool_calls:
            told = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": told})


print(globals()[sys.argv[1]]())
