"""Writes down what an AI agent does, as OpenTelemetry spans.

    import tracegrade
    tracegrade.init(service="support", release="1.4.2")

    @tracegrade.tool(effect="read", cost=1)
    def search_orders(customer: str) -> list[dict]: ...

    with tracegrade.agent_run("support", task="refund-order", trial=1, user_input="...") as run:
        run.thought("The customer wants ...")
        orders = search_orders("c-7")
        run.answer("Refunded.")

It never harms its host: what fails in here is caught, counted (`failures`) and logged once.

What it exports is loaded at its first use, so that the `tracegrade` command and the collector's
processes, which are packages above this one, do without OpenTelemetry's SDK.
"""

from typing import TYPE_CHECKING

from tracegrade.first_use import at_first_use

if TYPE_CHECKING:
    from tracegrade.agent import AgentRun, agent_run
    from tracegrade.current import answer, decision, observe, plan, sub_goal, thought
    from tracegrade.guard import failures
    from tracegrade.provider import flush, init
    from tracegrade.tools import tool

__all__ = [
    "AgentRun",
    "agent_run",
    "answer",
    "decision",
    "failures",
    "flush",
    "init",
    "observe",
    "plan",
    "sub_goal",
    "thought",
    "tool",
]

__getattr__ = at_first_use(
    __name__,
    {
        "agent": ("AgentRun", "agent_run"),
        "current": ("answer", "decision", "observe", "plan", "sub_goal", "thought"),
        "guard": ("failures",),
        "provider": ("flush", "init"),
        "tools": ("tool",),
    },
)
