import sys

from langchain.agents import create_agent


def order_status(order: str) -> str:
    """Say where an order is."""
    if order != "A-1001":
        raise LookupError(f"no order {order}")
    return "shipped on 3 May"


agent = create_agent("openai:gpt-5-mini", [order_status], name="support")
answer = agent.invoke({"messages": [("user", sys.argv[1])]})
print(answer["messages"][-1].content)
