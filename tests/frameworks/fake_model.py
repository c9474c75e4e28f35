"""A fake model: OpenAI's two APIs, Anthropic's and Gemini's on loopback, from a script.

Each is plain and streamed; those of OpenAI stand here, others in modules of their own.

The path says which script, and ends with the name of the API:

- `/orders/v1/…` looks an order up, as the quickstarts ask;
- `/TOOL/v1/…` thinks and requests the tool, and answers once it has seen what became of that;
- `/RUN/SCENARIO/AGENT/FORM/v1/…` says the turns of the agent in the scenario, one for each request
  of the run. The form is `calls`, for agents that write code `tags` or `fences`, and for those of
  DSPy `headings`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from . import fake_gemini
from .fake_messages import message, message_events
from .fake_orders import turn_of_order
from .model_turn import Turn, words

THOUGHTS = ("I should look this up.", "I have the answer now.")
ARGUMENTS = json.dumps({"city": "Paris"})
ANSWER = "It is 22C in Paris."
# What smolagents tells a model of a call that failed.
RETRY = "Now let's retry: take care not to repeat previous errors!"
# What smolagents calls its answer tool: its agents end in no other way.
ANSWER_TOOL = "final_answer"

Json = dict[str, Any]
SCENARIOS: dict[str, Json] = {
    scenario["name"]: scenario
    for scenario in json.loads((Path(__file__).parent / "scenarios.json").read_text("utf-8"))
}
HAND_OVER = "transfer_to_"
# How DSPy's agents are answered: what they request, and again what they asked for.
HEADINGS = "headings"
CODE = {"tags": "<code>\n{}\n</code>", "fences": "```python\n{}\n```"}


def turn_of_weather(request: Json, tool: str) -> Turn:
    """Return what the model of the one weather agent says."""
    # smolagents forgets a call that failed, not its error
    history = json.dumps(request.get("messages", request.get("input")))
    marks = ('"role": "assistant"', '"function_call_output"', RETRY)
    if not any(mark in history for mark in marks):
        return Turn("1", THOUGHTS[0], None, [(tool, ARGUMENTS)])
    return _answer("2", THOUGHTS[1], ANSWER, request)


def turn_of_scenario(request: Json, said: Json, name: str, form: str) -> Turn:
    """Return one turn of a scenario as the framework of the request can read it."""
    thought = said.get("thought")
    if form in CODE and "plan" not in said and "text" not in said:
        return Turn(name, None, f"Thought: {thought}\n{CODE[form].format(_code(said))}", [])
    if form == HEADINGS:
        return Turn(name, None, _under_headings(request, said), [])
    if "answer" in said:
        return _answer(name, thought, said["answer"], request)
    calls = [
        (tool, json.dumps(arguments))
        for tool, arguments in (_as_offered(request, *call) for call in said.get("calls", []))
    ]
    return Turn(name, thought, said.get("plan", said.get("text")), calls)


def _under_headings(request: Json, said: Json) -> str:
    """Return what an agent of DSPy reads: a call, `finish` for none, or its answer."""
    if not _asks_for_call(request):
        last = said.get("text")  # else it has thought already
        fields = {
            "reasoning": said["thought"] if last else "So I answer.",
            "answer": last or said["answer"],
        }
    else:
        ((tool, arguments),) = said.get("calls", [("finish", {})])
        fields = {
            "next_thought": said["thought"],
            "next_tool_name": tool,
            "next_tool_args": json.dumps(arguments),
        }
    told = [f"[[ ## {name} ## ]]\n{text}" for name, text in fields.items()]
    return "\n\n".join([*told, "[[ ## completed ## ]]"])


def _asks_for_call(request: Json) -> bool:
    """Return whether an agent of DSPy asks what to call next, not for its answer."""
    return "next_tool_name" in request["messages"][0]["content"]


def _as_offered(request: Json, tool: str, arguments: Json) -> tuple[str, Json]:
    """Return a call as a framework offers it.

    It may name the only argument itself, may have one tool for all hand-overs, and may put the
    name of its MCP server before that of a tool.
    """
    offered = {each["name"]: each for each in map(_function, request.get("tools", []))}
    servers = [found for each in offered for found in re.findall("^mcp__[a-z]+__", each)]
    tool = servers[0] + tool if servers else tool
    if tool.startswith(HAND_OVER) and tool not in offered:
        return _hand_over(offered, tool, arguments)
    if tool not in offered:
        tool, arguments = _as_deep_agent(offered, tool, arguments)
    function = offered.get(tool, {})
    schema = function.get("parameters") or function.get("input_schema", {})
    names = list(schema.get("required") or schema.get("properties", {}))
    if len(names) == len(arguments) == 1:
        return tool, dict(zip(names, arguments.values(), strict=True))
    return tool, arguments


def _as_deep_agent(offered: Json, tool: str, arguments: Json) -> tuple[str, Json]:
    """Return a call of a helper, or of the plan tool, as Deep Agents offers it."""
    if "task" in offered and tool.endswith("_helper"):
        return "task", {"description": arguments["task"], "subagent_type": tool}
    if "write_todos" in offered and tool == "update_plan":
        todos = [{"content": it["step"], "status": it["status"]} for it in arguments["plan"]]
        return "write_todos", {"todos": todos}
    return tool, arguments


def _hand_over(offered: Json, tool: str, arguments: Json) -> tuple[str, Json]:
    """Return a hand-over with the tool that is there for it."""
    target = tool.removeprefix(HAND_OVER)
    if f"{HAND_OVER}agent" in offered:
        return f"{HAND_OVER}agent", {"agent_name": target}
    if "handoff" in offered:
        return "handoff", {"to_agent": target, "reason": "It knows."}
    return next((each for each in offered if each.endswith(f"_to_{target}")), tool), arguments


def _function(offered: Json) -> Json:
    """Return a tool's name and parameters, which some APIs wrap."""
    function: Json = offered.get("function", offered)
    return function


def _as_answered(request: Json, turn: Turn) -> Turn:
    """Return a turn with the names of the tools that a framework offers, its answer as a call."""
    if turn.text is not None:
        return _answer(turn.name, turn.thought, turn.text, request)
    calls = [
        (offered, json.dumps(named))
        for tool, arguments in turn.calls
        for offered, named in [_as_offered(request, tool, json.loads(arguments))]
    ]
    return turn._replace(calls=calls)


def _answer(name: str, thought: str | None, answer: str, request: Json) -> Turn:
    if ANSWER_TOOL in json.dumps(request.get("tools", [])):
        return Turn(name, thought, None, [(ANSWER_TOOL, json.dumps({"answer": answer}))])
    return Turn(name, thought, answer, [])


def _code(said: Json) -> str:
    if "answer" in said:
        return f"{ANSWER_TOOL}({said['answer']!r})"
    calls = [
        f"print({tool}({', '.join(f'{name}={value!r}' for name, value in arguments.items())}))"
        for tool, arguments in said.get("calls", [])
    ]
    return str(said.get("code", "\n".join(calls)))


def chat_completion(request: Json, turn: Turn) -> Json:
    """Return the body of an answer of the Chat Completions API."""
    message: Json = {"role": "assistant", "content": turn.text}
    if turn.thought:
        message["reasoning_content"] = turn.thought
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": turn.call_id(place),
                "type": "function",
                "function": {"name": tool, "arguments": arguments},
            }
            for place, (tool, arguments) in enumerate(turn.calls)
        ]
    reason = "tool_calls" if turn.calls else "stop"
    return {
        "id": f"chatcmpl-{turn.name}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60},
    }


def chunks(request: Json, completion: Json) -> Iterator[Json]:
    """Yield an answer of the Chat Completions API in the pieces of a stream.

    Tokens are included on request, as OpenAI does.
    """
    message = completion["choices"][0]["message"]
    deltas: list[Json] = [{"role": "assistant"}]
    if "reasoning_content" in message:
        deltas.append({"reasoning_content": message["reasoning_content"]})
    if message["content"]:
        deltas += [{"content": word} for word in words(message["content"])]
    if "tool_calls" in message:
        calls = enumerate(message["tool_calls"])
        deltas.append({"tool_calls": [{"index": index, **call} for index, call in calls]})
    common = {**completion, "object": "chat.completion.chunk", "usage": None}
    for delta in deltas:
        yield {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = completion["choices"][0]["finish_reason"]
    yield {**common, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**common, "choices": [], "usage": completion["usage"]}


def response(request: Json, turn: Turn) -> Json:
    """Return the body of an answer of the Responses API."""
    return {
        "id": f"resp_{turn.name}",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed",
        "model": request["model"],
        "output": _output_items(turn),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": request.get("tools", []),
        "usage": {
            "input_tokens": 50,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": 60,
        },
    }


def _output_items(turn: Turn) -> list[Json]:
    items: list[Json] = []
    if turn.thought:
        summary = [{"type": "summary_text", "text": turn.thought}]
        items.append({"type": "reasoning", "id": f"rs_{turn.name}", "summary": summary})
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        said = {"type": "message", "id": f"msg_{turn.name}", "role": "assistant"}
        items.append({**said, "content": content, "status": "completed"})
    items += [
        {
            "type": "function_call",
            "id": f"fc_{turn.name}_{place}",
            "call_id": turn.call_id(place),
            "name": tool,
            "arguments": arguments,
            "status": "completed",
        }
        for place, (tool, arguments) in enumerate(turn.calls)
    ]
    return items


def response_events(answer: Json) -> Iterator[Json]:
    """Yield an answer of the Responses API in the events of a stream."""
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    events: list[Json] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(answer["output"]):
        place: Json = {"output_index": index}
        events.append({"type": "response.output_item.added", **place, "item": item})
        if item["type"] == "message":
            place |= {"item_id": item["id"], "content_index": 0, "logprobs": []}
            events += [
                {"type": "response.output_text.delta", **place, "delta": word}
                for word in words(item["content"][0]["text"])
            ]
        done = {"output_index": index, "item": item}
        events.append({"type": "response.output_item.done", **done})
    events.append({"type": "response.completed", "response": answer})
    for number, event in enumerate(events):
        yield {**event, "sequence_number": number}


def _event(event: Json) -> str:
    """Return an event of a stream as it is sent; those of chunks have no name."""
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


# How often each agent of a run was asked: a framework makes one request after the other.
REQUESTS: Counter[tuple[str, str, str]] = Counter()


class Handler(BaseHTTPRequestHandler):
    """Answers a `POST` to any of the APIs."""

    protocol_version = "HTTP/1.1"  # clients keep their connection

    def do_POST(self) -> None:
        """Answer one request, as a stream if it asks for one."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if fake_gemini.is_gemini(self.path):
            self._answer_as_gemini(request)
            return
        answer, events, end = self._said(request, self._turn(request))
        if request.get("stream"):
            self._answer("text/event-stream", "".join(map(_event, events)) + end)
        else:
            self._answer("application/json", json.dumps(answer))

    def _said(self, request: Json, turn: Turn) -> tuple[Json, Iterator[Json], str]:
        """Return an answer of the API that is asked, the events of its stream, and their end."""
        if self.path.endswith("/responses"):
            answer = response(request, turn)
            return answer, response_events(answer), ""
        if self.path.partition("?")[0].endswith("/messages"):
            answer = message(request, turn)
            return answer, message_events(answer), ""
        answer = chat_completion(request, turn)
        return answer, chunks(request, answer), "data: [DONE]\n\n"

    def _answer_as_gemini(self, request: Json) -> None:
        answer = fake_gemini.generated(self._turn(fake_gemini.as_offered(request)))
        if fake_gemini.streams(self.path):
            pieces = [f"data: {json.dumps(each)}\n\n" for each in fake_gemini.chunks(answer)]
            self._answer("text/event-stream", "".join(pieces))
        else:
            self._answer("application/json", json.dumps(answer))

    def _turn(self, request: Json) -> Turn:
        first, *others = self.path.strip("/").split("/")
        if first == "orders":
            return _as_answered(request, turn_of_order(request))
        if others[0] == "v1":
            return turn_of_weather(request, first)
        scenario, agent, form = others[:3]
        script = SCENARIOS[scenario]["scripts"][agent]
        number = REQUESTS[first, scenario, agent]
        answers_again = form == HEADINGS and not _asks_for_call(request)
        if not (answers_again and "answer" in script[number - 1]):
            number += 1
        REQUESTS[first, scenario, agent] = number
        said = script[min(number, len(script)) - 1]
        return turn_of_scenario(request, said, f"{agent[0]}{number}", form)

    def _answer(self, content_type: str, body: str) -> None:
        data = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing: requests are seen in the traces."""


@contextmanager
def serving() -> Iterator[str]:
    """Serve the model during the block, which gets the server's address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
