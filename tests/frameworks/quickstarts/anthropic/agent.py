import sys

from anthropic import Anthropic, beta_tool

import tracegrade


@beta_tool
@tracegrade.tool(effect="read")
def order_status(order: str) -> str:
    """Say where an order is."""
    if order != "A-1001":
        raise LookupError(f"no order {order}")
    return "shipped on 3 May"


with tracegrade.agent_run("support", user_input=sys.argv[1]) as run:
    messages = [{"role": "user", "content": sys.argv[1]}]
    runner = Anthropic().beta.messages.tool_runner(
        model="claude-sonnet-5", max_tokens=1000, tools=[order_status], messages=messages
    )
    answer = runner.until_done().content[-1].text
    run.answer(answer)
    print(answer)
