"""The scenarios on LangGraph's agent."""

from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    HELPER_KNOWS,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    begin,
    instrument,
    model_url,
)


@wrap_tool_call
def told_of_errors(request: Any, run: Any) -> Any:
    """Tell the model of the error of a tool, which else ends the run."""
    try:
        return run(request)
    except ValueError as error:
        call = request.tool_call
        return ToolMessage(f"Error: {error}", tool_call_id=call["id"], status="error")


def agent(scenario: dict[str, Any], name: str, helpers: list[Any]) -> Any:
    """Return an agent of the scenario."""
    model = ChatOpenAI(
        model="fake-model", base_url=model_url(scenario, name), api_key=API_KEY, stream_usage=True
    )
    return create_agent(
        model,
        [*TOOLS, *helpers],
        system_prompt=PROMPT,
        name=name,
        middleware=[told_of_errors],
    )


def with_helper(scenario: dict[str, Any]) -> Any:
    """Return what is asked: an agent, with a helper as its tool or as the next in a graph."""
    if HELPER not in scenario["scripts"]:
        return agent(scenario, AGENT, [])
    helper = agent(scenario, HELPER, [])
    if scenario["name"] == "hand_off":
        graph = StateGraph(MessagesState)
        graph.add_node(AGENT, agent(scenario, AGENT, [transfer_to_weather_helper]))
        graph.add_node(HELPER, helper)
        graph.add_edge(START, AGENT)
        return graph.compile(name="team")

    @tool(HELPER, description=HELPER_KNOWS)
    def ask(task: str) -> str:
        return helper.invoke({"messages": [("user", task)]})["messages"][-1].content

    return agent(scenario, AGENT, [ask])


@tool
def transfer_to_weather_helper(call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Hand over to the helper."""
    told = ToolMessage("Transferred.", tool_call_id=call_id)
    return Command(goto=HELPER, graph=Command.PARENT, update={"messages": [told]})


def message(asked: str | list[str]) -> dict[str, Any]:
    """Return a message of the user, in parts if it has several."""
    if isinstance(asked, str):
        return {"role": "user", "content": asked}
    return {"role": "user", "content": [{"type": "text", "text": part} for part in asked]}


scenario = begin()
if INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.langchain", "LangChainInstrumentor")
elif INSTRUMENTATION == "otel":
    instrument("opentelemetry.instrumentation.genai.langchain", "LangChainInstrumentor")
elif INSTRUMENTATION == "traceloop":
    instrument("opentelemetry.instrumentation.langchain", "LangchainInstrumentor")
# LangSmith is part of LangChain; its variables turn it on.

asked, history = with_helper(scenario), []
for ask in scenario["asks"]:
    history.append(message(ask))
    if scenario.get("stream"):
        *_, last = asked.stream({"messages": history}, stream_mode="values")
        history = last["messages"]
    else:
        history = asked.invoke({"messages": history})["messages"]
    print(history[-1].content)

if INSTRUMENTATION == "langsmith":  # its spans are made in a thread of its own
    from langchain_core.tracers.langchain import wait_for_all_tracers

    wait_for_all_tracers()
