"""Which instrumentor to load for each library: one, of the families that are installed for it.

Two instrumentors of one library would write each model call twice. OpenTelemetry's own GenAI
family comes first, then OpenInference, then OpenLLMetry; what instruments no agent library (HTTP
clients, databases) has a library of its own and is loaded as always.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution
from typing import Final, NamedTuple

GROUP: Final = "opentelemetry_instrumentor"
_PREFIXES: Final = (
    "opentelemetry-instrumentation-genai-",
    "openinference-instrumentation-",
    "opentelemetry-instrumentation-",
)
_OPENLLMETRY_NEEDS: Final = "opentelemetry-semantic-conventions-ai"

_COVERING: Final = frozenset(
    ("agno", "langchain", "llamaindex", "openaiagents", "smolagents", "strandsagents")
)
"""Libraries whose instrumentors write each model call, so a client's would write it again.

OpenInference's for LangChain never makes its spans current: there, as a trace of its own.
"""

_NOT_COVERING: Final = frozenset(("crewai",))
"""Frameworks whose instrumentors leave model calls to those of the clients beside them."""

_NATIVE: Final = {"google-adk": "googleadk", "agent-framework-core": "agentframework"}
"""Distributions that write complete spans of their own, model calls too, and their library."""

_MODEL_CLIENTS: Final = frozenset(
    ("anthropic", "bedrock", "googlegenai", "groq", "litellm", "mistralai", "openai", "vertexai")
)

_FRAMEWORKS: Final = {
    "agno": "openinference-instrumentation-agno",
    "autogen-agentchat": "openinference-instrumentation-autogen-agentchat",
    "beeai-framework": "openinference-instrumentation-beeai",
    "claude-agent-sdk": "openinference-instrumentation-claude-agent-sdk",
    "crewai": "openinference-instrumentation-crewai",
    "dspy": "openinference-instrumentation-dspy",
    "langchain-core": "openinference-instrumentation-langchain",
    "llama-index-core": "openinference-instrumentation-llama-index",
    "openai-agents": "openinference-instrumentation-openai-agents",
    "smolagents": "openinference-instrumentation-smolagents",
}
"""Distributions of agent frameworks, and one that instruments each."""

_CALLED: Final = {
    "pydantic-ai-slim": "pydantic_ai.Agent.instrument_all()",
}
"""Frameworks that write spans themselves once the program calls this; nothing else can."""

_MODULES: Final = {
    "google-genai": "google.genai",
    "llama-index-core": "llama_index.core",
    "openai-agents": "agents",
    "pydantic-ai-slim": "pydantic_ai",
}
"""What a program imports of a distribution, where that is not its name with underscores."""

_CLIENTS: Final = {
    "anthropic": "openinference-instrumentation-anthropic",
    "google-genai": "openinference-instrumentation-google-genai",
    "groq": "openinference-instrumentation-groq",
    "litellm": "openinference-instrumentation-litellm",
    "mistralai": "openinference-instrumentation-mistralai",
    "openai": "openinference-instrumentation-openai",
}
"""Distributions of model clients, of which an agent without a framework is made."""


class Family(StrEnum):
    """Who writes an instrumentor; in order of preference."""

    OTEL = "otel"
    OPENINFERENCE = "openinference"
    OPENLLMETRY = "openllmetry"


class Instrumentor(NamedTuple):
    """One installed instrumentor."""

    entry: EntryPoint
    distribution: str
    family: Family
    library: str
    """What it instruments, spelled alike in all families."""


def instrumentor_of(entry: EntryPoint) -> Instrumentor:
    """Return whose instrumentor an entry point is, and of which library."""
    distribution = entry.dist.name.lower().replace("_", "-") if entry.dist is not None else ""
    needs = (entry.dist.requires if entry.dist is not None else None) or []
    if distribution.startswith("openinference-"):
        family = Family.OPENINFERENCE
    elif any(need.startswith(_OPENLLMETRY_NEEDS) for need in needs):
        family = Family.OPENLLMETRY
    else:
        family = Family.OTEL
    return Instrumentor(entry, distribution, family, _library(distribution or entry.name))


def _library(distribution: str) -> str:
    for prefix in _PREFIXES:
        if distribution.startswith(prefix):
            distribution = distribution.removeprefix(prefix)
            break
    return re.sub(r"[-_.]|v\d+$", "", distribution)


def choose(found: Iterable[EntryPoint], wish: str = "") -> list[Instrumentor]:
    """Return one instrumentor for each library, by the user's wish or our preference.

    Those that would write again what a framework or its instrumentor writes are left out unless
    named.

    Args:
        found: The entry points of all installed instrumentors.
        wish: Families in order of preference, or names of distributions, or `none`; see
            `tracegrade run --help`.
    """
    instrumentors = [instrumentor_of(entry) for entry in found]
    words = [word.strip().lower() for word in wish.split(",") if word.strip()]
    named = [one for one in instrumentors if one.distribution in words]
    families = [Family(word) for word in words if word in set(Family)]
    if named or (words and not families):
        return _one_each(named)
    preference = {family: rank for rank, family in enumerate(families or Family)}
    wanted = [one for one in instrumentors if one.family in preference]
    return _uncovered(_one_each(sorted(wanted, key=lambda one: preference[one.family])))


def _uncovered(chosen: list[Instrumentor]) -> list[Instrumentor]:
    """Return the chosen without those whose spans another one, or a framework itself, writes."""
    native = {library for name, library in _NATIVE.items() if _is_installed(name)}
    others = [one for one in chosen if one.library not in native]
    libraries = {one.library for one in others}
    if not (native or libraries & _COVERING) or libraries & _NOT_COVERING:
        return others
    return [one for one in others if one.library not in _MODEL_CLIENTS]


def left_out(found: Iterable[EntryPoint], wish: str, chosen: Iterable[Instrumentor]) -> list[str]:
    """Return the distributions of installed instrumentors whose library has none of the chosen.

    Nothing is left out of a wish that names distributions, or none.
    """
    words = [word.strip().lower() for word in wish.split(",") if word.strip()]
    if any(word not in set(Family) for word in words):
        return []
    libraries = {one.library for one in chosen}
    others = (instrumentor_of(entry) for entry in found)
    covered = _MODEL_CLIENTS | set(_NATIVE.values())
    return sorted(
        {
            one.distribution
            for one in others
            if one.library in covered - libraries and (not words or one.family in words)
        }
    )


def writes_itself() -> bool:
    """Return whether a framework is installed that writes complete spans unasked."""
    return any(_is_installed(name) for name in _NATIVE)


def _one_each(instrumentors: Iterable[Instrumentor]) -> list[Instrumentor]:
    kept: dict[str, Instrumentor] = {}
    for one in instrumentors:
        kept.setdefault(one.library, one)
    return sorted(kept.values(), key=lambda one: one.library)


def unknown_words(found: Iterable[EntryPoint], wish: str) -> list[str]:
    """Return the words of a wish that name neither a family nor an installed distribution."""
    names: Mapping[str, object] = {instrumentor_of(entry).distribution: None for entry in found}
    words = [word.strip().lower() for word in wish.split(",") if word.strip()]
    return [word for word in words if word not in {*names, *Family, "none"}]


class Remedy(NamedTuple):
    """What to do about a library that nothing instruments, once a program imports it."""

    module: str
    line: str


def remedies(found: Iterable[EntryPoint]) -> list[Remedy]:
    """Return one for each installed framework that nothing instruments.

    Clients of models count only where no framework is installed, since those use them, or beside
    one whose instrumentor leaves model calls to theirs.

    Args:
        found: The entry points of the instrumentors that could be loaded.
    """
    libraries = {instrumentor_of(entry).library for entry in found}
    called = [name for name in _CALLED if _is_installed(name)]
    frameworks = [name for name in _FRAMEWORKS if _is_installed(name)]
    native = [name for name in _NATIVE if _is_installed(name)]
    bare = libraries & _NOT_COVERING or not (called or native or frameworks)
    clients = [name for name in _CLIENTS if bare and _is_installed(name)]
    named = _FRAMEWORKS | _CLIENTS
    lines = {
        name: f"{name} is imported, and writes spans only if the program calls {_CALLED[name]}"
        for name in called
    } | {
        name: f"{name} is imported, and nothing that is installed instruments it; "
        f"pip install {named[name]}"
        for name in frameworks + clients
        if _library(named[name]) not in libraries
    }
    return [Remedy(_module(name), line) for name, line in lines.items()]


def _module(name: str) -> str:
    return _MODULES.get(name, name.replace("-", "_"))


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
