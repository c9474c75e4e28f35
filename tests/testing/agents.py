"""A small agent of an order desk, written with tracegrade's own instrumentation."""

import tracegrade

TASKS = """
version: 1
tools:
  search_orders: {effect: read}
  issue_refund: {effect: destructive}
tasks:
  refund-order:
    expected:
      - {decision: find, tool: search_orders, arguments: {customer: c-7}}
      - {decision: pay, tool: issue_refund, arguments: {order: o-1}}
    expected_complete: true
    optimal_steps: 2
    success: {tool: issue_refund, status: ok}
"""


@tracegrade.tool(effect="read")
def search_orders(customer: str) -> list[str]:
    """Return the orders of a customer."""
    return ["o-1"] if customer == "c-7" else []


@tracegrade.tool(effect="destructive")
def issue_refund(order: str) -> str:
    """Refund an order."""
    return f"refunded {order}"


def refund(order: str = "o-1", *, customer: str = "c-7", name: str = "desk") -> None:
    """Find the orders of a customer, and refund one."""
    with tracegrade.agent_run(name, user_input=f"refund {customer}") as run:
        search_orders(customer)
        issue_refund(order)
        run.answer("Refunded.")
