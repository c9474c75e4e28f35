import asyncio
import sys

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner


def order_status(order: str) -> str:
    """Say where an order is."""
    if order != "A-1001":
        raise LookupError(f"no order {order}")
    return "shipped on 3 May"


async def main() -> None:
    agent = LlmAgent(name="support", model="gemini-3-flash", tools=[order_status])
    events = await InMemoryRunner(agent).run_debug(sys.argv[1], quiet=True)
    print(events[-1].content.parts[-1].text)


asyncio.run(main())
