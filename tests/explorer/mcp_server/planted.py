"""Lakes in which some runs of a release go wrong at a known step, chosen by a seed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import orjson
from tests.queries.traces import Row, agent, land, request_of, tool

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification

TOOLS: Final = ("find_customer", "find_order", "check_policy", "refund", "send_mail")
"""The path of the task, in its order."""
ACTS: Final = frozenset({"refund", "send_mail"})
FAULTS: Final = ("wrong_tool", "wrong_argument", "loop", "lost_call", "not_offered")
OLD, NEW = "1.0", "2.0"
GOOD_RUNS, BAD_RUNS = 6, 2


class PlantedFault(NamedTuple):
    """A fault that every bad run of a lake has."""

    kind: str
    position: int
    """The first wrong call, counted from 0."""


class Call(NamedTuple):
    """One call of a tool."""

    name: str
    arguments: dict[str, Any]
    error: str | None = None


def planted_lake(root: Path, seed: int) -> tuple[Lake, PlantedFault]:
    """Return a scored lake, and what went wrong in the failed runs of its newer release."""
    random = Random(seed)  # noqa: S311 - the same lake each time
    fault = PlantedFault(FAULTS[seed % len(FAULTS)], random.randrange(1, len(TOOLS) - 1))
    lake = Lake.create(root)
    order = f"A-{random.randrange(1_000, 10_000)}"
    for number, spans in enumerate(_runs(random, fault, order), start=1):
        release = NEW if number > GOOD_RUNS // 2 else OLD
        land(lake, request_of(spans, {"service.name": "shop", "service.version": release}),
             seq=number)  # fmt: skip
    (root / "tasks.yaml").write_text(_task_file(order, expects=seed < len(FAULTS)))
    score(lake, usable_specification(root / "tasks.yaml")[0])
    return lake, fault


def wrong_span(fault: PlantedFault) -> str:
    """Return the id of the span of the first wrong call."""
    return f"{fault.position + 2:016x}"


def _task_file(order: str, *, expects: bool) -> str:
    """Return the tools, with the calls that the task expects or without."""
    tools = {name: {"effect": "destructive" if name in ACTS else "read"} for name in TOOLS}
    expected = [{"decision": name, "tool": name, "arguments": {"order": order}} for name in TOOLS]
    tasks = {"tasks": {"refund": {"expected": expected}}} if expects else {}
    return orjson.dumps({"version": 1, "tools": tools, **tasks}).decode()


def _runs(random: Random, fault: PlantedFault, order: str) -> Iterator[list[Row]]:
    total = GOOD_RUNS + BAD_RUNS
    bad = {*random.sample(range(GOOD_RUNS // 2, total), BAD_RUNS)}
    for number in range(total):
        calls = [Call(name, {"order": order}) for name in TOOLS]
        calls = [*_with_fault(calls, fault)] if number in bad else calls
        outcome = "failure" if number in bad else "success"
        yield _spans(number + 1, calls, outcome)


def _with_fault(calls: Sequence[Call], fault: PlantedFault) -> Iterator[Call]:
    """Yield the calls of a run that goes wrong at the position of a fault."""
    here = calls[fault.position]
    yield from calls[: fault.position]
    if fault.kind == "wrong_tool":
        yield here._replace(name="find_order" if here.name != "find_order" else "check_policy")
    elif fault.kind == "wrong_argument":
        yield here._replace(arguments={"order": "A-0"})
    elif fault.kind == "loop":
        yield from [calls[fault.position - 1]] * 5
        return
    elif fault.kind == "lost_call":
        yield here._replace(error="TimeoutError: no answer from the shop")
        return
    else:
        yield here._replace(name="delete_customer")
    yield from calls[fault.position + 1 :]


def _spans(trace: int, calls: Sequence[Call], outcome: str) -> list[Row]:
    named: dict[str, Any] = {
        "tracegrade__task__id": "refund",
        "tracegrade__outcome": outcome,
        "gen_ai__tool__definitions": orjson.dumps([{"name": name} for name in TOOLS]).decode(),
    }
    spans = [agent(1, trace=trace, agent_name="shop", at=1_000 * trace, **named)]
    for position, each in enumerate(calls):
        spans.append(
            tool(
                position + 2, 1, tool_name=each.name, trace=trace, at=1_000 * trace + position + 1,
                error=each.error,
                gen_ai__tool__call__arguments=orjson.dumps(each.arguments).decode(),
                **({} if each.error else {"gen_ai__tool__call__result": '{"ok": true}'}),
            )
        )  # fmt: skip
    return spans
