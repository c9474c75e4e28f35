"""The README's commands work, and its numbers are those of the code and of the documents."""

import gzip
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from tracegrade_collector.importing.known_formats import FORMATS
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.sample import RUNS
from tracegrade_scoring.tasks.load import load

from .citations import ROOT
from .commands import tracegrade
from .frameworks.fake_model import SCENARIOS
from .frameworks.ways import WAYS

FILE = ROOT / "README.md"
README = FILE.read_text("utf-8")
LINES = README.splitlines()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [line for language, text in BLOCKS if not language for line in text.splitlines()]
SUPPORTED = re.compile(r"(<!-- supported: [^>]*-->\n)(.*?)(<!-- /supported -->)", re.DOTALL)

FRAMEWORKS = {
    "ag2": "AG2",
    "agent_framework": "Agent Framework",
    "agno": "Agno",
    "autogen": "AutoGen",
    "claude_agent": "Claude Agent SDK",
    "crewai": "CrewAI",
    "deepagents": "Deep Agents",
    "dspy": "DSPy",
    "google_adk": "Google ADK",
    "haystack": "Haystack",
    "langgraph": "LangGraph",
    "llama_index": "LlamaIndex",
    "mastra": "Mastra",
    "openai_agents": "OpenAI Agents",
    "openai_contrib": "OpenAI's and Anthropic's clients",
    "pydantic_ai": "Pydantic AI",
    "raw_clients": "OpenAI's and Anthropic's clients",
    "smolagents": "smolagents",
    "strands": "Strands",
    "vercel_ai": "Vercel AI SDK",
    "vercel_ai_6": "Vercel AI SDK",
}
WRITERS = {
    "openinference": "OpenInference",
    "otel": "OpenTelemetry's instrumentation",
    "traceloop": "OpenLLMetry",
    "langsmith": "LangSmith",
}
"""By the last word of an instrumentation's name; else the framework itself writes the spans."""
FORMAT_NAMES = {
    "otlp": "OTLP",
    "tempo": "Tempo",
    "langfuse": "Langfuse",
    "langsmith": "LangSmith",
    "phoenix": "Phoenix",
    "inspect": "Inspect",
    "jaeger": "Jaeger",
    "tau2": "tau2-bench",
    "weave": "Weave",
    "opik": "Opik",
    "braintrust": "Braintrust",
    "datadog": "Datadog",
    "honeycomb": "Honeycomb",
    "verdicts": "verdicts",
    "qwen": "Qwen Code's sessions",
    "claude-code": "Claude Code's sessions",
    "codex": "Codex's sessions",
    "gemini": "Gemini CLI's sessions",
    "opencode": "OpenCode's sessions",
    "openhands": "OpenHands",
    "swe-agent": "SWE-agent",
    "mini-swe-agent": "mini-swe-agent",
    "atif": "ATIF",
    "harbor": "Harbor's jobs",
    "messages": "chats as JSON",
}


def supported() -> str:
    """Return the table of what is read: by who writes the spans, and of which files."""
    tried = defaultdict(set)
    for way in WAYS:
        words = way.instrumentation.removesuffix("_tracegrade").split("_")
        tried[WRITERS.get(words[-1], "the framework itself")].add(FRAMEWORKS[way.framework])
    files = ", ".join(FORMAT_NAMES[format_.name] for format_ in FORMATS)
    rows = sorted(tried.items(), key=lambda row: (-len(row[1]), row[0]))
    return "".join(
        [
            "| spans written by | tried with |\n|---|---|\n",
            *(f"| {who} | {', '.join(sorted(names, key=str.lower))} |\n" for who, names in rows),
            f"| files, by `tracegrade import` | {files} |\n",
        ]
    )


def test_supported_frameworks_are_those_that_are_tried() -> None:
    """The table is made from the ways that are run; WRITE_TABLE=1 writes it anew."""
    if os.environ.get("WRITE_TABLE"):
        FILE.write_text(SUPPORTED.sub(lambda m: f"{m[1]}{supported()}{m[3]}", README), "utf-8")
    found = SUPPORTED.search(FILE.read_text("utf-8"))

    assert found is not None
    assert found[2] == supported()


def test_readme_begins_with_what_is_needed_to_start() -> None:
    """It is short; installing, and the commands of a clone, are on its first screens."""
    line_of = {text: at for at, line in enumerate(LINES, 1) for text in NEEDED if text in line}

    assert len(LINES) <= 115
    assert line_of["pip install 'tracegrade[all]'"] <= 25
    assert line_of["make demo"] <= 45
    assert line_of["make test"] <= 45


NEEDED = ("pip install 'tracegrade[all]'", "make demo", "make test")


def test_numbers_of_the_readme_are_counted() -> None:
    """What it counts is there as often; what it measured is in the documents."""
    saved = list(ROOT.glob("*/tracegrade_*/saved/*.sql"))
    numbers = (ROOT / "docs" / "internals" / "measurements.md").read_text("utf-8")

    assert f"{len(METRICS)} metrics" in README
    assert f"{len(WAYS)} combinations of framework and instrumentation" in README
    assert (len(SCENARIOS), "seventeen scenarios" in README) == (17, True)
    assert f"{len(saved)} saved queries" in README
    assert re.search(r"1,000 kills .*\| 417,917 spans acknowledged, none lost or doubled", numbers)


@pytest.mark.parametrize(
    "line", [line for line in COMMANDS if line.startswith("tracegrade ")], ids=str
)
def test_commands_of_the_readme_have_these_options(line: str) -> None:
    """Each option is one of its command."""
    _, name, *words = shlex.split(re.sub(" *(> .*|#.*)$", "", line))
    given = words[: words.index("--")] if "--" in words else words
    (entry,) = entry_points(group="tracegrade.commands", name=name)
    command = entry.load()
    if not isinstance(command, typer.Typer):
        app = typer.Typer()
        app.command()(command)
        command = app
    found = get_command(command)
    while subcommands := getattr(found, "commands", {}):
        found = subcommands[given.pop(0)]
    options = {option for parameter in found.params for option in parameter.opts}

    assert {word for word in given if word.startswith("--")} <= options


def test_first_score_says_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the sample to the report, which begins as it is shown."""
    (shown,) = [text for language, text in BLOCKS if language == "text"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    start = COMMANDS.index("tracegrade sample runs")
    for line in COMMANDS[start : start + 4]:
        done = tracegrade(*shlex.split(line)[1:])
        assert done.returncode == 0, done.stderr

    assert done.stdout.partition("\n\n")[2].startswith(shown)
    assert load([tmp_path / "runs" / "tasks.yaml"]).problems == []


def test_program_of_the_readme_runs() -> None:
    """It is a whole program, and needs no collector to end well."""
    (program,) = [text for language, text in BLOCKS if language == "python"]
    environment = os.environ | {"OTEL_TRACES_EXPORTER": "none"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_sample_is_what_its_agent_does(tmp_path: Path) -> None:
    """Its file is made again to the byte; two releases served twelve tasks each, in few bytes."""
    made = tmp_path / "runs.jsonl.gz"
    subprocess.run([sys.executable, "-m", "demo.sample_agent", made], cwd=ROOT, check=True)
    lines = gzip.decompress(RUNS.read_bytes()).decode().splitlines()
    releases = [
        re.findall(r'"service.version","value":{"stringValue":"([^"]*)"', line) for line in lines
    ]

    assert gzip.decompress(made.read_bytes()) == gzip.decompress(RUNS.read_bytes())
    assert releases == [["1.0"]] * 12 + [["1.1"]] * 12
    assert sum(file.stat().st_size for file in RUNS.parent.iterdir() if file.is_file()) <= 40_000
