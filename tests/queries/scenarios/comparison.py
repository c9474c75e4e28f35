"""Captures of the scenarios beside the stories that they must tell.

A story is a list of runs, each a list of facts: the agent's name, what it was asked, who called
it, how many model calls and tokens it took, and its steps. `…` in a fact stands for any text. A
fact that a capture does not tell is not sent by its source if its words are nowhere in the
capture, or if `differences.py` says so; any other difference is a fault.
"""

import json
import lzma
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.frameworks.fake_model import SCENARIOS
from tests.frameworks.ways import WAYS, Way

from .differences import ASKED_AGAIN, DIFFERENCES, PRINTING, Difference

CAPTURES: Final = Path(__file__).parents[1] / "captures" / "scenarios"
INPUT_TOKENS, OUTPUT_TOKENS = 50, 10  # of each call of the fake model
# What is missing where facts of a kind are not sent.
NOT_SENT: Final = {
    "agent": "the agent's name",
    "asked": "the question",
    "called": "who called the agent",
    "models": "model calls",
    "tokens": "tokens",
    "thought": "thoughts",
    "tool_call": "calls",
    "observation": "results",
    "handoff": "the hand-off",
    "plan": "plans",
    "answer": "the answer",
}
APART: Final = "which model calls are one run"

Row = dict[str, Any]


class Capture(NamedTuple):
    """What one way exported of one scenario."""

    way: Way
    scenario: str
    signals: Mapping[str, Row]
    """A request of spans (`traces`), and maybe one of log records (`logs`)."""

    @property
    def name(self) -> str:
        """Names it in a test."""
        return f"{self.way}-{self.scenario}"


class Cell(NamedTuple):
    """What a capture tells, beside its story."""

    otherwise: list[str]
    """What the framework did otherwise than the story says."""
    not_sent: list[str]
    wrong: list[str]
    """Facts that are missing (-) though sent, or told (+) though they are none."""

    def __str__(self) -> str:
        if self.wrong:
            return "**wrong**"
        told = f"not sent: {', '.join(self.not_sent)}" if self.not_sent else "right"
        return f"{told} ({', '.join(self.otherwise)})" if self.otherwise else told


@cache
def captures() -> list[Capture]:
    """Return the capture of each scenario under each way, if anything was sent of it."""
    found = []
    for way in WAYS:
        told = json.loads(lzma.decompress((CAPTURES / f"{way}.json.xz").read_bytes()))
        found += [Capture(way, name, told[name]) for name in way.scenarios if name in told]
    return found


def facts_of_story(capture: Capture) -> list[list[str]]:
    """Return the facts of each run of the story, or of each model call that stands alone."""
    scenario = SCENARIOS[capture.scenario]
    if capture.way.calls_alone:
        return [_facts_of_call(*call) for call in _calls_in_order(scenario)]
    return [list(_facts_of_run(scenario, run, capture.way)) for run in scenario["runs"]]


def _calls_in_order(scenario: Row) -> Iterator[tuple[str, list[str]]]:
    """Yield what is asked in each model call, and the steps that begin with its thought."""
    helpers = {run["agent"]: run for run in scenario["runs"] if "parent" in run}
    for run in scenario["runs"]:
        if "parent" in run:
            continue
        for steps in _steps_by_call(run):
            yield run["asked"], steps
            called = [step.split(" ")[1] for step in steps if step.startswith("tool_call")]
            for helper in (helpers[tool] for tool in called if tool in helpers):
                yield from ((helper["asked"], inner) for inner in _steps_by_call(helper))


def _steps_by_call(run: Row) -> list[list[str]]:
    found: list[list[str]] = []
    for step in run["steps"]:
        if step.startswith("thought"):
            found.append([])
        found[-1].append(step)
    return found


def _facts_of_call(asked: str, steps: list[str]) -> list[str]:
    """Return the facts of one model call: what became of its requests is not told."""
    told = [
        re.sub(r" (ok|error)$", " unknown", step) if step.startswith("tool_call") else step
        for step in steps
        if not step.startswith("observation")
    ]
    return [f"asked {asked}", "models 1", f"tokens {INPUT_TOKENS} {OUTPUT_TOKENS}", *told]


def _facts_of_run(scenario: Row, run: Row, way: Way) -> Iterator[str]:
    yield f"agent {run['agent']}"
    yield f"asked {run['asked']}"
    if "parent" in run:
        yield "called by run 1"
    last = scenario["scripts"][run["agent"]][-1]
    calls = _model_calls(scenario, run) + (way.program in ASKED_AGAIN and "answer" in last)
    yield f"models {calls}"
    yield f"tokens {calls * INPUT_TOKENS} {calls * OUTPUT_TOKENS}"
    for step in run["steps"]:
        kind, _, text = step.partition(" ")
        if way.program in PRINTING and kind == "observation":
            yield f"{kind} …{text}…"
        elif kind == "tool_call":
            yield f"{kind} {way.server}{text}"
        else:
            yield step


def _model_calls(scenario: Row, run: Row) -> int:
    """Return how often the model is asked in a run, whose turns begin with the runs before it."""
    scripts = scenario["scripts"]
    if len(scenario["runs"]) == len(scripts):
        return len(scripts[run["agent"]])
    turns = sum(map(len, scripts.values()))
    return turns // len(scenario["runs"])


def facts_told(runs: Sequence[Row], steps: Sequence[Row]) -> list[list[str]]:
    """Return the facts of each trajectory of a capture, in the order in which they started."""
    places = {run["trajectory_id"]: place for place, run in enumerate(runs, 1)}
    return [
        [
            *_optional("agent", run["agent_name"]),
            *_optional("asked", run["user_input"]),
            *_optional("called by run", places.get(run["parent_trajectory_id"])),
            f"models {run['llm_call_count']}",
            *_optional("tokens", _tokens(run)),
            *(line(step) for step in steps if step["trajectory_id"] == run["trajectory_id"]),
        ]
        for run in runs
    ]


def _optional(kind: str, value: object) -> list[str]:
    return [] if value is None else [f"{kind} {value}"]


def _tokens(run: Row) -> str | None:
    if run["input_tokens"] is None:
        return None
    return f"{run['input_tokens']} {run['output_tokens']}"


def line(step: Row) -> str:
    """Return a step in one line."""
    if step["kind"] == "tool_call":
        return f"tool_call {step['tool_name']} {step['arguments']} {step['status']}"
    if step["kind"] == "handoff":
        return f"handoff {step['tool_name']}"
    if step["kind"] == "plan":
        return f"plan {step['plan'] or step['content']}"
    return f"{step['kind']} {step['content'] or ''}".rstrip()


def compare(capture: Capture, told: Sequence[Sequence[str]]) -> Cell:
    """Return how what a capture tells differs from its story."""
    story = facts_of_story(capture)
    known = [each for each in DIFFERENCES if each.concerns(str(capture.way), capture.scenario)]
    cell = Cell([], [APART] if capture.way.calls_alone else [], [])
    if len(story) != len(told):
        _judge_told(f"{len(told)} runs instead of {len(story)}", known, cell)
    for expected, found in zip(story, told, strict=False):
        for fact, is_missing in _difference(expected, found):
            _judge(capture, fact, is_missing, known, cell)
    return cell


def _judge(
    capture: Capture, fact: str, is_missing: bool, known: list[Difference], cell: Cell
) -> None:
    if not is_missing:
        _judge_told(fact, known, cell, sign="+ ")
    elif found := _difference_with([(each, each.missing) for each in known], fact):
        _note(cell.not_sent if found.is_not_sent else cell.otherwise, found.why)
    elif not is_sent(capture, fact):
        _note(cell.not_sent, NOT_SENT[fact.split(maxsplit=1)[0]])
    else:
        cell.wrong.append(f"- {fact}")


def _judge_told(fact: str, known: list[Difference], cell: Cell, sign: str = "") -> None:
    if found := _difference_with([(each, each.told) for each in known], fact):
        _note(cell.not_sent if found.is_not_sent else cell.otherwise, found.why)
    else:
        cell.wrong.append(f"{sign}{fact}")


def _difference_with(
    patterns: list[tuple[Difference, tuple[str, ...]]], fact: str
) -> Difference | None:
    """Return the first difference with a pattern for a fact."""
    for each, its in patterns:
        if any(matches(fact, pattern) for pattern in its):
            return each
    return None


def _note(notes: list[str], note: str) -> None:
    if note not in notes:
        notes.append(note)


def matches(fact: str, pattern: str) -> bool:
    """Return whether a fact is what a pattern says, `…` being any text."""
    return bool(re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), fact, re.DOTALL))


def _difference(expected: Sequence[str], found: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the facts that are missing (True) and those too many."""
    longest = [[0] * (len(found) + 1) for _ in range(len(expected) + 1)]
    for i in reversed(range(len(expected))):
        for j in reversed(range(len(found))):
            longest[i][j] = (
                longest[i + 1][j + 1] + 1
                if matches(found[j], expected[i])
                else max(longest[i + 1][j], longest[i][j + 1])
            )
    differing, i, j = [], 0, 0
    while i < len(expected) or j < len(found):
        if i < len(expected) and j < len(found) and matches(found[j], expected[i]):
            i, j = i + 1, j + 1
        elif j == len(found) or (i < len(expected) and longest[i + 1][j] >= longest[i][j + 1]):
            differing.append((expected[i], True))
            i += 1
        else:
            differing.append((found[j], False))
            j += 1
    return differing


def is_sent(capture: Capture, fact: str) -> bool:
    """Return whether the words of a fact stand anywhere in a capture; numbers always may."""
    kind, _, text = fact.partition(" ")
    if kind == "tokens":
        return any('"50"' in each or each == "50" for each in _texts(capture))
    if kind in ("models", "called"):
        return True
    if kind in ("tool_call", "handoff"):
        text = text.split(" ")[0]
    if kind == "plan":
        text = re.findall(r'"([A-Z][^"]*)', text)[0]
    if kind == "asked":
        text = text.split("\n")[-1]
    longest = max(text.split("…"), key=len)
    address = f"/{longest}/"  # of its model, which holds the agent's name
    return any(longest in each.replace(address, "") for each in _texts(capture))


def _texts(capture: Capture) -> list[str]:
    """Return all attributes of a capture and of its events as texts."""
    return _strings(json.dumps(capture.signals))


@cache
def _strings(text: str) -> list[str]:
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)
        else:
            found.append(str(value))

    for signal, request in json.loads(text).items():
        for resource in request["resourceSpans" if signal == "traces" else "resourceLogs"]:
            walk({key: value for key, value in resource.items() if key != "resource"})
    return found
