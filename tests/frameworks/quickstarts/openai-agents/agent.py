import sys

from agents import Agent, Runner, function_tool


@function_tool
def order_status(order: str) -> str:
    """Say where an order is."""
    if order != "A-1001":
        raise LookupError(f"no order {order}")
    return "shipped on 3 May"


agent = Agent("support", model="gpt-5-mini", tools=[order_status])
print(Runner.run_sync(agent, sys.argv[1]).final_output)
