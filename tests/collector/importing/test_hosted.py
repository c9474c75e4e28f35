"""Chats with tools that the provider ran: each is one call, with what came of it."""

from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import imported, written
from tests.collector.importing.together import Scene
from tests.scenes import built_together

ASKED = {"role": "user", "content": "Find x."}
ANTHROPIC = [
    {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "search", "input": {"q": 1}}
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": "1 hit"},
            {"type": "text", "text": "Found it."},
        ],
    },
]
OPENAI = [
    {
        "type": "mcp_call",
        "id": "mcp_1",
        "name": "search",
        "server_label": "s",
        "arguments": '{"q": 1}',
        "output": "1 hit",
    },
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Found it."}],
    },
]
VERCEL = [
    {
        "role": "assistant",
        "content": [
            {
                "type": "tool-call",
                "toolCallId": "c1",
                "toolName": "search",
                "input": {"q": 1},
                "providerExecuted": True,
            },
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "search",
                "output": {"type": "text", "value": "1 hit"},
                "providerExecuted": True,
            },
            {"type": "text", "text": "Found it."},
        ],
    }
]


@pytest.mark.parametrize("said", [ANTHROPIC, OPENAI, VERCEL], ids=["blocks", "items", "marked"])
@built_together
def test_call_of_a_provider(folder: Path, said: list[dict[str, Any]]) -> Scene:
    """It is read for any executor, and completely."""
    outcome = yield imported(folder, written(folder, [{"messages": [ASKED, *said]}]))

    assert outcome.steps() == [
        ("tool_call", "search", '{"q":1}', "1 hit", "ok"),
        ("observation", "search", None, "1 hit", None),
        ("answer", None, None, "Found it.", None),
    ]
    assert outcome.rows("SELECT executed_by FROM steps WHERE kind = 'tool_call'") == [
        ("provider",)
    ]


SEARCH = {
    "groundingMetadata": {
        "webSearchQueries": ["x"],
        "groundingChunks": [{"web": {"uri": "https://e.x"}}],
    }
}
PAGES = {
    "url_context_metadata": {
        "url_metadata": [
            {"retrieved_url": "https://e.x", "url_retrieval_status": "URL_RETRIEVAL_STATUS_ERROR"}
        ]
    }
}
SEARCHED = ("google_search", '{"queries":["x"]}', "ok", "provider")


@pytest.mark.parametrize(
    ("said", "call"),
    [
        ({"role": "model", "parts": [{"text": "It."}], **SEARCH}, SEARCHED),
        ({"type": "ai", "content": "It.", "response_metadata": SEARCH}, SEARCHED),
        (
            {"role": "model", "parts": [{"text": "It."}], **PAGES},
            ("url_context", '{"urls":["https://e.x"]}', "error", "provider"),
        ),
        (
            {
                "type": "ai",
                "content": [{"type": "text", "text": "It."}],
                "additional_kwargs": {
                    "tool_outputs": [
                        {
                            "type": "web_search_call",
                            "id": "ws_1",
                            "status": "completed",
                            "action": {"query": "x"},
                        },
                        {"type": "mcp_list_tools", "id": "mcpl_1"},
                    ]
                },
            },
            ("web_search", '{"query":"x"}', "ok", "provider"),
        ),
    ],
    ids=["google", "metadata of langchain", "pages", "older form of langchain"],
)
@built_together
def test_call_that_stands_beside_a_message(
    folder: Path, said: dict[str, Any], call: tuple[str, ...]
) -> Scene:
    """A search's results are next to the answer, OpenAI's calls in a field of their own."""
    outcome = yield imported(folder, written(folder, [{"messages": [ASKED, said]}]))

    calls = "SELECT tool_name, arguments, status, executed_by FROM steps WHERE kind = 'tool_call'"
    assert outcome.rows(calls) == [call]
    assert outcome.steps()[-1][:4] == ("answer", None, None, "It.")


@built_together
def test_code_of_google(folder: Path) -> Scene:
    """Its parts have keys and no types."""
    parts = [
        {"executableCode": {"language": "PYTHON", "code": "1/0"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}},
        {"text": "It failed."},
    ]
    chat = [{"role": "user", "parts": [{"text": "Run it."}]}, {"role": "model", "parts": parts}]
    outcome = yield imported(folder, written(folder, [{"messages": chat}]))

    assert outcome.calls() == [("code_execution", '{"code":"1/0","language":"PYTHON"}', "error")]


@built_together
def test_calls_that_the_client_runs(folder: Path) -> Scene:
    """The screen and a tool of its own are requests, and their outputs replies."""
    items = [
        ASKED,
        {"type": "computer_call", "call_id": "c1", "action": {"type": "click"}},
        {"type": "computer_call_output", "call_id": "c1", "output": "done"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "sql", "input": "SELECT 1"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "1"},
    ]
    outcome = yield imported(folder, written(folder, [{"messages": items}]))

    assert outcome.calls() == [
        ("computer", '{"type":"click"}', "ok"),
        ("sql", '{"input":"SELECT 1"}', "ok"),
    ]
    assert outcome.rows("SELECT DISTINCT executed_by FROM steps") == [(None,)]


APPROVAL = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "roll", "arguments": "{}"}
ANSWERED = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1"}
ROLLED = {
    "type": "mcp_call",
    "id": "mcp_1",
    "approval_request_id": "mcpr_1",
    "name": "roll",
    "arguments": "{}",
    "output": "4",
}
APPROVALS: dict[str, list[dict[str, Any]]] = {
    "approved": [ANSWERED | {"approve": True}, ROLLED],
    "denied": [ANSWERED | {"approve": False, "reason": "no dice"}],
    "waiting": [],
}


@built_together
def test_call_that_has_to_be_approved(folder: Path) -> Scene:
    """It is one call, which waits until it was run or denied."""
    records = [
        {"task_id": task, "messages": [ASKED, APPROVAL, *more]} for task, more in APPROVALS.items()
    ]
    outcome = yield imported(folder, written(folder, records))

    found = outcome.rows(
        "SELECT task_id, tool_name, result, status, executed_by FROM steps "
        "JOIN trajectories USING (trajectory_id) WHERE kind = 'tool_call' ORDER BY task_id"
    )
    assert found == [
        ("approved", "roll", "4", "ok", "provider"),
        ("denied", "roll", None, "not_executed", "provider"),
        ("waiting", "roll", None, "interrupted", "provider"),
    ]
