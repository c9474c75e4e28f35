"""Records an AI agent's run as OpenTelemetry spans.

    import tracegrade
    tracegrade.init(service="support", release="1.4.2")

    @tracegrade.tool(effect="read", cost=1)
    def search_orders(customer: str) -> list[dict]: ...

    with tracegrade.agent_run("support", task="refund-order", trial=1, user_input="...") as run:
        run.thought("The customer wants ...")
        orders = search_orders("c-7")
        run.answer("Refunded.")

It never harms its host: its own failures are caught, counted (`failures`) and logged once.

Exported names are loaded at their first use. So the `tracegrade` command and the collector's
processes, which import this package, do not load OpenTelemetry's SDK.
"""

from typing import TYPE_CHECKING, Any

from tracegrade.first_use import at_first_use

if TYPE_CHECKING:
    from tracegrade.agent import AgentRun, agent_run
    from tracegrade.current import answer, decision, observe, plan, sub_goal, thought
    from tracegrade.guard import failures
    from tracegrade.provider import flush, init
    from tracegrade.tools import tool
    from tracegrade.values.reading import register_renderer

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
    "register_renderer",
    "sub_goal",
    "thought",
    "tool",
]

_load = at_first_use(
    __name__,
    {
        "agent": ("AgentRun", "agent_run"),
        "current": ("answer", "decision", "observe", "plan", "sub_goal", "thought"),
        "guard": ("failures",),
        "provider": ("flush", "init"),
        "tools": ("tool",),
        "values.reading": ("register_renderer",),
    },
)


def __getattr__(name: str) -> Any:
    """Load an exported name, or a replacement that does nothing."""
    if name not in __all__:
        return _load(name)
    from tracegrade.environment import usable_environment  # noqa: PLC0415 - not for commands

    try:
        with usable_environment():
            return _load(name)
    except Exception as error:  # noqa: BLE001 - any error of OpenTelemetry's packages
        from tracegrade import off  # noqa: PLC0415 - hardly ever

        off.say_why(error)
        found = globals()[name] = getattr(off, name)
        return found
