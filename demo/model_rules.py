"""The rules of a support desk that the fake model follows.

It reads the whole conversation of each request and keeps no state, so that the same conversation
always continues in the same way.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class ToolCall(NamedTuple):
    """One tool that the model asks for."""

    name: str
    arguments: dict[str, Any]


class Turn(NamedTuple):
    """The model's next output: a tool call, or a final text without one."""

    thought: str
    call: ToolCall | None = None
    text: str = ""


@dataclass
class Conversation:
    """The model's input: the customer's request, and every call so far with its result."""

    request: str = ""
    calls: list[tuple[ToolCall, str]] = field(default_factory=list)

    def result_of(self, tool: str) -> Any:
        """Return a tool's last result: JSON parsed, other text as is; None if not called."""
        for call, result in reversed(self.calls):
            if call.name == tool:
                return _parsed(result)
        return None


def next_turn(conversation: Conversation) -> Turn:
    """Choose the next output: find the order, then settle it.

    Customer c-11 gets a weak model: it requests a tool that it was not offered, and continues only
    if it gets a reply.
    """
    found = re.search(r"c-\d+", conversation.request)
    if not found:
        return Turn("Nobody is named.", text="Which customer is this about?")
    customer = found.group()
    orders = conversation.result_of("search_orders")
    if orders is None:
        call = ToolCall("search_orders", {"customer": customer})
        return Turn(f"I need the orders of {customer} first.", call)
    if not orders:
        return Turn("There is nothing to refund.", text=f"Customer {customer} has no orders.")
    if customer == "c-11" and conversation.result_of("cancel_order") is None:
        call = ToolCall("cancel_order", {"order": orders[-1]["order"]})
        return Turn("Cancelling the order is quicker than a refund.", call)
    return _settle(conversation, orders[-1])


def _settle(conversation: Conversation, order: dict[str, Any]) -> Turn:
    """Refund the order or open a ticket, according to the policy."""
    policy = conversation.result_of("get_refund_policy")
    if policy is None:
        call = ToolCall("get_refund_policy", {"order": order["order"]})
        return Turn("Before I refund anything I check the policy.", call)
    return _refund(conversation, order) if policy["refundable"] else _escalate(conversation, order)


def _refund(conversation: Conversation, order: dict[str, Any]) -> Turn:
    number, amount = order["order"], order["amount"]
    receipt = conversation.result_of("issue_refund")
    if receipt is None:
        card = {"order": number, "amount": amount, "method": "card"}
        return Turn("The policy allows it: back to the card.", ToolCall("issue_refund", card))
    if isinstance(receipt, str):  # an error text instead of a receipt
        credit = {"order": number, "amount": amount, "method": "credit"}
        return Turn(
            "The card did not take it; store credit will.", ToolCall("issue_refund", credit)
        )
    return _tell(conversation, order, f"Refunded {amount:.2f} for order {number}.")


def _escalate(conversation: Conversation, order: dict[str, Any]) -> Turn:
    ticket = conversation.result_of("open_ticket")
    if ticket is None:
        reason = f"order is {order['days_ago']} days old"
        call = ToolCall("open_ticket", {"order": order["order"], "reason": reason})
        return Turn("Too late for a refund; a person has to decide.", call)
    return _tell(conversation, order, f"Opened ticket {ticket['ticket']}: too late for a refund.")


def _tell(conversation: Conversation, order: dict[str, Any], text: str) -> Turn:
    if conversation.result_of("send_message") is None:
        call = ToolCall("send_message", {"customer": order["customer"], "text": text})
        return Turn("The customer should hear about it.", call)
    return Turn("The request is done.", text=text)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
