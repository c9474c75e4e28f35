"""The data of the order desk: orders, and the tools that read and change them."""

from collections.abc import Callable
from typing import Any

import tracegrade

ORDERS: dict[str, dict[str, Any]] = {
    "A-1001": {"status": "delivered", "days_ago": 6, "total": 40},
    "A-1002": {"status": "delivered", "days_ago": 12, "total": 25},
    "A-1003": {"status": "delivered", "days_ago": 75, "total": 65},
    "A-1004": {"status": "delivered", "days_ago": 48, "total": 90},
    "A-1005": {"status": "packing", "days_ago": 1, "total": 18},
    "A-1006": {"status": "packing", "days_ago": 1, "total": 33},
    "A-1007": {"status": "shipped", "days_ago": 3, "total": 120},
    "A-1008": {"status": "shipped", "days_ago": 2, "total": 15},
    "A-1009": {"status": "packing", "days_ago": 2, "total": 55},
    "A-1010": {"status": "shipped", "days_ago": 4, "total": 31},
    "A-1011": {"status": "held at customs", "days_ago": 9, "total": 210},
    "A-1012": {"status": "lost", "days_ago": 21, "total": 47},
}
"""By number; never changed, so that each run finds the same."""


@tracegrade.tool(effect="read", cost=5)
def list_orders(customer: str) -> list[str]:
    """Return the numbers of all orders of a customer."""
    return sorted(ORDERS) if customer else []


@tracegrade.tool(effect="read", cost=1)
def find_order(order: str) -> dict[str, Any]:
    """Return one order."""
    found = ORDERS[order]
    return {"order": order, "total": found["total"], "days_ago": found["days_ago"]}


@tracegrade.tool(effect="read", cost=1)
def get_refund_policy(order: str) -> dict[str, Any]:
    """Return whether an order may still be refunded."""
    return {"order": order, "refundable": ORDERS[order]["days_ago"] <= 30}


@tracegrade.tool(effect="read", cost=1)
def track_shipment(order: str) -> dict[str, str]:
    """Return where an order is."""
    return {"order": order, "status": ORDERS[order]["status"]}


@tracegrade.tool(effect="write", cost=10)
def refund(order: str, amount: float) -> dict[str, Any]:
    """Pay an order back."""
    return {"order": order, "refunded": amount}


@tracegrade.tool(effect="write", cost=10)
def cancel_order(order: str) -> dict[str, str]:
    """Cancel an order, or fail if it has been shipped."""
    if (status := ORDERS[order]["status"]) != "packing":
        message = f"order {order} is {status}; it cannot be cancelled"
        raise ValueError(message)
    return {"order": order, "status": "cancelled"}


@tracegrade.tool(effect="write", cost=5)
def change_address(order: str, address: str) -> dict[str, str]:
    """Send an order elsewhere."""
    return {"order": order, "address": address}


TOOLS: list[Callable[..., object]] = [
    list_orders,
    find_order,
    get_refund_policy,
    track_shipment,
    refund,
    cancel_order,
    change_address,
]
