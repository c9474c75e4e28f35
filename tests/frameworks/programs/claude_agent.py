"""The scenarios on Claude's Agent SDK, which runs Claude Code; its tools are a server's.

With `own`, Claude Code alone exports: the SDK's server would write a trace for each call of a
tool. With `openinference` it is the program that does.
"""

import asyncio
import inspect
import os
import signal
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    SdkMcpTool,
    create_sdk_mcp_server,
    tool,
)
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    HELPER_KNOWS,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    begin,
    described,
    fork,
    instrument,
    leave_earth,
    model_url,
    question,
)

SERVER = "travel"


def offered(function: Any) -> SdkMcpTool[Any]:
    """Return a tool of the server."""
    description = inspect.getdoc(function).partition("\n")[0]
    parameters = {
        name: list if name == "plan" else str for name in inspect.signature(function).parameters
    }

    @tool(function.__name__, description, parameters)
    async def run(arguments: dict[str, Any]) -> dict[str, Any]:
        if function is leave_earth:
            os.killpg(0, signal.SIGTERM)  # Claude Code, which would go on alone for minutes
        return {"content": [{"type": "text", "text": function(**arguments)}]}

    return run


def ask_helper(scenario: dict[str, Any]) -> SdkMcpTool[Any]:
    """Return the tool with which an agent asks its helper."""

    @tool(HELPER, HELPER_KNOWS, {"task": str})
    async def run(arguments: dict[str, Any]) -> dict[str, Any]:
        async with ClaudeSDKClient(options(scenario, HELPER)) as helper:
            return {"content": [{"type": "text", "text": await answer(helper, arguments["task"])}]}

    return run


def options(scenario: dict[str, Any], name: str) -> ClaudeAgentOptions:
    """Return what an agent of the scenario is, with its helper as a tool if it has one."""
    tools = [offered(each) for each in TOOLS]
    if name == AGENT and HELPER in scenario["scripts"]:
        tools.append(ask_helper(scenario))
    return ClaudeAgentOptions(
        system_prompt=PROMPT,
        model="fake-model",
        tools=[],
        mcp_servers={SERVER: create_sdk_mcp_server(SERVER, tools=tools)},
        allowed_tools=[f"mcp__{SERVER}__{each.name}" for each in tools],
        setting_sources=[],
        include_partial_messages=scenario.get("stream", False),
        env=environment(scenario, name),
    )


def environment(scenario: dict[str, Any], name: str) -> dict[str, str]:
    """Return the variables of Claude Code."""
    return {
        "ANTHROPIC_BASE_URL": model_url(scenario, name).removesuffix("/v1"),
        "ANTHROPIC_API_KEY": API_KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        **(exports(scenario) if INSTRUMENTATION == "own" else {}),
    }


def exports(scenario: dict[str, Any]) -> dict[str, str]:
    """Return the variables with which Claude Code exports what it does."""
    return {
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_RESOURCE_ATTRIBUTES": ",".join(map("=".join, described(scenario).items())),
        "OTEL_LOG_USER_PROMPTS": "1",
        "OTEL_LOG_TOOL_DETAILS": "1",
        "OTEL_LOG_TOOL_CONTENT": "1",
        "OTEL_LOG_ASSISTANT_RESPONSES": "1",
        "OTEL_BSP_SCHEDULE_DELAY": "10",
        "OTEL_TRACES_EXPORT_INTERVAL": "10",
        "OTEL_LOGS_EXPORT_INTERVAL": "10",
    }


async def answer(client: ClaudeSDKClient, asked: str) -> str:
    """Return what the agent answers."""
    await client.query(asked)
    results = [each async for each in client.receive_response() if isinstance(each, ResultMessage)]
    return str(results[-1].result)


async def main() -> None:
    """Ask all that the user asks."""
    async with ClaudeSDKClient(options(scenario, AGENT)) as asked:
        for ask in scenario["asks"]:
            print(await answer(asked, question(ask)))


if INSTRUMENTATION == "openinference":
    scenario = begin()
    instrument("openinference.instrumentation.claude_agent_sdk", "ClaudeAgentSDKInstrumentor")
else:
    scenario = fork()
os.setpgrp()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
asyncio.run(main())
