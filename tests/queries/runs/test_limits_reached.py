"""A run that its framework ended at a limit says so by the error of its root."""

from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, apart, rows, tool, with_events

REACHED: list[tuple[str, str]] = [
    ("MaxTurnsExceeded", "Max turns (10) exceeded"),
    ("Exception", "Max turns (10) exceeded"),
    (
        "GraphRecursionError",
        "Recursion limit of 25 reached without hitting a stop condition. You can increase the "
        "limit by setting the `recursion_limit` config key.",
    ),
    ("UsageLimitExceeded", "The next request would exceed the request_limit of 50"),
    ("AgentMaxStepsError", "Reached max steps."),
    (
        "LlmCallsLimitExceededError",
        "Max number of llm calls limit of `500` exceeded",
    ),
    ("MaxTokensReachedException", "Agent has reached an unrecoverable state"),
    (
        "WorkflowRuntimeError",
        "Max iterations of 20 reached! Either something went wrong, or you can increase it.",
    ),
    ("WorkflowTimeoutError", "Operation timed out after 10.0 seconds"),
    ("PipelineMaxComponentRuns", "Maximum run count 100 reached for component 'llm'"),
    ("error_max_turns", ""),
    ("openai.BadRequestError", "Error code: 400 - {'code': 'context_length_exceeded'}"),
]
"""Type and message of errors that enforce a framework's limit."""

OTHERS: list[tuple[str, str]] = [
    ("RecursionError", "maximum recursion depth exceeded"),
    ("openai.RateLimitError", "Rate limit reached on tokens per min (TPM): Limit 30000"),
    ("httpx.ReadTimeout", "The read operation timed out"),
    ("BadRequestError", "max_tokens is too large: 5000. At most 4096 are supported."),
    ("ConnectionError", "Max retries exceeded with url: /v1/chat/completions"),
    ("ValueError", "max_steps must be greater than 0"),
]
"""Of errors that are none."""


def failed(kind: str, message: str) -> list[Row]:
    """Return a run whose root failed with an exception."""
    told = {"exception.type": kind, "exception.message": message}
    return [with_events(agent(1, error=message), ("exception", told)), tool(2, 1, at=2)]


def limited(lake: Any) -> list[bool]:
    """Return of each run, by its id, whether a limit ended it."""
    found = "SELECT list_contains(flags, 'limit_reached') AS limited FROM trajectories "
    return [row["limited"] for row in rows(lake, f"{found}ORDER BY trajectory_id")]


@built_together
def test_errors_by_which_frameworks_keep_a_limit() -> Scene:
    """By the type of the exception, or by its message alone."""
    lake = yield apart(failed(*each) for each in REACHED)
    assert dict(zip(REACHED, limited(lake), strict=True)) == dict.fromkeys(REACHED, True)


@built_together
def test_errors_that_are_no_limit_of_the_run() -> Scene:
    """Reverse: the process, the network and the provider have limits of their own."""
    lake = yield apart(failed(*each) for each in OTHERS)
    assert dict(zip(OTHERS, limited(lake), strict=True)) == dict.fromkeys(OTHERS, False)


@built_together
def test_limit_of_a_step_that_the_run_survived() -> Scene:
    """Reverse: a tool's own agent came to its limit, and the run went on and ended well."""
    lake = yield [agent(1), tool(2, 1, at=2, error="MaxTurnsExceeded: Max turns (3) exceeded")]
    assert limited(lake) == [False]
