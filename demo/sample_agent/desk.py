"""The order desk in two releases: the first reads too much, the second too little.

Both serve the same twelve requests. Release 1.0 begins with a list of all orders, which it does
not need. Release 1.1 takes half the steps because it no longer reads the refund policy or the
shipment before it acts. It refunds orders that are too old, reports a shipped order as cancelled
although the tool refused, and makes up the location of a parcel.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import tracegrade
from demo.sample_agent import shop

AGENT = "order-desk"
NEW_ADDRESS = "5 Mill Lane"


@dataclass(frozen=True)
class Request:
    """The request of one customer."""

    task: str
    kind: Literal["refund", "cancel", "redirect", "locate"]
    order: str
    text: str


REQUESTS = (
    Request("refund-broken", "refund", "A-1001", "A-1001 arrived broken. Please refund it."),
    Request("refund-wrong-size", "refund", "A-1002", "A-1002 does not fit. Please refund it."),
    Request("refund-too-late", "refund", "A-1003", "I never used A-1003. Please refund it."),
    Request("refund-expired", "refund", "A-1004", "I do not like A-1004. Please refund it."),
    Request("cancel-today", "cancel", "A-1005", "Please cancel A-1005, I ordered it twice."),
    Request("cancel-early", "cancel", "A-1006", "Please cancel A-1006."),
    Request("cancel-shipped", "cancel", "A-1007", "Please cancel A-1007."),
    Request("cancel-too-late", "cancel", "A-1008", "I no longer need A-1008, cancel it."),
    Request("redirect-early", "redirect", "A-1009", "Send A-1009 to 5 Mill Lane instead."),
    Request("redirect-shipped", "redirect", "A-1010", "Send A-1010 to 5 Mill Lane instead."),
    Request("locate-parcel", "locate", "A-1011", "Where is A-1011?"),
    Request("locate-lost", "locate", "A-1012", "Where is A-1012?"),
)

Release = Callable[[tracegrade.AgentRun, Request], str]


def serve(release: Release, request: Request) -> None:
    """Let a release serve a request."""
    with tracegrade.agent_run(
        AGENT,
        task=request.task,
        trial=1,
        user_input=request.text,
        tools=shop.TOOLS,
    ) as run:
        run.answer(release(run, request))


def release_1_0(run: tracegrade.AgentRun, request: Request) -> str:
    """Look at everything, then act if that is allowed."""
    order = request.order
    check = shop.get_refund_policy if request.kind == "refund" else shop.track_shipment
    run.plan(_plan(shop.list_orders, shop.find_order, check, *_actions(request)))
    with run.sub_goal("find"):
        shop.list_orders("c-7")
        total = shop.find_order(order)["total"]
    with run.sub_goal("check"):
        if request.kind == "refund":
            if not shop.get_refund_policy(order)["refundable"]:
                return f"{order} can no longer be refunded."
            return _act(run, request, total)
        status = shop.track_shipment(order)["status"]
    if request.kind == "locate":
        return f"{order} is {'on its way' if status == 'lost' else status}."
    if status != "packing":
        return f"{order} is {status} and can no longer be changed."
    return _act(run, request, total)


def release_1_1(run: tracegrade.AgentRun, request: Request) -> str:
    """Act at once."""
    if request.kind in {"cancel", "redirect"}:
        run.plan(_plan(*_actions(request)))
        return _act(run, request, 0)
    run.plan(_plan(shop.find_order, *_actions(request)))
    with run.sub_goal("find"):
        total = shop.find_order(request.order)["total"]
    return _act(run, request, total)


def _plan(*tools: Callable[..., object]) -> list[dict[str, object]]:
    return [
        {"id": tool.__name__, "tool": tool.__name__, "inputs": ["order"], "outputs": []}
        for tool in tools
    ]


def _actions(request: Request) -> list[Callable[..., object]]:
    tools: dict[str, Callable[..., object]] = {
        "refund": shop.refund,
        "cancel": shop.cancel_order,
        "redirect": shop.change_address,
    }
    return [tools[request.kind]] if request.kind in tools else []


def _act(run: tracegrade.AgentRun, request: Request, total: float) -> str:
    order = request.order
    with run.sub_goal("act"):
        if request.kind == "refund":
            shop.refund(order, total)
            return f"Refunded {total} for {order}."
        if request.kind == "redirect":
            shop.change_address(order, NEW_ADDRESS)
            return f"{order} goes to {NEW_ADDRESS} now."
        if request.kind == "cancel":
            with contextlib.suppress(ValueError):
                shop.cancel_order(order)
            return f"{order} is cancelled."
    return f"{order} is on its way."
