"""What a month brings: runs of an agent's releases hour by hour, late spans, and task files."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from tests.queries.traces import (
    DAY_NS,
    MS,
    NOON_NS,
    agent,
    message,
    model,
    request,
    request_of,
    response,
    span,
    tool,
)

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.rows.rows import Record, span_rows
from tracegrade_lake import RAW_SPANS, Lake

FIRST_NS: Final = NOON_NS // DAY_NS * DAY_NS + DAY_NS
"""Midnight of the month's first day."""

TASKS: Final = 12
TOOLS: Final = 8
RELEASE_DAYS: Final = 5
"""Days after which another release replaces the older one of two."""

COLLECTOR: Final = "month"


def releases_of(day: int) -> tuple[str, str]:
    """Return the two releases that run on a day, counted from 0, the newer one last."""
    return f"1.{day // RELEASE_DAYS}", f"1.{day // RELEASE_DAYS + 1}"


def task_file(*, changed: bool) -> str:
    """Return the tasks as YAML; one of them may have changed."""
    tasks = {f"task-{number}": _task(number) for number in range(TASKS)}
    if changed:
        tasks["task-0"]["expected"].append({"tool": "tool_7"})
    tools = {
        f"tool_{number}": {"effect": "write" if number % 4 == 0 else "read"}
        for number in range(TOOLS)
    }
    return yaml.safe_dump({"version": 1, "tools": tools, "tasks": tasks})


def _task(number: int) -> dict[str, Any]:
    names = _tools_of(number)
    return {
        "category": f"category-{number % 3}",
        "expected": [{"tool": name} for name in names],
        "sub_goals": {f"goal-{place}": {"serves": [name]} for place, name in enumerate(names)},
    }


def _tools_of(task: int) -> list[str]:
    return [f"tool_{(task + 3 * place) % TOOLS}" for place in range(2 + task % 3)]


@dataclass
class Traffic:
    """Lands the spans of a month in a lake, as a collector does."""

    lake: Lake
    commits: int = 0
    """Commits so far."""

    days: dict[int, list[int]] = field(default_factory=dict)
    """The numbers of the runs of each day."""

    _runs: int = 0

    def requests_of(self, now_ns: int, runs: int) -> list[bytes]:
        """Return so many new runs that end now, as requests."""
        day = (now_ns - FIRST_NS) // DAY_NS
        first, self._runs = self._runs, self._runs + runs
        numbers = range(first, self._runs)
        self.days.setdefault(day, []).extend(numbers)
        told = [{"service.name": "shop", "service.version": name} for name in releases_of(day)]
        return [request_of(_run(number, now_ns), told[number // TASKS % 2]) for number in numbers]

    def late_of(self, now_ns: int, days: Sequence[int]) -> list[bytes]:
        """Return one more span, by itself no step, of one run of each of these days."""
        chance = random.Random(self.commits)  # noqa: S311 - the same month each time
        at, spans = _at(now_ns), []
        for day in days:
            number = chance.choice(self.days[day])
            spans.append(
                span(90 + self.commits % 900_000, 1, trace=number + 1, at=at, name="POST",
                     http__request__method="POST")
            )  # fmt: skip
        return [request_of(spans, {"service.name": "shop"})] if spans else []

    def land(self, bodies: Sequence[bytes], now_ns: int) -> None:
        """Commit these requests."""
        self.commits += 1
        records = [
            Record(self.commits, now_ns, Signal.TRACES, Encoding.JSON, "", body) for body in bodies
        ]
        rows = span_rows(records, COLLECTOR)
        files = self.lake.stage(RAW_SPANS, rows, f"{COLLECTOR}-{self.commits}")
        self.lake.add_files(RAW_SPANS, files, f"{COLLECTOR}/traces", self.commits)


def _at(now_ns: int) -> float:
    """Return a time as `span` takes it."""
    return (now_ns - NOON_NS) / MS


def _run(number: int, end_ns: int) -> Iterator[dict[str, Any]]:
    """Yield the spans of one run: it calls the tools of its task, some fail and are repeated."""
    chance = random.Random(number)  # noqa: S311 - the same run each time
    task, trace = number % TASKS, number + 1
    calls = [name for name in _tools_of(task) for _ in range(1 + (chance.random() < 0.1))]
    begin = _at(end_ns) - 1_000 * (len(calls) + 2)
    yield agent(
        1,
        trace=trace,
        at=begin,
        ms=1_000 * (len(calls) + 1),
        agent_name="support",
        tracegrade__task__id=f"task-{task}",
        tracegrade__outcome="success" if chance.random() < 0.8 else "failure",
    )
    heard = [message("user", f"Please refund order o-{number} {_text(chance, 25)}")]
    for place, name in enumerate(calls):
        call_id, at = f"call-{number}-{place}", begin + 1_000 * place
        asked = request(name, call_id, order=f"o-{number}", note=_text(chance, 8))
        said = [message("assistant", asked)]
        result = _text(chance, 30)
        yield model(2 * place + 2, 1, trace=trace, at=at, ms=400, heard=heard, said=said)
        yield tool(
            2 * place + 3,
            1,
            trace=trace,
            at=at + 400,
            ms=500,
            tool_name=name,
            error="no such order" if chance.random() < 0.07 else None,
            gen_ai__tool__call__id=call_id,
            gen_ai__tool__call__result=result,
        )
        heard = [*heard, *said, message("tool", response(result, call_id))]
    end = begin + 1_000 * len(calls)
    said = [message("assistant", f"Refunded o-{number}. {_text(chance, 15)}")]
    yield model(2 * len(calls) + 2, 1, trace=trace, at=end, ms=400, heard=heard, said=said)


def _text(chance: random.Random, words: int) -> str:
    return " ".join(f"word{chance.randrange(3_000)}" for _ in range(words))
