"""Chooses one instrumentor for each library, from the installed families of instrumentors.

Two instrumentors of one library would write each model call twice. OpenTelemetry's own GenAI
family comes first, then OpenInference, then OpenLLMetry. Instrumentors of other libraries (HTTP
clients, databases) are loaded as usual. A framework's instrumentor and its client's would also
write a call twice. Which of them write model calls was determined by running an agent under each
of them, against a model that counts.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

GROUP: Final = "opentelemetry_instrumentor"
_PREFIXES: Final = (
    "opentelemetry-instrumentation-genai-",
    "openinference-instrumentation-",
    "opentelemetry-instrumentation-",
)
_OPENLLMETRY_NEEDS: Final = "opentelemetry-semantic-conventions-ai"


class Family(StrEnum):
    """Publishers of instrumentors, in order of preference."""

    OTEL = "otel"
    OPENINFERENCE = "openinference"
    OPENLLMETRY = "openllmetry"


_COVERING: Final = frozenset(
    {
        *(
            (Family.OPENINFERENCE, library)
            for library in (
                "agno",
                "autogenagentchat",
                "langchain",
                "llamaindex",
                "openaiagents",
                "smolagents",
            )
        ),
        *(
            (Family.OPENLLMETRY, library)
            for library in ("langchain", "llamaindex", "openaiagents")
        ),
        *((Family.OTEL, library) for library in ("dspy", "langchain")),
    }
)
"""Frameworks' instrumentors that write each model call, so a client's would write it again.

OpenInference's for LangChain never makes its spans current: there, as a trace of its own.
"""

_LEAVING: Final = frozenset(
    {
        *((Family.OPENINFERENCE, library) for library in ("crewai", "dspy", "haystack")),
        *((Family.OPENLLMETRY, library) for library in ("agno", "crewai", "haystack")),
        *(
            (Family.OTEL, library)
            for library in ("agno", "llamaindex", "openaiagents", "smolagents")
        ),
    }
)
"""Instrumentors that leave model calls, or their tokens, to the instrumentors of clients."""


class Native(NamedTuple):
    """A framework that writes complete spans of its own, model calls too."""

    library: str
    scope: str
    """The instrumentation scope of its spans."""


_NATIVE: Final = {
    "agent-framework-core": Native("agentframework", "agent_framework"),
    "google-adk": Native("googleadk", "gcp.vertex.agent"),
    "strands-agents": Native("strandsagents", "strands.telemetry.tracer"),
}
"""Frameworks that write complete spans by default, by distribution."""

_CALLED: Final = {"pydantic-ai-slim": Native("pydanticai", "pydantic-ai")}
"""Frameworks that write them once `Agent.instrument_all()` of their module is called."""

_MODEL_CLIENTS: Final = frozenset(
    (
        "alephalpha",
        "anthropic",
        "bedrock",
        "cohere",
        "googlegenai",
        "groq",
        "litellm",
        "mistralai",
        "ollama",
        "openai",
        "portkey",
        "replicate",
        "sagemaker",
        "together",
        "vertexai",
        "watsonx",
        "writer",
    )
)

_SAME: Final = {"googlegenerativeai": "googlegenai"}
"""Libraries that a family calls by another name than the others."""

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

_MODULES: Final = {
    "google-genai": "google.genai",
    "llama-index-core": "llama_index.core",
    "openai-agents": "agents",
    "pydantic-ai-slim": "pydantic_ai",
}
"""Module that a program imports, if it is not the distribution's name with underscores."""

_HELPERS: Final = frozenset(("packaging", "typing-extensions", "wrapt"))
"""Distributions that instrumentors require for themselves."""

_CLIENTS: Final = {
    "anthropic": "openinference-instrumentation-anthropic",
    "google-genai": "openinference-instrumentation-google-genai",
    "groq": "openinference-instrumentation-groq",
    "litellm": "openinference-instrumentation-litellm",
    "mistralai": "openinference-instrumentation-mistralai",
    "openai": "openinference-instrumentation-openai",
}
"""Distributions of model clients; agents without a framework use them."""


class Instrumentor(NamedTuple):
    """One installed instrumentor."""

    entry: EntryPoint
    distribution: str
    family: Family
    library: str
    """What it instruments, spelled alike in all families."""


def instrumentor_of(entry: EntryPoint) -> Instrumentor:
    """Return the publisher and the library of an entry point's instrumentor."""
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
    library = re.sub(r"[-_.]|v\d+$", "", distribution)
    return _SAME.get(library, library)


def choose(found: Iterable[EntryPoint], wish: str = "") -> list[Instrumentor]:
    """Return one instrumentor for each library, by the user's wish or tracegrade's preference.

    Instrumentors of a framework that writes its spans itself are left out unless named.

    Args:
        found: The entry points of all installed instrumentors.
        wish: Families in order of preference, or names of distributions, or `none`; see
            `tracegrade run --help`.
    """
    instrumentors = [instrumentor_of(entry) for entry in found]
    words = _words(wish)
    named = [one for one in instrumentors if one.distribution in words]
    families = [Family(word) for word in words if word in set(Family)]
    if named or (words and not families):
        return _one_each(named)
    preference = {family: rank for rank, family in enumerate(families or Family)}
    preferred = [one for one in instrumentors if one.family in preference]
    best = _one_each(sorted(preferred, key=lambda one: preference[one.family]))
    native = {native.library for name, native in _NATIVE.items() if _is_installed(name)}
    return [one for one in best if one.library not in native]


def left_out(found: Iterable[EntryPoint], wish: str, chosen: Iterable[Instrumentor]) -> list[str]:
    """Return the installed instrumentors of frameworks that write their spans themselves.

    Empty if the wish names distributions, or `none`.
    """
    if names_any(wish):
        return []
    families = _words(wish) or list(Family)
    native = {native.library for native in _NATIVE.values()} - {one.library for one in chosen}
    others = map(instrumentor_of, found)
    return sorted(
        {one.distribution for one in others if one.library in native and one.family in families}
    )


def clients_of(chosen: Iterable[Instrumentor]) -> list[Instrumentor]:
    """Return those of model clients, whose calls a framework's spans may hold already."""
    return [one for one in chosen if one.library in _MODEL_CLIENTS]


def watched(chosen: Iterable[Instrumentor]) -> dict[str, bool]:
    """Return the scopes of frameworks' spans, and whether these hold the model calls.

    An installed framework may be unused: a program uses it once the framework writes a span.
    """
    covering = {one.entry.module: True for one in chosen if _kind(one) in _COVERING}
    leaving = {one.entry.module: False for one in chosen if _kind(one) in _LEAVING}
    native = {
        native.scope: True for name, native in (_NATIVE | _CALLED).items() if _is_installed(name)
    }
    return covering | leaving | native


def _kind(one: Instrumentor) -> tuple[Family, str]:
    return one.family, one.library


def names_any(wish: str) -> bool:
    """Return whether a wish names distributions, or none, and so decides all by itself."""
    return any(word not in set(Family) for word in _words(wish))


def _words(wish: str) -> list[str]:
    return [word.strip().lower() for word in wish.split(",") if word.strip()]


def writes_itself() -> bool:
    """Return whether a framework is installed that writes complete spans by default."""
    return any(_is_installed(name) for name in _NATIVE)


def has_own_spans() -> bool:
    """Return whether the installed client of Anthropic writes spans itself, as new ones do."""
    found = find_spec("anthropic")  # finds it, and does not import it
    places = (found.submodule_search_locations if found else None) or []
    return any((Path(folder) / "_tracing.py").is_file() for folder in places)


def is_present(entry: EntryPoint) -> bool | None:
    """Return whether the library of an instrumentor is installed; None if the library is unknown.

    The requirements of an instrumentor are not a guide: OpenInference's for LlamaIndex requires a
    package that few have, and its instrumentor for LiteLLM requires none.
    """
    library = instrumentor_of(entry).library
    named = (_FRAMEWORKS | _CLIENTS).items()
    known = [name for name, instrumentor in named if _library(instrumentor) == library]
    return any(map(_is_installed, known)) if known else None


def _one_each(instrumentors: Iterable[Instrumentor]) -> list[Instrumentor]:
    chosen: dict[str, Instrumentor] = {}
    for one in instrumentors:
        chosen.setdefault(one.library, one)
    return sorted(chosen.values(), key=lambda one: one.library)


def unknown_words(found: Iterable[EntryPoint], wish: str) -> list[str]:
    """Return the words of a wish that name neither a family nor an installed distribution."""
    names: Mapping[str, object] = {instrumentor_of(entry).distribution: None for entry in found}
    words = _words(wish)
    return [word for word in words if word not in {*names, *Family, "none"}]


class Remedy(NamedTuple):
    """Advice about a library without an instrumentor, given once a program imports it."""

    module: str
    line: str
    turns_on: bool = False
    """Whether `Agent.instrument_all()` of the module does it."""


def remedies(found: Iterable[EntryPoint]) -> list[Remedy]:
    """Return a remedy for each installed framework without an instrumentor.

    Clients of models count only if no framework is installed, since frameworks use them, or if a
    framework's instrumentor leaves model calls to the clients'.

    Args:
        found: The entry points of the instrumentors that could be loaded.
    """
    instrumentors = [instrumentor_of(entry) for entry in found]
    frameworks = [name for name in _FRAMEWORKS if _is_installed(name)]
    called = [name for name in _CALLED if _is_installed(name)]
    native = [name for name in _NATIVE if _is_installed(name)]
    bare = any(_kind(one) in _LEAVING for one in instrumentors)
    bare |= not (called or native or frameworks)
    clients = [name for name in _CLIENTS if bare and _needs_instrumentor(name)]
    named = _FRAMEWORKS | _CLIENTS
    libraries = {one.library for one in instrumentors}
    return [
        *(Remedy(_module(name), _asks_to_call(name), turns_on=True) for name in called),
        *(
            Remedy(_module(name), _asks_to_install(name, named[name]))
            for name in frameworks + clients
            if _library(named[name]) not in libraries
        ),
    ]


def _needs_instrumentor(client: str) -> bool:
    return _is_installed(client) and not (client == "anthropic" and has_own_spans())


def _asks_to_call(name: str) -> str:
    called = f"{_module(name)}.Agent.instrument_all()"
    return f"{name} is imported, and writes spans only if the program calls {called}"


def _asks_to_install(name: str, instrumentor: str) -> str:
    nothing = "nothing that is installed instruments it"
    return f"{name} is imported, and {nothing}; pip install {instrumentor}"


def _module(name: str) -> str:
    return _MODULES.get(name, name.replace("-", "_"))


def imported_names(found: Iterable[EntryPoint]) -> set[str]:
    """Return the import names of libraries that are or should be instrumented.

    The names include an instrumentor's name and the distributions that it requires, so some of
    them do not name a module.

    Args:
        found: The entry points of all installed instrumentors.
    """
    required = [word for entry in found for word in (entry.name, *_required(entry))]
    known = map(_module, [*_FRAMEWORKS, *_CLIENTS, *_CALLED, *_NATIVE])
    return {name.partition(".")[0] for name in (*map(_module, required), *known)}


def _required(entry: EntryPoint) -> list[str]:
    needs = (entry.dist.requires if entry.dist is not None else None) or []
    names = [re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in needs]
    return [name for name in names if name not in _HELPERS]


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
