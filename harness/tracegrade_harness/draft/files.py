"""Formats drafted cases as a suite, its tasks and its tapes. Pure: it writes no file.

Telemetry enters these files as data only. Names of cases, agents and files are made plain, and
libraries write the YAML and the JSON. No text of telemetry is where a suite replaces names.
"""

import hashlib
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import yaml

from tracegrade.state import VERSION
from tracegrade.terminal.visible import visible
from tracegrade_harness.draft.expectations import Expectations
from tracegrade_harness.draft.missing import MissingContent
from tracegrade_harness.draft.runs import CapturedRun, CapturedTool, DraftedRun
from tracegrade_harness.proxy.model_tape import conversation_entry
from tracegrade_harness.suite.command import TO_FILL_IN
from tracegrade_harness.tape.entries import Tape, TapeEntry, TapeHeader
from tracegrade_harness.tape.tools import captured_tool
from tracegrade_scoring.tasks.draft import UNKNOWN_EFFECT

SUITE: Final = "suite.yaml"
TASKS: Final = "tasks.yaml"
TAPES: Final = "tapes"
ENVIRONMENT: Final = "outside"
MODEL: Final = "model"
OPENAI_URL: Final = "https://api.openai.com/v1"
OPENAI_VARIABLE: Final = "OPENAI_BASE_URL"
OPENAI_KEY: Final = "OPENAI_API_KEY"
MAX_PLAIN: Final = 60
_STRANGE: Final = re.compile(r"[^\w.-]+", re.ASCII)
_HEAD: Final = (
    "# Drafted by `tracegrade harness draft` from runs of a lake. Say how agents are started;",
    "# then `tracegrade harness check` looks at it, and `tracegrade harness run` plays the tapes.",
)


@dataclass(frozen=True)
class AgentStart:
    """The command that starts agents and how they find their model, which spans do not record."""

    command: Sequence[str] = (TO_FILL_IN, "{user_input}")
    model_url: str | None = None
    """URL of the model's API; None for OpenAI's."""
    model_url_env: str = OPENAI_VARIABLE
    """Variable in which agents find the URL."""


class DraftedCase(NamedTuple):
    """A run that became a case."""

    name: str
    captured: CapturedRun
    missing: Sequence[MissingContent]
    """The content that it lacks."""

    @property
    def agent(self) -> str:
        """The name of its agent in the suite."""
        return plain_name(self.captured.run.agent_name or "agent")

    @property
    def tape(self) -> str:
        """The path of its tape, relative to the suite."""
        return f"{TAPES}/{self.name}.jsonl"


def plain_name(text: str) -> str:
    """Return a text as a file name: itself if it is plain, else a similar name."""
    plain = _STRANGE.sub("_", text)[:MAX_PLAIN].strip("._-")
    if plain == text and text:
        return text
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]
    return f"{plain or 'run'}-{digest}"


def named_cases(
    captured: Iterable[tuple[CapturedRun, Sequence[MissingContent]]],
) -> Iterator[DraftedCase]:
    """Yield a case for each run; names differ in more than upper and lower case."""
    taken: set[str] = set()
    for each, missing in captured:
        name = _name(each.run)
        number, found = 1, name
        while found.casefold() in taken:
            number += 1
            found = f"{name}-{number}"
        taken.add(found.casefold())
        yield DraftedCase(found, each, missing)


def _name(run: DraftedRun) -> str:
    name = plain_name(run.task_id or run.agent_name or "run")
    return f"{name}-{run.mode}" if run.mode else name


def tape(case: DraftedCase, suite: str) -> Tape:
    """Return the tape of a case's run: answers of models and results of tools."""
    run = case.captured.run
    header = TapeHeader(
        suite=suite,
        case=case.name,
        agent=case.agent,
        release=run.release,
        recorded="" if run.start_time is None else f"{run.start_time.isoformat()}+00:00",
        version=VERSION,
    )
    return Tape(header, tuple(_entries(case)))


def _entries(case: DraftedCase) -> Iterator[TapeEntry]:
    for call in case.captured.calls:
        if call.messages and call.answer.parts:
            yield conversation_entry(MODEL, call.messages, call.answer)
    for tool in case.captured.tool_calls:
        if tool.arguments is not None and (tool.failed or tool.result is not None):
            yield _tool_entry(tool)


def _tool_entry(tool: CapturedTool) -> TapeEntry:
    arguments = tool.arguments or ""
    if tool.failed:
        error = {"type": tool.error_type or "", "message": tool.error_message or ""}
        return captured_tool(tool.tool_name, arguments, tool.effect, error=error)
    return captured_tool(tool.tool_name, arguments, tool.effect, text=tool.result)


def suite_text(cases: Sequence[DraftedCase], suite: str, started: AgentStart) -> str:
    """Return the suite of cases, as YAML."""
    content = {
        "version": 1,
        "suite": suite,
        "mode": "mocked",
        "tasks": TASKS,
        "agents": {case.agent: _agent(case.captured.run, started) for case in cases},
        "environments": {ENVIRONMENT: _environment(cases, started)},
        "cases": {case.name: _case(case) for case in cases},
    }
    lacks = [
        f"# {case.name}: {each.reason}: {visible(each.what)}"
        for case in cases
        for each in case.missing
    ]
    return "\n".join([*_HEAD, *lacks, _yaml(content)])


def _agent(run: DraftedRun, started: AgentStart) -> dict[str, Any]:
    agent: dict[str, Any] = {"command": [*started.command]}
    if run.release:
        agent["release"] = run.release
    if started.model_url_env == OPENAI_VARIABLE:  # its clients do not start without a key
        agent["environment"] = {"set": {OPENAI_KEY: "none"}}
    return agent


def _environment(cases: Sequence[DraftedCase], started: AgentStart) -> dict[str, Any]:
    tools = {tool.tool_name for case in cases for tool in case.captured.tool_calls}
    environment: dict[str, Any] = {"upstreams": {MODEL: _model(started)}}
    if tools:
        environment["taped_tools"] = sorted(filter(None, tools))
    return environment


def _model(started: AgentStart) -> dict[str, Any]:
    url = {"url": started.model_url or OPENAI_URL, "url_env": started.model_url_env}
    model: dict[str, Any] = {**url, "protocol": "model"}
    if started.model_url is None:
        model["headers"] = {"Authorization": f"Bearer ${OPENAI_KEY}"}
    return model


def _case(case: DraftedCase) -> dict[str, Any]:
    return {
        "environment": ENVIRONMENT,
        "agent": case.agent,
        "user_input": case.captured.run.user_input or "",
        "model": "replay",
        "tape": case.tape,
    }


def tasks_text(cases: Sequence[DraftedCase], known: Expectations) -> str:
    """Return the task file of cases as YAML: their tools, and one task for each case."""
    tasks: Mapping[str, Any] = {case.name: known.task(case.captured.run) or {} for case in cases}
    tools = known.tools({name for case in cases for name in case.captured.called_tools})
    listed = "".join(map(_tool_text, tools, tools.values()))
    head = f"tools:\n{listed}" if listed else _yaml({"tools": {}})
    return _yaml({"version": 1}) + head + _yaml({"tasks": tasks})


def _tool_text(name: str, tool: Mapping[str, Any]) -> str:
    text = textwrap.indent(_yaml({name: dict(tool)}), "  ")
    return text if "effect" in tool else f"{text}{UNKNOWN_EFFECT}\n"


def _yaml(value: Any) -> str:
    text: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=99)
    return text
