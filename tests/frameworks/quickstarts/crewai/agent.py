import sys

from crewai import Agent, Crew, Task
from crewai.tools import tool


@tool
def order_status(order: str) -> str:
    """Say where an order is."""
    if order != "A-1001":
        raise LookupError(f"no order {order}")
    return "shipped on 3 May"


agent = Agent(
    role="support",
    goal="Tell customers where their orders are.",
    backstory="You work for a shop.",
    llm="openai/gpt-5-mini",
    tools=[order_status],
)
task = Task(description=sys.argv[1], expected_output="One sentence.", agent=agent)
print(Crew(agents=[agent], tasks=[task]).kickoff().raw)
