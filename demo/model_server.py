"""A small fake model server: the OpenAI chat API, answered by rules instead of a model.

`python -m demo.model_server` listens on a free loopback port and prints `model: URL`. It plays the
model behind the support agent: it reads the whole conversation of each request, keeps nothing, and
decides by what it finds there, so that the same conversation always goes on in the same way.
"""

import json
import re
import signal
import sys
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType
from typing import Any, NamedTuple

PATH = "/v1/chat/completions"
MAX_BODY_BYTES = 4 * 1024 * 1024
CHARACTERS_PER_TOKEN = 4  # the usual rule of thumb; only the token counts in the traces use it


class ToolCall(NamedTuple):
    """One tool that the model asks for."""

    name: str
    arguments: dict[str, Any]


@dataclass
class Conversation:
    """What the model knows: the customer's request and every call so far with its result."""

    request: str
    calls: list[tuple[ToolCall, str]] = field(default_factory=list)

    def result_of(self, tool: str) -> Any:
        """Return the last result of a tool: JSON parsed, other text as is; None if not called."""
        for call, result in reversed(self.calls):
            if call.name == tool:
                return _parsed(result)
        return None


class Turn(NamedTuple):
    """What the model says next: tool calls, or a final text."""

    calls: list[ToolCall]
    text: str = ""


def read_conversation(messages: list[dict[str, Any]]) -> Conversation:
    """Return the conversation that the messages of a request hold."""
    user = [message for message in messages if message["role"] == "user"]
    conversation = Conversation(request=str(user[-1]["content"]) if user else "")
    asked: dict[str, ToolCall] = {}
    for message in messages:
        for call in message.get("tool_calls") or []:
            function = call["function"]
            asked[call["id"]] = ToolCall(function["name"], json.loads(function["arguments"]))
        if message["role"] == "tool":
            pair = (asked[message["tool_call_id"]], str(message["content"]))
            conversation.calls.append(pair)
    return conversation


def next_turn(conversation: Conversation) -> Turn:
    """Decide what to say: the rules of a support desk, with one habit of weak models.

    Customer c-11 gets a model that asks for a tool that nobody offered it.
    """
    found = re.search(r"c-\d+", conversation.request)
    if not found:
        return Turn([], "Which customer is this about?")
    customer = found.group()
    orders = conversation.result_of("search_orders")
    if orders is None:
        return Turn([ToolCall("search_orders", {"customer": customer})])
    if not orders:
        return Turn([], f"Customer {customer} has no orders.")
    if customer == "c-11":
        return Turn([ToolCall("cancel_order", {"order": orders[-1]["order"]})])
    return _settle(conversation, orders[-1])


def _settle(conversation: Conversation, order: dict[str, Any]) -> Turn:
    """Refund or open a ticket, as the policy says; then tell the customer."""
    number, amount = order["order"], order["amount"]
    policy = conversation.result_of("get_refund_policy")
    if policy is None:
        return Turn([ToolCall("get_refund_policy", {"order": number})])
    if not policy["refundable"]:
        return _escalate(conversation, order)
    receipt = conversation.result_of("issue_refund")
    if receipt is None:
        return Turn([ToolCall("issue_refund", {"order": number, "amount": amount})])
    if isinstance(receipt, str):  # an error text: the card was not good
        credit = {"order": number, "amount": amount, "method": "credit"}
        return Turn([ToolCall("issue_refund", credit)])
    return _tell(conversation, order, f"Refunded {amount:.2f} for order {number}.")


def _escalate(conversation: Conversation, order: dict[str, Any]) -> Turn:
    ticket = conversation.result_of("open_ticket")
    if ticket is None:
        reason = f"order is {order['days_ago']} days old"
        return Turn([ToolCall("open_ticket", {"order": order["order"], "reason": reason})])
    return _tell(conversation, order, f"Opened ticket {ticket['ticket']}: too late for a refund.")


def _tell(conversation: Conversation, order: dict[str, Any], text: str) -> Turn:
    if conversation.result_of("send_message") is None:
        return Turn([ToolCall("send_message", {"customer": order["customer"], "text": text})])
    return Turn([], text)


def completion(request: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a chat completion for the body of a request."""
    conversation = read_conversation(request["messages"])
    turn = next_turn(conversation)
    answered = len(conversation.calls)
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{answered + place}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for place, call in enumerate(turn.calls)
        ]
    finish_reason = "tool_calls" if turn.calls else "stop"
    return {
        "id": f"chatcmpl-{answered}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.get("model", "rules"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": _usage(request["messages"], message),
    }


def _usage(messages: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, int]:
    read = len(json.dumps(messages)) // CHARACTERS_PER_TOKEN
    written = len(json.dumps(answer)) // CHARACTERS_PER_TOKEN
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
    }


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


class Handler(BaseHTTPRequestHandler):
    """Answers `POST /v1/chat/completions`; everything else is refused as the real API does."""

    protocol_version = "HTTP/1.1"  # clients keep their connection

    def do_POST(self) -> None:
        """Answer one request."""
        length = int(self.headers.get("Content-Length", 0))
        if self.path != PATH or not 0 < length <= MAX_BODY_BYTES:
            self.close_connection = True  # the body was not read
            self._answer(404, {"error": {"message": f"only POST {PATH} is served here"}})
            return
        try:
            body = completion(json.loads(self.rfile.read(length)))
        except (KeyError, TypeError, ValueError) as error:
            self._answer(400, {"error": {"message": f"not understood: {error!r}"}})
            return
        self._answer(200, body)

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
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
    del number, frame  # any of the two signals means the same
    sys.exit(0)


if __name__ == "__main__":
    main()
