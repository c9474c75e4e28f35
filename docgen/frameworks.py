"""The pages of agent frameworks: installation, an agent, its scores, and the recorded data.

They are made from the quickstarts that `make test-frameworks` runs, and from the versions of its
environments.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from docgen.pages import page, table

TESTS: Final = Path(__file__).parents[1] / "tests" / "frameworks"
QUICKSTARTS: Final = TESTS / "quickstarts"
ENVIRONMENTS: Final = TESTS / "environments"
EXPORTS: Final = {
    "phoenix-exports": "Phoenix",
    "langfuse-exports": "Langfuse",
    "langsmith-exports": "LangSmith",
    "inspect-exports": "Inspect",
    "weave-exports": "Weave",
    "opik-exports": "Opik",
    "braintrust-exports": "Braintrust",
    "datadog-exports": "Datadog",
    "honeycomb-exports": "Honeycomb",
    "jaeger-tempo-exports": "Jaeger and Tempo",
    "tau2-results": "tau2-bench",
    "claude-code-exports": "Claude Code",
    "codex-exports": "Codex",
    "gemini-cli-exports": "Gemini CLI",
    "opencode-exports": "OpenCode",
    "harbor-exports": "Harbor",
    "swe-agent-exports": "SWE-agent",
    "openhands-exports": "OpenHands",
    "chat-logs": "logs of chats",
}
"""Pages about importing records of other tools, with the kind of record."""
QUESTIONS: Final = ("Where is order A-1001?", "Where is order B-2002?")
ASPECTS: Final = ("calls", "arguments", "results", "errors", "answer", "tokens")
"""The parts of a run that a trace should hold."""
_STARTS: Final = {".py": "python", ".mjs": "node"}
_LANGUAGES: Final = {".py": "python", ".mjs": "javascript"}


def quickstarts() -> Mapping[str, dict[str, Any]]:
    """Return the quickstarts by the name of their page."""
    return tomllib.loads((QUICKSTARTS / "quickstarts.toml").read_text("utf-8"))


def environment(quickstart: Mapping[str, Any]) -> str:
    """Return the name of the environment, below `.frameworks/`, that an agent is run in."""
    return str(quickstart.get("environment", "quickstarts"))


def program(name: str) -> Path:
    """Return the program of a quickstart."""
    (found,) = (QUICKSTARTS / name).glob("agent.*")
    return found


def command(name: str, question: str) -> str:
    """Return the command of a page that asks its agent a question."""
    agent = program(name)
    asks = f'{_STARTS[agent.suffix]} {agent.name} "{question}"'
    if _sends_itself(quickstarts()[name]):
        return asks
    return f"tracegrade run --release 1.0 -- {asks}"


def _sends_itself(quickstart: Mapping[str, Any]) -> bool:
    """Return whether variables alone make an agent send spans, without `tracegrade run`."""
    return "variables" in quickstart


def pages() -> Mapping[str, str]:
    """Return the pages by their path below `docs/`: one for each framework, and their index."""
    return {
        "frameworks/index.md": _index(),
        **{f"frameworks/{name}.md": _page(name, it) for name, it in quickstarts().items()},
    }


def _index() -> str:
    rows = (
        [f"[{it['title']}]({name}.md)", ", ".join(_versions(it)), *_recorded(it)]
        for name, it in quickstarts().items()
    )
    return page(
        "Frameworks",
        "Each page takes you from an empty folder to the scores of an agent. `yes` means exact: "
        "the agent was run on the versions named, with a stand-in for the model, and the values "
        "read from its traces equal those that the model and the tools gave.",
        table(["framework", "tried with", *ASPECTS], rows),
        "Other frameworks work as well: see more for [Python](more-python-frameworks.md), "
        "[JavaScript](more-javascript-frameworks.md) and [other languages](other-languages.md), "
        "[gateways to models](gateways.md), [your own agent](../start/your-agent.md), and [any "
        "OpenTelemetry SDK](opentelemetry.md).",
        "Runs that another tool has recorded are imported: from "
        f"{', '.join(f'[{title}]({name}.md)' for name, title in EXPORTS.items())}.",
    )


def _page(name: str, quickstart: Mapping[str, Any]) -> str:
    agent = program(name)
    return page(
        quickstart["title"],
        f"Score an agent that uses {quickstart['title']}{_change(quickstart)}. Tried with "
        f"{', '.join(_versions(quickstart))}.",
        "## Install",
        f"```\n{_installs(name, quickstart)}\n```",
        _writer(quickstart),
        "## The agent",
        f"`{agent.name}`:\n\n```{_LANGUAGES[agent.suffix]}\n{agent.read_text('utf-8')}```",
        "## Run and score",
        "Start a collector, and leave it running:",
        "```\ntracegrade collect --lake lake\n```",
        f"In another terminal, set `{quickstart['key']}`, ask the agent about an order that "
        "exists and about one that does not, and score both runs:",
        f"```\n{_asks_and_scores(name, quickstart)}\n```",
        "`score` should count two trajectories and two tool calls, and say that one failed. "
        "`tracegrade ui --lake lake` shows each run step by step. To score decisions and success, "
        "[write a task file](../guides/write-tasks.md).",
        "## Recorded data",
        table(ASPECTS, [_recorded(quickstart)]),
        quickstart["notes"].strip(),
    )


def _installs(name: str, quickstart: Mapping[str, Any]) -> str:
    """Return the commands that install tracegrade and the agent's requirements."""
    packages = map(_quoted, [*quickstart["packages"], *quickstart["instrumentors"]])
    own = "pip install 'tracegrade[all]'"
    if program(name).suffix == ".mjs":
        return f"{own}\nnpm install {' '.join(packages)}"
    return f"{own} {' '.join(packages)}"


def _asks_and_scores(name: str, quickstart: Mapping[str, Any]) -> str:
    """Return the commands that ask the agent all questions, and score its runs."""
    variables = quickstart.get("variables", {})
    exports = [f"export {variable}={value}" for variable, value in variables.items()]
    asks = [command(name, question) for question in QUESTIONS]
    scores = ["tracegrade score --lake lake", "tracegrade report --lake lake"]
    return "\n".join([*exports, *asks, *scores])


def _quoted(package: str) -> str:
    """Return a package as a shell takes it."""
    return f"'{package}'" if "[" in package else package


def _change(quickstart: Mapping[str, Any]) -> str:
    """Return the change in an agent that makes it recorded."""
    adds = quickstart.get("adds")
    return f", with {adds} in its program" if adds else " without changing it"


def _writer(quickstart: Mapping[str, Any]) -> str:
    """Return who writes the spans."""
    if _sends_itself(quickstart):
        return (
            f"{quickstart['title']} writes its spans itself, and sends them to the collector; "
            "`tracegrade run` is not needed."
        )
    if instrumentors := quickstart["instrumentors"]:
        names = " and ".join(f"`{name}`" for name in instrumentors)
        if len(instrumentors) > 1:
            return f"{names} write the spans; `tracegrade run` finds them and turns them on."
        return f"{names} writes the spans; `tracegrade run` finds it and turns it on."
    return (
        f"{quickstart['title']} writes its spans itself; `tracegrade run` turns them on, so no "
        "instrumentation is needed."
    )


def _recorded(quickstart: Mapping[str, Any]) -> list[str]:
    """Return, for each aspect, `yes` if it is exact, else the part that is missing."""
    lacks = quickstart.get("lacks", {})
    return [lacks.get(aspect, "yes") for aspect in ASPECTS]


def _versions(quickstart: Mapping[str, Any]) -> Iterator[str]:
    """Yield each package of the framework with the version that is tried."""
    pinned = _pinned(ENVIRONMENTS / environment(quickstart))
    for package in [*quickstart["packages"], *quickstart["instrumentors"]]:
        name = package.partition("[")[0]
        yield f"{name} {pinned[name]}"


def _pinned(packages: Path) -> Mapping[str, str]:
    """Return the version of each package of an environment."""
    if packages.is_dir():
        needs: dict[str, str] = json.loads((packages / "package.json").read_text())["dependencies"]
        return needs
    lines = packages.with_suffix(".txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines)
