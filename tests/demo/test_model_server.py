"""The fake model server speaks the chat API and goes on with a conversation by rule."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a running model server."""
    process = subprocess.Popen(
        [sys.executable, "-m", "demo.model_server"],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout as lines:
        yield lines.readline().removeprefix("model: ").strip()
        process.terminate()
    assert process.returncode == 0


def complete(server: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the choice that the server makes for a conversation."""
    body = json.dumps({"model": "rules", "messages": messages}).encode()
    request = urllib.request.Request(f"{server}/chat/completions", body)  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=240) as answer:  # noqa: S310 - loopback
        choice: dict[str, Any] = json.loads(answer.read())["choices"][0]
    return choice


def talk(server: str, customer: str, results: dict[str, list[str]]) -> tuple[list[str], str]:
    """Play the client until the model answers; return the calls it made and its answer."""
    request = f"Please refund the last order of customer {customer}."
    messages: list[dict[str, Any]] = [{"role": "user", "content": request}]
    calls: list[str] = []
    while (choice := complete(server, messages))["finish_reason"] == "tool_calls":
        (call,) = choice["message"]["tool_calls"]
        name = call["function"]["name"]
        calls.append(f"{name} {call['function']['arguments']}")
        content = results[name].pop(0)
        messages += [
            choice["message"],
            {"role": "tool", "tool_call_id": call["id"], "content": content},
        ]
    return calls, choice["message"]["content"]


ORDER = '[{"order": "A-1", "customer": "c-7", "amount": 40.0, "days_ago": 3}]'


def test_refund_takes_four_calls(server: str) -> None:
    """Orders, policy, refund, message: then the model answers."""
    results = {
        "search_orders": [ORDER],
        "get_refund_policy": ['{"refundable": true}'],
        "issue_refund": ['{"receipt": "R-1"}'],
        "send_message": ['{"sent": true}'],
    }

    calls, answer = talk(server, "c-7", results)

    assert [call.split()[0] for call in calls] == list(results)
    assert answer == "Refunded 40.00 for order A-1."


def test_failed_refund_is_tried_as_credit(server: str) -> None:
    """An error text from the card makes the model change the method."""
    results = {
        "search_orders": [ORDER],
        "get_refund_policy": ['{"refundable": true}'],
        "issue_refund": ["An error occurred: card expired", '{"receipt": "R-1"}'],
        "send_message": ['{"sent": true}'],
    }

    calls, _ = talk(server, "c-7", results)

    assert '"method": "credit"' in calls[3]


def test_late_order_becomes_a_ticket(server: str) -> None:
    """What the policy forbids is handed to a person."""
    results = {
        "search_orders": [ORDER],
        "get_refund_policy": ['{"refundable": false}'],
        "open_ticket": ['{"ticket": "T-1"}'],
        "send_message": ['{"sent": true}'],
    }

    _, answer = talk(server, "c-9", results)

    assert answer == "Opened ticket T-1: too late for a refund."


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"messages": [1]}', b"no json"])
def test_request_that_is_not_understood_is_refused(server: str, body: bytes) -> None:
    """A bad body is answered with 400, and the server goes on."""
    request = urllib.request.Request(f"{server}/chat/completions", body)  # noqa: S310 - loopback
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=240)  # noqa: S310 - loopback
    refused.value.close()

    assert refused.value.code == 400
    assert complete(server, [{"role": "user", "content": "hello"}])["finish_reason"] == "stop"


def test_responses_api_thinks_then_calls(server: str) -> None:
    """The Responses API gives the thought as a reasoning item before the call."""
    conversation = [{"role": "user", "content": "Refund customer c-7."}]
    body = json.dumps({"model": "rules", "input": conversation}).encode()
    request = urllib.request.Request(f"{server}/responses", body)  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=240) as answer:  # noqa: S310 - loopback
        thought, call = json.loads(answer.read())["output"]

    assert thought["summary"][0]["text"] == "I need the orders of c-7 first."
    assert (call["name"], call["arguments"]) == ("search_orders", '{"customer": "c-7"}')
