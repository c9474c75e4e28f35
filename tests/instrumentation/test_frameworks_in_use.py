"""Which instrumentors of a program stay: each model call is written once, and none is missed."""

from pathlib import Path

import pytest
from tests.slow import slow_after

from .installed import framework, instrumentor, told

SPANS = """
import os
from opentelemetry import trace
print(f"ANTHROPIC_OPEN_TELEMETRY={os.environ.get('ANTHROPIC_OPEN_TELEMETRY')}")
for scope in %r:
    with trace.get_tracer(scope).start_as_current_span("a"):
        pass
print(f"ANTHROPIC_OPEN_TELEMETRY={os.environ.get('ANTHROPIC_OPEN_TELEMETRY')}")
"""
CLIENT = "openinference_instrumentation_mistralai"
CREWAI = "openinference_instrumentation_crewai"
LANGCHAIN = "openinference_instrumentation_langchain"
IN = [CLIENT]
OUT = [CLIENT, f"without {CLIENT}"]


@pytest.mark.parametrize(
    ("installed", "scopes", "printed"),
    slow_after(
        4,
        [
            (["openinference-smolagents"], ["openinference_instrumentation_smolagents"], OUT),
            (["openinference-smolagents"], ["other"], IN),
            (["openinference-crewai"], [f"{CREWAI}.events"], IN),
            (["strands-agents"], ["strands.telemetry.tracer"], OUT),
            (["openinference-llama-index"], ["openinference_instrumentation_llama_index"], OUT),
            (["opentelemetry-genai-smolagents"], ["smolagents"], IN),
            (["opentelemetry-genai-agno"], ["opentelemetry_instrumentation_genai_agno"], IN),
            (
                ["openinference-crewai", "openinference-langchain"],
                [
                    "openinference_instrumentation_langchain",
                    "openinference_instrumentation_crewai",
                ],
                [*OUT, CLIENT],
            ),
            (
                ["openinference-crewai", "openinference-langchain"],
                [
                    "openinference_instrumentation_crewai",
                    "openinference_instrumentation_langchain",
                ],
                IN,
            ),
            (["google-adk"], ["gcp.vertex.agent"], OUT),
            (["agent-framework-core"], ["agent_framework"], OUT),
            (["pydantic-ai-slim"], ["pydantic-ai"], OUT),
        ],
    ),
)
def test_client_is_left_to_the_framework_that_is_used(
    tmp_path: Path, installed: list[str], scopes: list[str], printed: list[str]
) -> None:
    """Its first span tells, if its spans hold the model calls; what is installed need not be used.

    Seen with the releases of autumn 2026, as `_COVERING` and `_LEAVING` have them.
    """
    for name in installed:
        family, _, library = name.partition("-")
        if family in {"openinference", "opentelemetry"}:
            short = library.removeprefix("genai-")
            instrumentor(tmp_path, f"{family}-instrumentation-{library}", short)
        else:
            framework(tmp_path, name, name.replace("-", "_"))
    instrumentor(tmp_path, "openinference-instrumentation-mistralai", "mistralai")
    start, others, lines = told(tmp_path, program=SPANS % scopes)

    said = f"left out from here on, since the spans of {scopes[0]} hold its model calls"
    assert "openinference-instrumentation-mistralai" in start
    assert [line for line in lines if line.endswith(CLIENT)] == printed
    assert (said in others) is (printed != IN)
    before, after = (line for line in lines if line.startswith("ANTHROPIC"))
    assert before.endswith("=None")
    assert after.endswith("=false") is (printed != IN)


def test_instrumentor_of_a_framework_that_writes_itself_is_left_out(tmp_path: Path) -> None:
    """And said; unless it is named."""
    for name in ("google-adk", "mistralai"):
        framework(tmp_path, name, name.replace("-", "_"))
        instrumentor(tmp_path, f"openinference-instrumentation-{name}", f"{name}-spans")
    start, others, _ = told(tmp_path)
    named, *_ = told(tmp_path, "--instrumentors", "openinference-instrumentation-google-adk")

    assert "openinference-instrumentation-google-adk" not in start
    assert "itself: openinference-instrumentation-google-adk; --instrumentors" in others
    assert named.endswith("instrumentors: openinference-instrumentation-google-adk")


def test_instrumentor_that_requires_more_than_its_library_is_loaded(tmp_path: Path) -> None:
    """As OpenInference's for LlamaIndex, 4.6.1; not where its library itself is missing."""
    for library, package in (("llama-index", "multi-modal"), ("groq", "groq-types")):
        needs = f'{package}>=1; extra == "instruments"\nProvides-Extra: instruments'
        instrumentor(tmp_path, f"openinference-instrumentation-{library}", library, needs)
    start, others, lines = told(tmp_path)

    assert start.endswith("instrumentors: openinference-instrumentation-llama-index")
    assert lines == ["openinference_instrumentation_llama_index"]
    assert others == ""


def test_instrumentor_that_fails_holds_up_no_other(tmp_path: Path) -> None:
    """It is said in one line, as of OpenLLMetry's for MCP, 0.62.4, with MCP 2."""
    for library in ("alpha", "beta", "gamma"):
        instrumentor(tmp_path, f"openinference-instrumentation-{library}", library)
    beta = tmp_path / "openinference_instrumentation_beta.py"
    beta.write_text(
        "class It:\n    def instrument(self, **_): raise AttributeError('no\\nclient')\n"
    )
    _, others, lines = told(tmp_path)

    assert lines == [f"openinference_instrumentation_{library}" for library in ("alpha", "gamma")]
    assert others == (
        "tracegrade: warning: openinference-instrumentation-beta failed, and may instrument "
        "nothing: no client"
    )


PYDANTIC_AI = """
class Agent:
    @staticmethod
    def instrument_all(): print("turned on")
"""


@pytest.mark.parametrize(
    ("wish", "printed"),
    [([], ["turned on"]), (["--instrumentors", "none"], [])],
)
def test_spans_of_a_framework_are_turned_on_once_it_is_imported(
    tmp_path: Path, wish: list[str], printed: list[str]
) -> None:
    """As far as the program may want any."""
    framework(tmp_path, "pydantic-ai-slim", "pydantic_ai")
    (tmp_path / "pydantic_ai.py").write_text(PYDANTIC_AI)
    _, others, lines = told(tmp_path, *wish, program="import pydantic_ai")

    assert lines == printed
    assert "instrument_all" not in others
