"""A small fake model server: OpenAI's two APIs on loopback, answered by rules instead of a model.

`python -m demo.model_server` listens on a free port and prints `model: URL`. It speaks
`/v1/responses`, which the Agents SDK uses, and `/v1/chat/completions`; neither streams.
"""

import json
import signal
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType
from typing import Any

from demo.model_rules import Conversation, ToolCall, Turn, next_turn

MAX_BODY_BYTES = 4 * 1024 * 1024
CHARACTERS_PER_TOKEN = 4  # the usual rule of thumb; only the token counts in the traces use it

Json = dict[str, Any]


def responses(request: Json) -> Json:
    """Return the body of an answer of the Responses API."""
    conversation = Conversation()
    calls_by_request: dict[str, ToolCall] = {}
    for item in request["input"]:
        if item.get("role") == "user":
            conversation.request = str(item["content"])
        elif item.get("type") == "function_call":
            calls_by_request[item["call_id"]] = ToolCall(
                item["name"], json.loads(item["arguments"])
            )
        elif item.get("type") == "function_call_output":
            conversation.calls.append((calls_by_request[item["call_id"]], str(item["output"])))
    turn, number = next_turn(conversation), len(conversation.calls)
    output = [_reasoning_item(turn, number), _output_item(turn, number)]
    read, written = _tokens(request["input"]), _tokens(output)
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": request["model"],
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": request.get("tools", []),
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": _tokens(output[0])},
            "total_tokens": read + written,
        },
    }


def _reasoning_item(turn: Turn, number: int) -> Json:
    summary = [{"type": "summary_text", "text": turn.thought}]
    return {"type": "reasoning", "id": f"rs_{number}", "summary": summary}


def _output_item(turn: Turn, number: int) -> Json:
    if turn.call:
        return {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": turn.call.name,
            "arguments": json.dumps(turn.call.arguments),
            "status": "completed",
        }
    return {
        "type": "message",
        "id": f"msg_{number}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": turn.text, "annotations": []}],
    }


def chat_completions(request: Json) -> Json:
    """Return the body of an answer of the Chat Completions API."""
    conversation = Conversation()
    calls_by_request: dict[str, ToolCall] = {}
    for message in request["messages"]:
        if message["role"] == "user":
            conversation.request = str(message["content"])
        for call in message.get("tool_calls") or []:
            function = call["function"]
            calls_by_request[call["id"]] = ToolCall(
                function["name"], json.loads(function["arguments"])
            )
        if message["role"] == "tool":
            conversation.calls.append(
                (calls_by_request[message["tool_call_id"]], str(message["content"]))
            )
    turn, number = next_turn(conversation), len(conversation.calls)
    message = _chat_message(turn, number)
    read, written = _tokens(request["messages"]), _tokens(message)
    finish_reason = "tool_calls" if turn.call else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def _chat_message(turn: Turn, number: int) -> Json:
    message: Json = {"role": "assistant", "content": turn.text or None}
    if turn.call:
        function = {"name": turn.call.name, "arguments": json.dumps(turn.call.arguments)}
        message["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": function}
        ]
    return message


def _tokens(content: object) -> int:
    return len(json.dumps(content)) // CHARACTERS_PER_TOKEN


APIS: dict[str, Callable[[Json], Json]] = {
    "/v1/responses": responses,
    "/v1/chat/completions": chat_completions,
}


class Handler(BaseHTTPRequestHandler):
    """Answers a `POST` to either API; refuses everything else like the real APIs."""

    protocol_version = "HTTP/1.1"  # clients keep their connection

    def do_POST(self) -> None:
        """Answer one request."""
        length = int(self.headers.get("Content-Length", 0))
        api = APIS.get(self.path)
        if api is None or not 0 < length <= MAX_BODY_BYTES:
            self.close_connection = True  # the body was not read
            self._answer(404, {"error": {"message": f"served here: POST {', '.join(APIS)}"}})
            return
        try:
            body = api(json.loads(self.rfile.read(length)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            self._answer(400, {"error": {"message": f"not understood: {error!r}"}})
            return
        self._answer(200, body)

    def _answer(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing: requests are seen in the traces."""


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)
    print(f"model: http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


def _exit(number: int, frame: FrameType | None) -> None:
    del number, frame  # either signal means the same
    sys.exit(0)


if __name__ == "__main__":
    main()
