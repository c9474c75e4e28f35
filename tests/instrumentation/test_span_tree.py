"""What an agent's run looks like as spans, whole trees against snapshots."""

import pytest
from inline_snapshot import snapshot

import tracegrade

from .conftest import Spans
from .trees import tree


@tracegrade.tool(effect="read", cost=1)
def search_orders(customer: str, limit: int = 5) -> list[dict[str, str]]:
    """Find a customer's orders."""
    return [{"id": "o-1", "customer": customer}][:limit]


def test_run_writes_each_step_as_a_span(spans: Spans) -> None:
    """Plan, thought, tool call, observations and answer stand in order below the agent's span."""
    with tracegrade.agent_run(
        "support",
        task="refund-order",
        category="refunds",
        trial=1,
        mode="mocked",
        conversation="c-1",
        user_input="Refund o-1, please.",
        tools=[search_orders],
    ) as run:
        run.plan([{"id": "lookup", "tool": "search_orders"}, "refund it"])
        run.thought("Which order is it?")
        with run.sub_goal("lookup"), run.decision("find"):
            search_orders("c-7", limit=1)
        run.observe("mailbox is empty")
        run.answer("Refunded.")
        run.outcome("success")

    assert tree(spans()) == snapshot(
        [
            {
                "name": "invoke_agent support",
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "support",
                "tracegrade.task.id": "refund-order",
                "tracegrade.task.category": "refunds",
                "tracegrade.trial": 1,
                "tracegrade.run.mode": "mocked",
                "gen_ai.conversation.id": "c-1",
                "gen_ai.input.messages": [
                    {"role": "user", "parts": [{"type": "text", "content": "Refund o-1, please."}]}
                ],
                "gen_ai.tool.definitions": [
                    {
                        "type": "function",
                        "name": "search_orders",
                        "description": "Find a customer's orders.",
                        "parameters": {
                            "type": "object",
                            "properties": {
                                "customer": {"type": "string"},
                                "limit": {"type": "integer"},
                            },
                            "required": ["customer"],
                            "additionalProperties": False,
                        },
                    }
                ],
                "gen_ai.output.messages": [
                    {
                        "role": "assistant",
                        "parts": [{"type": "text", "content": "Refunded."}],
                        "finish_reason": "stop",
                    }
                ],
                "tracegrade.outcome": "success",
                "children": [
                    {
                        "name": "plan support",
                        "gen_ai.operation.name": "plan",
                        "tracegrade.step.kind": "plan",
                        "gen_ai.agent.name": "support",
                        "tracegrade.task.id": "refund-order",
                        "tracegrade.task.category": "refunds",
                        "tracegrade.trial": 1,
                        "tracegrade.run.mode": "mocked",
                        "tracegrade.run.user_input": "Refund o-1, please.",
                        "tracegrade.plan": [
                            {"id": "lookup", "tool": "search_orders"},
                            {"text": "refund it"},
                        ],
                    },
                    {
                        "name": "thought",
                        "tracegrade.step.kind": "thought",
                        "tracegrade.task.id": "refund-order",
                        "tracegrade.task.category": "refunds",
                        "tracegrade.trial": 1,
                        "tracegrade.run.mode": "mocked",
                        "gen_ai.agent.name": "support",
                        "tracegrade.thought.content": "Which order is it?",
                    },
                    {
                        "name": "execute_tool search_orders",
                        "gen_ai.operation.name": "execute_tool",
                        "tracegrade.step.kind": "tool_call",
                        "gen_ai.tool.name": "search_orders",
                        "gen_ai.tool.type": "function",
                        "tracegrade.tool.effect": "read",
                        "tracegrade.tool.cost": 1,
                        "tracegrade.task.id": "refund-order",
                        "tracegrade.task.category": "refunds",
                        "tracegrade.trial": 1,
                        "tracegrade.run.mode": "mocked",
                        "tracegrade.sub_goal.id": "lookup",
                        "tracegrade.decision.id": "find",
                        "gen_ai.agent.name": "support",
                        "gen_ai.tool.call.arguments": {"customer": "c-7", "limit": 1},
                        "gen_ai.tool.call.result": [{"id": "o-1", "customer": "c-7"}],
                    },
                    {
                        "name": "observation",
                        "tracegrade.step.kind": "observation",
                        "tracegrade.task.id": "refund-order",
                        "tracegrade.task.category": "refunds",
                        "tracegrade.trial": 1,
                        "tracegrade.run.mode": "mocked",
                        "tracegrade.sub_goal.id": "lookup",
                        "tracegrade.decision.id": "find",
                        "gen_ai.agent.name": "support",
                        "links": ["execute_tool search_orders"],
                    },
                    {
                        "name": "observation",
                        "tracegrade.step.kind": "observation",
                        "tracegrade.task.id": "refund-order",
                        "tracegrade.task.category": "refunds",
                        "tracegrade.trial": 1,
                        "tracegrade.run.mode": "mocked",
                        "gen_ai.agent.name": "support",
                        "tracegrade.observation.content": "mailbox is empty",
                    },
                    {
                        "name": "answer",
                        "tracegrade.step.kind": "answer",
                        "tracegrade.task.id": "refund-order",
                        "tracegrade.task.category": "refunds",
                        "tracegrade.trial": 1,
                        "tracegrade.run.mode": "mocked",
                        "gen_ai.agent.name": "support",
                        "gen_ai.output.messages": [
                            {
                                "role": "assistant",
                                "parts": [{"type": "text", "content": "Refunded."}],
                                "finish_reason": "stop",
                            }
                        ],
                    },
                ],
            }
        ]
    )


def test_exception_of_a_tool_passes_and_is_recorded(spans: Spans) -> None:
    """The very exception the tool raised arrives at the agent; its span and the run's say so."""
    error = LookupError("no such order")

    @tracegrade.tool(name="pay", effect="destructive")
    def refund(order: str) -> None:
        raise error

    with pytest.raises(LookupError) as caught, tracegrade.agent_run("support"):
        refund("o-9")

    assert caught.value is error
    assert error.__context__ is None
    assert tree(spans()) == snapshot(
        [
            {
                "name": "invoke_agent support",
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "support",
                "error.type": "LookupError",
                "error": "no such order",
                "events": [
                    {
                        "name": "exception",
                        "exception.type": "LookupError",
                        "exception.message": "no such order",
                    }
                ],
                "children": [
                    {
                        "name": "execute_tool pay",
                        "gen_ai.operation.name": "execute_tool",
                        "tracegrade.step.kind": "tool_call",
                        "gen_ai.tool.name": "pay",
                        "gen_ai.tool.type": "function",
                        "tracegrade.tool.effect": "destructive",
                        "gen_ai.agent.name": "support",
                        "gen_ai.tool.call.arguments": {"order": "o-9"},
                        "error.type": "LookupError",
                        "error": "no such order",
                        "events": [
                            {
                                "name": "exception",
                                "exception.type": "LookupError",
                                "exception.message": "no such order",
                            }
                        ],
                    },
                    {
                        "name": "observation",
                        "tracegrade.step.kind": "observation",
                        "gen_ai.agent.name": "support",
                        "links": ["execute_tool pay"],
                    },
                ],
            }
        ]
    )


def test_nested_agent_inherits_task_and_sub_goal_but_no_decision(spans: Spans) -> None:
    """An agent called as a tool belongs to its caller's task; its choices are its own."""

    @tracegrade.tool
    def ask_clerk(question: str) -> str:
        with tracegrade.agent_run("clerk") as clerk:
            clerk.thought("easy")
            clerk.answer("yes")
        return "yes"

    boss = tracegrade.agent_run("boss", task="t-1", trial=2)
    with boss, boss.sub_goal("check"), boss.decision("ask"):
        ask_clerk("Is it done?")

    assert tree(spans()) == snapshot(
        [
            {
                "name": "invoke_agent boss",
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "boss",
                "tracegrade.task.id": "t-1",
                "tracegrade.trial": 2,
                "children": [
                    {
                        "name": "execute_tool ask_clerk",
                        "gen_ai.operation.name": "execute_tool",
                        "tracegrade.step.kind": "tool_call",
                        "gen_ai.tool.name": "ask_clerk",
                        "gen_ai.tool.type": "function",
                        "tracegrade.task.id": "t-1",
                        "tracegrade.trial": 2,
                        "tracegrade.sub_goal.id": "check",
                        "tracegrade.decision.id": "ask",
                        "gen_ai.agent.name": "boss",
                        "gen_ai.tool.call.arguments": {"question": "Is it done?"},
                        "gen_ai.tool.call.result": "yes",
                        "children": [
                            {
                                "name": "invoke_agent clerk",
                                "gen_ai.operation.name": "invoke_agent",
                                "gen_ai.agent.name": "clerk",
                                "tracegrade.task.id": "t-1",
                                "tracegrade.trial": 2,
                                "tracegrade.sub_goal.id": "check",
                                "tracegrade.decision.id": "ask",
                                "gen_ai.output.messages": [
                                    {
                                        "role": "assistant",
                                        "parts": [{"type": "text", "content": "yes"}],
                                        "finish_reason": "stop",
                                    }
                                ],
                                "children": [
                                    {
                                        "name": "thought",
                                        "tracegrade.step.kind": "thought",
                                        "tracegrade.task.id": "t-1",
                                        "tracegrade.trial": 2,
                                        "tracegrade.sub_goal.id": "check",
                                        "gen_ai.agent.name": "clerk",
                                        "tracegrade.thought.content": "easy",
                                    },
                                    {
                                        "name": "answer",
                                        "tracegrade.step.kind": "answer",
                                        "tracegrade.task.id": "t-1",
                                        "tracegrade.trial": 2,
                                        "tracegrade.sub_goal.id": "check",
                                        "gen_ai.agent.name": "clerk",
                                        "gen_ai.output.messages": [
                                            {
                                                "role": "assistant",
                                                "parts": [{"type": "text", "content": "yes"}],
                                                "finish_reason": "stop",
                                            }
                                        ],
                                    },
                                ],
                            }
                        ],
                    },
                    {
                        "name": "observation",
                        "tracegrade.step.kind": "observation",
                        "tracegrade.task.id": "t-1",
                        "tracegrade.trial": 2,
                        "tracegrade.sub_goal.id": "check",
                        "tracegrade.decision.id": "ask",
                        "gen_ai.agent.name": "boss",
                        "links": ["execute_tool ask_clerk"],
                    },
                ],
            }
        ]
    )


def test_module_level_steps_belong_to_the_current_run(spans: Spans) -> None:
    """Code without the run at hand writes the same steps."""
    with tracegrade.agent_run("support"):
        tracegrade.plan(["look"])
        with tracegrade.sub_goal("g"), tracegrade.decision("d"):
            tracegrade.observe("seen")
        tracegrade.answer("done")

    assert tree(spans()) == snapshot(
        [
            {
                "name": "invoke_agent support",
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "support",
                "gen_ai.output.messages": [
                    {
                        "role": "assistant",
                        "parts": [{"type": "text", "content": "done"}],
                        "finish_reason": "stop",
                    }
                ],
                "children": [
                    {
                        "name": "plan support",
                        "gen_ai.operation.name": "plan",
                        "tracegrade.step.kind": "plan",
                        "gen_ai.agent.name": "support",
                        "tracegrade.plan": [{"text": "look"}],
                    },
                    {
                        "name": "observation",
                        "tracegrade.step.kind": "observation",
                        "tracegrade.sub_goal.id": "g",
                        "tracegrade.decision.id": "d",
                        "gen_ai.agent.name": "support",
                        "tracegrade.observation.content": "seen",
                    },
                    {
                        "name": "answer",
                        "tracegrade.step.kind": "answer",
                        "gen_ai.agent.name": "support",
                        "gen_ai.output.messages": [
                            {
                                "role": "assistant",
                                "parts": [{"type": "text", "content": "done"}],
                                "finish_reason": "stop",
                            }
                        ],
                    },
                ],
            }
        ]
    )


def test_steps_outside_of_any_run_are_written_too(spans: Spans) -> None:
    """A tool call or thought without an agent is its own trace."""
    search_orders("c-1")
    tracegrade.answer("done")

    assert [span.name for span in spans()] == [
        "execute_tool search_orders",
        "observation",
        "answer",
    ]


def test_without_init_everything_works_and_nothing_is_written() -> None:
    """A program that never calls `init` runs as without us."""
    with tracegrade.agent_run("support", user_input="hi") as run:
        run.plan(["x"])
        assert search_orders("c-1") == [{"id": "o-1", "customer": "c-1"}]
        run.answer("done")

    assert tracegrade.failures() == {}


def test_resource_names_service_and_release(spans: Spans) -> None:
    """Scores are compared by release, which is the resource's `service.version`."""
    tracegrade.thought("x")

    resource = spans()[0].resource.attributes
    assert (resource["service.name"], resource["service.version"]) == ("shop", "1.0")
