"""Answer a few customers: `tracegrade run -- python -m demo.framework_agent`.

An ordinary program of OpenAI's Agents SDK, without any code for tracing. OPENAI_BASE_URL names an
OpenAI-compatible server and OPENAI_MODEL its model; OPENAI_API=chat_completions suits servers
without the Responses API. If requests are given as arguments, these are answered instead.
"""

import asyncio
import json
import os
import sys
from typing import Literal

from agents import (
    Agent,
    AgentsException,
    Runner,
    function_tool,
    set_default_openai_api,
    set_default_openai_client,
)
from openai import AsyncOpenAI

from demo.framework_agent import shop

INSTRUCTIONS = (
    "You are the support desk of a shop. Look up the customer's order and the refund policy "
    "before you refund anything. If the card does not take a refund, refund as store credit. "
    "If the policy forbids it, open a ticket instead. Tell the customer by message, then answer "
    "in one sentence that names the order and says whether it was refunded or got a ticket."
)
CUSTOMERS = ("c-7", "c-8", "c-9", "c-10", "c-11")
MAX_TURNS = 10


@function_tool
def search_orders(customer: str) -> str:
    """Return the orders of one customer."""
    return json.dumps(shop.orders_of(customer))


@function_tool
def get_refund_policy(order: str) -> str:
    """Return whether an order may still be refunded."""
    return json.dumps(shop.policy_for(order))


@function_tool
def issue_refund(order: str, amount: float, method: Literal["card", "credit"] = "card") -> str:
    """Pay the amount back, to the card or as store credit. Cannot be undone."""
    return json.dumps(shop.refund(order, amount, method))


@function_tool
def open_ticket(order: str, reason: str) -> str:
    """Hand the case to a person."""
    return json.dumps({"ticket": f"T-{order}", "reason": reason})


@function_tool
def send_message(customer: str, text: str) -> str:
    """Send the customer a message."""
    return json.dumps({"sent": True, "customer": customer, "characters": len(text)})


async def main() -> None:
    """Answer one request after the other and print each answer."""
    # The SDK sends its own traces to its vendor wherever it finds this key; here it finds none.
    key = os.environ.pop("OPENAI_API_KEY", "none")
    client = AsyncOpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key=key)
    set_default_openai_client(client, use_for_tracing=False)
    if os.environ.get("OPENAI_API") == "chat_completions":
        set_default_openai_api("chat_completions")
    agent = Agent(
        name="support",
        instructions=INSTRUCTIONS,
        tools=[search_orders, get_refund_policy, issue_refund, open_ticket, send_message],
        model=os.environ.get("OPENAI_MODEL"),
    )
    requests = {f"Please refund the last order of customer {each}.": each for each in CUSTOMERS}
    for request in sys.argv[1:] or requests:
        print(f"{requests.get(request, request)}: {await answer(agent, request)}")


async def answer(agent: Agent[None], request: str) -> str:
    """Return the agent's answer to one request, or how its run broke off."""
    try:
        result = await Runner.run(agent, request, max_turns=MAX_TURNS)
    except AgentsException as error:
        return f"broke off: {error}"
    return str(result.final_output)


if __name__ == "__main__":
    asyncio.run(main())
