import asyncio
import sys

from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient


def order_status(order: str) -> str:
    """Say where an order is."""
    if order != "A-1001":
        raise LookupError(f"no order {order}")
    return "shipped on 3 May"


async def main() -> None:
    client = OpenAIChatClient(model="gpt-5-mini")
    agent = Agent(client=client, name="support", tools=[order_status])
    print(await agent.run(sys.argv[1]))


asyncio.run(main())
