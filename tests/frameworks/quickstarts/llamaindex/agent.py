import asyncio
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI


def order_status(order: str) -> str:
    """Say where an order is."""
    if order != "A-1001":
        raise LookupError(f"no order {order}")
    return "shipped on 3 May"


async def main() -> None:
    model = OpenAI("gpt-5-mini", additional_kwargs={"stream_options": {"include_usage": True}})
    agent = FunctionAgent(name="support", llm=model, tools=[order_status])
    print(await agent.run(sys.argv[1]))


asyncio.run(main())
