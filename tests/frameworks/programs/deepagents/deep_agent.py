"""The scenarios on LangChain's Deep Agents: its `task` runs helpers, its `write_todos` plans."""

from typing import Any

from deepagents import create_deep_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    HELPER_KNOWS,
    PROMPT,
    TOOLS,
    begin,
    instrument,
    model_url,
)

OWN_TOOLS = [each for each in TOOLS if each.__name__ != "update_plan"]


@wrap_tool_call
def told_of_errors(request: Any, run: Any) -> Any:
    """Tell the model of the error of a tool, which else ends the run."""
    try:
        return run(request)
    except ValueError as error:
        call = request.tool_call
        return ToolMessage(f"Error: {error}", tool_call_id=call["id"], status="error")


def model(scenario: dict[str, Any], name: str) -> ChatOpenAI:
    """Return the model of an agent of the scenario."""
    return ChatOpenAI(
        model="fake-model", base_url=model_url(scenario, name), api_key=API_KEY, stream_usage=True
    )


def agent(scenario: dict[str, Any]) -> Any:
    """Return the agent of the scenario, with a helper if it has one."""
    helper = {
        "name": HELPER,
        "description": HELPER_KNOWS,
        "system_prompt": PROMPT,
        "tools": OWN_TOOLS,
        "model": model(scenario, HELPER),
        "middleware": [told_of_errors],
    }
    return create_deep_agent(
        model(scenario, AGENT),
        OWN_TOOLS,
        system_prompt=PROMPT,
        middleware=[told_of_errors],
        subagents=[helper] if HELPER in scenario["scripts"] else [],
        name=AGENT,
    )


def message(asked: str | list[str]) -> dict[str, Any]:
    """Return a message of the user, in parts if it has several."""
    if isinstance(asked, str):
        return {"role": "user", "content": asked}
    return {"role": "user", "content": [{"type": "text", "text": part} for part in asked]}


scenario = begin()
instrument("openinference.instrumentation.langchain", "LangChainInstrumentor")

asked, history = agent(scenario), []
for ask in scenario["asks"]:
    history.append(message(ask))
    if scenario.get("stream"):
        *_, last = asked.stream({"messages": history}, stream_mode="values")
        history = last["messages"]
    else:
        history = asked.invoke({"messages": history})["messages"]
    print(history[-1].content)
