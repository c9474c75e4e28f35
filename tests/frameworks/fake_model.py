"""A fake model: OpenAI's two APIs on loopback, plain and streamed, answered from a script.

It thinks and requests the tool that the first part of the path names, and answers once it has
seen what became of that.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

THOUGHTS = ("I should look this up.", "I have the answer now.")
ARGUMENTS = json.dumps({"city": "Paris"})
ANSWER = "It is 22C in Paris."
# What smolagents calls its answer tool: its agents end in no other way.
ANSWER_TOOL = "final_answer"

Json = dict[str, Any]


def chat_completion(request: Json, tool: str) -> Json:
    """Return the body of an answer of the Chat Completions API."""
    history = json.dumps(
        request["messages"]
    )  # smolagents forgets a call that failed, not its error
    seen = '"role": "assistant"' in history or "let's retry" in history
    message: Json = {"role": "assistant", "content": None, "reasoning_content": THOUGHTS[seen]}
    if not seen:
        message["tool_calls"] = [_chat_call("call_1", tool, ARGUMENTS)]
    elif ANSWER_TOOL in json.dumps(request.get("tools", [])):
        answer = json.dumps({"answer": ANSWER})
        message["tool_calls"] = [_chat_call("call_2", ANSWER_TOOL, answer)]
    else:
        message["content"] = ANSWER
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60},
    }


def _chat_call(call_id: str, tool: str, arguments: str) -> Json:
    function = {"name": tool, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def chunks(completion: Json) -> Iterator[Json]:
    """Yield an answer of the Chat Completions API in the pieces of a stream."""
    message = completion["choices"][0]["message"]
    deltas = [{"role": "assistant"}, {"reasoning_content": message["reasoning_content"]}]
    if message["content"]:
        deltas += [{"content": word + " "} for word in message["content"].split()[:-1]]
        deltas.append({"content": message["content"].split()[-1]})
    if "tool_calls" in message:
        calls = enumerate(message["tool_calls"])
        deltas.append({"tool_calls": [{"index": index, **call} for index, call in calls]})
    common = {**completion, "object": "chat.completion.chunk", "usage": None}
    for delta in deltas:
        yield {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = completion["choices"][0]["finish_reason"]
    yield {**common, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield {**common, "choices": [], "usage": completion["usage"]}


def response(request: Json, tool: str) -> Json:
    """Return the body of an answer of the Responses API."""
    seen = any(item.get("type") == "function_call_output" for item in request["input"])
    summary = [{"type": "summary_text", "text": THOUGHTS[seen]}]
    said: Json = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": tool,
        "arguments": ARGUMENTS,
        "status": "completed",
    }
    if seen:
        content = [{"type": "output_text", "text": ANSWER, "annotations": []}]
        said = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
        said["status"] = "completed"
    return {
        "id": f"resp_{int(seen)}",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed",
        "model": request["model"],
        "output": [{"type": "reasoning", "id": f"rs_{int(seen)}", "summary": summary}, said],
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


class Handler(BaseHTTPRequestHandler):
    """Answers a `POST` to either API."""

    protocol_version = "HTTP/1.1"  # clients keep their connection

    def do_POST(self) -> None:
        """Answer one request, as a stream if it asks for one."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tool = self.path.split("/")[1]
        if self.path.endswith("/responses"):
            self._answer("application/json", json.dumps(response(request, tool)))
            return
        completion = chat_completion(request, tool)
        if request.get("stream"):
            events = [*map(json.dumps, chunks(completion)), "[DONE]"]
            self._answer("text/event-stream", "".join(f"data: {event}\n\n" for event in events))
        else:
            self._answer("application/json", json.dumps(completion))

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
