import sys

from pydantic_ai import Agent, ModelRetry

agent = Agent("openai:gpt-5-mini", name="support")


@agent.tool_plain
def order_status(order: str) -> str:
    """Say where an order is."""
    if order != "A-1001":
        raise ModelRetry(f"no order {order}")
    return "shipped on 3 May"


print(agent.run_sync(sys.argv[1]).output)
