"""The weather agent on LangGraph."""

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from weather import (
    API_KEY,
    INSTRUMENTATION,
    QUESTION,
    SYSTEM_PROMPT,
    export,
    get_weather,
    model_url,
)

export()
if INSTRUMENTATION == "openinference":
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument()
elif INSTRUMENTATION == "otel":
    from opentelemetry.instrumentation.genai.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument()
elif INSTRUMENTATION == "traceloop":
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor

    LangchainInstrumentor().instrument()
# LangSmith is part of LangChain; its variables turn it on.

agent = create_agent(
    ChatOpenAI(model="fake-model", base_url=model_url(), api_key=API_KEY),
    [get_weather],
    system_prompt=SYSTEM_PROMPT,
    name="weather_agent",
)
try:
    print(agent.invoke({"messages": [("user", QUESTION)]})["messages"][-1].content)
except ValueError as error:  # a tool's error ends the run
    print(error)

if INSTRUMENTATION == "langsmith":  # its spans are made in a thread of its own
    from langchain_core.tracers.langchain import wait_for_all_tracers

    wait_for_all_tracers()
