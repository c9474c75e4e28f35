"""Why a change of a captured trace cannot leave what is read of it as it was."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

LOGS: Final = "The messages are in log records, which this change leaves alone."
ONE_RUN: Final = "No span is an agent's, so that the trace is one run."
CODE: Final = (
    "Arguments are read from the code that the model wrote, which this change leaves alone."
)
PLACE: Final = "Nothing records what the model requested, so a call is placed by its time."
UNTOLD: Final = "Without content and an end, nothing tells how the call ended."
OUTERMOST: Final = "Only the outermost span says that the tool does not exist."

_FAILING: Final = ("", "__toolerror")
_ALL: Final = ("", "__halluc", "__toolerror")


def _reasons() -> Iterator[tuple[tuple[str, str], str]]:
    logged = {
        "claude-code": _ALL,
        "google-adk_content": _FAILING,
        "google-adk_schema1": _ALL,
        "google-genai_0.4b0": _FAILING,
        "google-genai_otel": ("",),
        "otel-events_openai-v2": ("",),
        "semantic-kernel": ("__halluc", "__toolerror"),
        "strands_agentcore": _ALL,
        "strands_agentcore_latest": ("",),
    }
    for capture, variants in logged.items():
        yield from _each("done_twice", capture, variants, LOGS)
    for capture in ("logfire_openai", "mcp_fastmcp", "mcp_traceloop"):
        yield from _each("done_twice", capture, _ALL, ONE_RUN)
    yield from _each("no_arguments", "semantic-kernel", _FAILING, LOGS)
    yield from _each("no_arguments", "strands_agentcore_latest", ("",), LOGS)
    yield from _each("no_arguments", "smolagents_code", _FAILING, CODE)
    for change in ("tools_early", "tools_late"):
        yield from _each(change, "claude-code", _FAILING, PLACE)
    yield from _each("tools_late", "agno_traceloop", _FAILING, PLACE)
    yield from _each("tools_late", "google-adk_openinference", ("", "__halluc"), PLACE)
    for capture in ("autogen_native", "google-adk_default"):
        yield from _each("tools_without_end", capture, ("",), UNTOLD)
    yield from _each("killed", "mastra_1.71", ("__halluc",), OUTERMOST)


def _each(
    change: str, capture: str, variants: Iterable[str], reason: str
) -> Iterator[tuple[tuple[str, str], str]]:
    return (((change, capture + variant), reason) for variant in variants)


REASONS: Final[Mapping[tuple[str, str], str]] = dict(_reasons())
"""By the change and the capture, as a note below the table says it."""
