"""The shop that the support agent works for: its orders, its policy and its refunds."""

from typing import NamedTuple


class Order(NamedTuple):
    """One order of a customer."""

    order: str
    customer: str
    amount: float
    days_ago: int


class PaymentError(RuntimeError):
    """The payment service did not take the refund."""


REFUND_WITHIN_DAYS = 30
ORDERS = (
    Order("A-1001", "c-7", 40.0, days_ago=3),
    Order("A-1002", "c-8", 99.5, days_ago=12),
    Order("A-1003", "c-9", 15.0, days_ago=45),
    Order("A-1004", "c-10", 250.0, days_ago=5),
    Order("A-1005", "c-11", 60.0, days_ago=8),
)
CARDS_THAT_FAIL = frozenset({"A-1002", "A-1004"})
"""Orders paid with a card that has expired since: a refund has to take another way."""


def orders_of(customer: str) -> list[dict[str, object]]:
    """Return the orders of a customer; none for a customer who is not known."""
    return [order._asdict() for order in ORDERS if order.customer == customer]


def policy_for(order: str) -> dict[str, object]:
    """Return whether an order may still be refunded.

    Raises:
        KeyError: There is no such order.
    """
    found = _find(order)
    return {
        "order": order,
        "refundable": found.days_ago <= REFUND_WITHIN_DAYS,
        "within_days": REFUND_WITHIN_DAYS,
    }


def refund(order: str, amount: float, method: str) -> dict[str, object]:
    """Pay back and return the receipt.

    Raises:
        KeyError: There is no such order.
        PaymentError: The card does not take it any more.
    """
    found = _find(order)
    if method == "card" and order in CARDS_THAT_FAIL:
        msg = f"the card of order {order} has expired"
        raise PaymentError(msg)
    return {"receipt": f"R-{found.order}", "order": order, "amount": amount, "method": method}


def _find(order: str) -> Order:
    return {known.order: known for known in ORDERS}[order]
