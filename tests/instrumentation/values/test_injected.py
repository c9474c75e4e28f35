"""Arguments that a framework adds to the model's are not arguments of the call."""

from typing import Annotated, Any, Literal

import pytest

from tracegrade.arguments import Parameters


class Injected:
    """Stands for LangChain's markers, and what its tools are given."""


def named(name: str, module: str, base: type = Injected) -> type:
    """Return a class as a framework defines it."""
    return type(name, (base,), {"__module__": module})


State = named("InjectedState", "langgraph.prebuilt.tool_node")
Config = named("RunnableConfig", "langchain_core.runnables.config", dict)
Wrapper = named("RunContextWrapper", "agents.run_context")
ToolContext = named("ToolContext", "agents.tool_context", Wrapper)
AdkContext = named("Context", "google.adk.agents.context")
Runtime = named("ToolRuntime", "langgraph.prebuilt.tool_node")
Order = named("Context", "shop.orders")
Workflow = named("Context", "workflows.models")
Dialog = named("Context", "google.cloud.dialogflow_v2.types.context")


def written(function: Any, *args: object, **kwargs: object) -> dict[str, object]:
    """Return what a call of a function has as arguments."""
    return Parameters(function).by_name(args, kwargs)


def test_the_context_of_pydantic_ai_is_left_out() -> None:
    """Its run's ids, clock and messages are not arguments."""
    from pydantic_ai import RunContext  # noqa: PLC0415 - takes a second, which only this needs

    def pay(ctx: RunContext[None], order: str) -> None:
        """Pay."""

    context: RunContext[None] = object.__new__(RunContext)
    assert written(pay, context, "A-1") == {"order": "A-1"}
    assert written(pay, order="A-1", ctx=context) == {"order": "A-1"}


@pytest.mark.parametrize("kind", [Wrapper, ToolContext, AdkContext, Runtime])
def test_the_contexts_of_other_frameworks_are_left_out(kind: type) -> None:
    """By their class or a base class, under any name of the parameter."""

    def pay(order: str, view: Any = None) -> None:
        """Pay."""

    assert written(pay, "A-1", view=kind()) == {"order": "A-1"}


@pytest.mark.parametrize("kind", [Order, Workflow, Dialog])
def test_an_object_of_the_program_stays(kind: type) -> None:
    """A class of that name in another package or module is the program's own."""

    def pay(order: Any) -> None:
        """Pay."""

    order = kind()
    assert written(pay, order) == {"order": order}


def test_what_langchain_fills_by_annotation_is_left_out() -> None:
    """A dict and a text, which their annotations tell apart from what the model wrote."""

    def pay(
        order: str,
        state: Annotated[dict[str, Any], State],
        call: "Annotated[str, InjectedToolCallId]",  # noqa: F821 - as text, as the future has it
        config: Config | None = None,  # type: ignore[valid-type]
    ) -> None:
        """Pay."""

    assert written(pay, "A-1", {"messages": []}, call="c1", config={"tags": []}) == {
        "order": "A-1"
    }


def test_what_an_annotation_only_says_is_no_reason_to_leave_out_an_argument() -> None:
    """A description, or a value that a model may choose, may name what a framework fills."""

    def look(
        key: Annotated[str, "Which RunnableConfig key to read"],
        mode: Literal["InjectedState", "off"],
        also: "Annotated[str, 'the RunnableConfig to take']" = "",
    ) -> None:
        """Look."""

    assert written(look, "tags", "off", also="x") == {"key": "tags", "mode": "off", "also": "x"}
