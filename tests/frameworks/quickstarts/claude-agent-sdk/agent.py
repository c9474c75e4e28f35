import asyncio
import sys

from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, query, tool


@tool("order_status", "Say where an order is.", {"order": str})
async def order_status(arguments: dict[str, str]) -> dict[str, list[dict[str, str]]]:
    if arguments["order"] != "A-1001":
        raise LookupError(f"no order {arguments['order']}")
    return {"content": [{"type": "text", "text": "shipped on 3 May"}]}


async def main() -> None:
    options = ClaudeAgentOptions(
        tools=[],
        mcp_servers={"shop": create_sdk_mcp_server("shop", tools=[order_status])},
        allowed_tools=["mcp__shop__order_status"],
    )
    messages = [each async for each in query(prompt=sys.argv[1], options=options)]
    print(messages[-1].result)


asyncio.run(main())
