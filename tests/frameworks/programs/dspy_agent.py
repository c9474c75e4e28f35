"""The scenarios on DSPy's ReAct, whose model answers in text under headings."""

from typing import Any

import dspy
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    begin,
    instrument,
    model_url,
    question,
)


class Asked(dspy.Signature):
    """You help travellers."""

    history: dspy.History = dspy.InputField()
    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


def agent(scenario: dict[str, Any], name: str) -> dspy.ReAct:
    """Return an agent of the scenario, with its helper as a tool if it has one."""
    tools: list[Any] = [*TOOLS]
    if name == AGENT and HELPER in scenario["scripts"]:
        helper = agent(scenario, HELPER)

        def weather_helper(task: str) -> str:
            """Ask the helper, who knows the weather."""
            return helper(question=task, history=dspy.History(messages=[])).answer

        tools.append(weather_helper)
    made = dspy.ReAct(Asked, tools, max_iters=scenario.get("max_steps", 6))
    url = model_url(scenario, name, "headings")
    made.set_lm(dspy.LM("openai/fake-model", api_base=url, api_key=API_KEY, cache=False))
    return made


def streamed(asked: dspy.ReAct, **given: Any) -> dspy.Prediction:
    """Return what an agent answers, word by word."""
    listener = dspy.streaming.StreamListener(signature_field_name="answer")
    for each in dspy.streamify(asked, stream_listeners=[listener], async_streaming=False)(**given):
        if isinstance(each, dspy.Prediction):
            said = each
    return said


assert Asked.instructions == PROMPT
scenario = begin()
if INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.dspy", "DSPyInstrumentor")
else:
    instrument("opentelemetry.instrumentation.genai.dspy", "DSPyInstrumentor")

asked, history = agent(scenario, AGENT), []
for ask in scenario["asks"]:
    given = {"question": question(ask), "history": dspy.History(messages=[*history])}
    said = streamed(asked, **given) if scenario.get("stream") else asked(**given)
    print(said.answer)
    history.append({"question": question(ask), "answer": said.answer})
