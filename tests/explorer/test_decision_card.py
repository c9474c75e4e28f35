"""A wrong decision is shown with what was offered, called, expected and returned."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from markupsafe import escape
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.queries.traces import agent, land, message, model, request, request_of, tool
from tests.scoring.report.build import Tables, as_lake

from tracegrade_explorer.run_view.prompt import prompt_messages, prompt_text
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.stored import keep_specification

HOSTILE = "<img src=x onerror=alert(1)>"
SENT = {"amount": 60, "to": {"id": HOSTILE}, "note": "hi", "when": "now"}
TOOLS = [
    {"name": "look", "description": "Looks", "parameters": {"type": "object"}},
    {"name": "pay", "description": f"Pays {HOSTILE}", "parameters": {"type": "object"}},
    {"name": "refund", "description": "Gives back"},
]
TASK = {
    "tools": {"look": {"effect": "read", "cost": 1}, "refund": {"effect": "destructive"}},
    "tasks": {"bill": {"expected": [
        {"decision": "first", "tool": "look"},
        {"decision": "settle", "tool": "pay", "arguments": {"amount": 40}},
        {"decision": "last", "tool": "refund", "arguments": {"order": 7}},
    ]}},
}  # fmt: skip


class Page(NamedTuple):
    """The page of a run, and what asks for others."""

    text: str
    web: TestClient
    run: str

    def card(self, number: int) -> str:
        """Return one of its cards."""
        return self.text.split('<div class="decision-card">')[number + 1]


def fill(tables: Tables) -> str:
    """Insert a run with a wrong tool, wrong arguments, an unexpected call, and no call."""
    run = tables.run(task_id="bill", offered_tools=json.dumps(TOOLS), trace_id="asked")
    tables.insert("raw_spans", trace_id="asked", span_id="asked", collector_id="made", wal_seq=9,
                  attributes={"gen_ai.prompt": f"Pay 40 {HOSTILE}"}, received_ns=9,
                  resent=False)  # fmt: skip
    steps: list[dict[str, Any]] = [
        {"kind": "thought", "content": f"I pay {HOSTILE}", "role": "assistant"},
        {"tool_name": "gamble", "arguments": "{}", "result": "lost"},
        {
            "tool_name": "pay",
            "arguments": json.dumps(SENT),
            "result": "paid",
            "request_span_id": "asked",
        },
        {"kind": "observation", "content": "paid", "call_step": 2},
        {"tool_name": "refund", "arguments": "{}", "status": "error", "error_message": "no"},
        {"kind": "answer", "content": "Done"},
    ]
    for index, step in enumerate(steps):
        row = {"kind": "tool_call", "status": "ok", **step}
        tables.insert("steps", trajectory_id=run, step_index=index, **row)
    tables.scored(run, "bill")
    wrong = [
        {"argument": "$.amount", "sent": "60", "expected": "40"},
        {"argument": "$.to.id", "sent": json.dumps(HOSTILE), "expected": '"c-7"'},
        {"argument": "$.to.kind", "sent": None, "expected": '"card"'},
        {"argument": "$['by']", "sent": None, "expected": "1"},
    ]
    made = {"trajectory_id": run, "step_trajectory_id": run, "correct": False, "counted": True}
    tables.insert("decisions", **made, decision_index=0, step_index=1, picked_tool="gamble",
                  decision="first", expected_tool="look", failed_criteria=["a"])  # fmt: skip
    tables.insert("decisions", **made, decision_index=1, step_index=2, picked_tool="pay",
                  decision="settle", expected_tool="pay", failed_criteria=["b"],
                  wrong_arguments=wrong)  # fmt: skip
    tables.insert("decisions", **made, decision_index=2, step_index=4, picked_tool="refund",
                  failed_criteria=["a"])  # fmt: skip
    tables.insert("decisions", trajectory_id=run, correct=False, counted=True, missed=True,
                  decision_index=3, decision="last", expected_tool="refund",
                  failed_criteria=["a"])  # fmt: skip
    return run


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page of the run."""
    with closing(Tables()) as tables:
        run = fill(tables)
        lake = as_lake(tables, tmp_path_factory.mktemp("cards") / "lake")
    keep_specification(lake, Specification.model_validate(TASK))
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web = client(pages)
        yield Page(web.get(f"/runs/{run}").text, web, run)


def offers(card: str) -> dict[str, str]:
    """Return by offered tool the class of its entry, and what stands there."""
    found: dict[str, str] = {}
    for kind, entry in re.findall(r'<li class="(offer[^"]*)">(.*?)</li>', card, re.DOTALL):
        words = re.sub("(?s)<pre.*?</pre>|<[^>]*>", " ", entry).split()
        found[words[0]] = f"{kind}: {' '.join(words[1:])}"
    return found


def test_offered_tools_say_which_was_called_and_which_expected(page: Page) -> None:
    """With effect and cost, and the schema of these two; what was not offered is called so."""
    found = offers(page.card(0))
    assert [*found] == ["look", "gamble", "pay", "refund"]
    assert found["look"] == "offer offer-expected: expected read cost 1"
    assert found["gamble"] == "offer offer-called: called not offered"
    assert found["refund"] == "offer: destructive"
    assert "Looks" in page.card(0)
    assert "Pays" not in page.card(0)
    assert 'class="offer offer-expected"' in page.card(1)
    assert "offer-called" not in page.card(1)


def test_arguments_are_compared_leaf_by_leaf(page: Page) -> None:
    """By path, what was sent and what is expected; the others are named."""
    card = page.card(1)
    rows = re.findall(r'<th scope="row" class="name">(.*?)</th><td><del.*?>(.*?)</del></td>'
                      r"<td><ins.*?>(.*?)</ins>", card)  # fmt: skip
    assert [(path, sent.replace("&#34;", '"'), wanted.replace("&#34;", '"'))
            for path, sent, wanted in rows] == [
        ("amount", "60", "40"),
        ("to.id", '"&lt;img src=x onerror=alert(1)&gt;"', '"c-7"'),
        ("to.kind", "not sent", '"card"'),
        ("$[&#39;by&#39;]", "not sent", "1"),
    ]  # fmt: skip
    assert "right tool" in card
    assert "3 of 5 arguments wrong" in card
    assert "not wrong: note, when" in card


def test_a_card_shows_the_thought_before_and_what_came_back(page: Page) -> None:
    """Of a call without one it says so."""
    assert "I pay &lt;img" in page.card(0)
    assert 'href="#s0"' in page.card(0)
    assert "none directly before this call" in page.card(2)
    assert "paid" in page.card(1)
    assert 'id="s3" class="seen"' in page.card(1)
    assert "where no call was expected" in page.card(2)


def test_a_missed_call_has_the_same_card(page: Page) -> None:
    """Behind the last step: the expected arguments, and the call that was last instead."""
    card = page.card(3)
    assert "not called:" in card
    assert "<b>&#34;order&#34;</b>: 7" in card
    assert re.search(r'the last call of the run was.*?refund.*?href="#s4"', card)
    assert page.text.index('id="s5"') < page.text.index('id="missed-1"')
    assert page.text.count('<div class="decision-card">') == 4
    plans = page.web.get(f"/runs/{page.run}?show=plans").text
    assert "decision-card" not in plans


def test_the_first_wrong_decision_is_open(page: Page) -> None:
    """It alone."""
    steps = page.text.partition('id="steps-title"')[2].partition("</section>")[0]
    (opened,) = re.findall(r'<li id="s(\d+)"(?:(?!<li id).)*?<details open>', steps, re.DOTALL)
    assert opened == "1"
    assert steps.count("<details open>") == 1


def test_nothing_of_a_card_acts(page: Page) -> None:
    """Schemas, thoughts and arguments are text."""
    assert HOSTILE not in page.text


MESSAGES = [
    {"role": "user", "parts": [{"type": "text", "content": "Pay 40"}]},
    {"role": "assistant", "content": "Yes", "tool_calls": [{"name": "pay"}]},
]


@pytest.mark.parametrize(
    ("attributes", "events", "expected"),
    [
        ({"gen_ai.system_instructions": '[{"type": "text", "content": "Be kind"}]',
          "gen_ai.input.messages": json.dumps(MESSAGES)}, [],
         ["system:", "Be kind", "user:\nPay 40", "assistant:\nYes", '"name": "pay"']),
        ({"llm.input_messages.1.message.content": "b", "llm.input_messages.0.message.role": "user",
          "llm.input_messages.0.message.content": "a", "input.value": "both"}, [],
         ["user:\na\n\nb"]),
        ({"gen_ai.prompt.0.role": "system", "gen_ai.prompt.0.content": "Be kind"}, [],
         ["system:\nBe kind"]),
        ({}, [{"name": "gen_ai.user.message", "attributes": {"content": "Pay"}},
              {"name": "other", "attributes": None}], ["user:\nPay"]),
        ({"input.value": '{"messages": [{"role": "user", "content": "x"}]}'}, [], ["user:\nx"]),
        ({"gen_ai.prompt": "plain"}, [], ["plain"]),
        ({"gen_ai.request.model": "m"}, [], [""]),
    ],
)  # fmt: skip
def test_prompts_are_read_however_spans_write_them(
    attributes: dict[str, str], events: list[dict[str, Any]], expected: list[str]
) -> None:
    """One message below the other; '' where there is none."""
    text = prompt_text(prompt_messages(attributes, events))
    assert all(part in text for part in expected)
    assert bool(text) == bool(expected[0])


def test_the_prompt_of_a_step_is_that_of_its_model_call(tmp_path: Path) -> None:
    """Whole and as plain text; a step that no model call did has none, and says so."""
    lake = Lake.create(tmp_path / "lake")
    asked, answered = message("user", f"Pay 40 {HOSTILE}"), message("assistant", request("pay"))
    land(lake, request_of([
        agent(1), model(2, 1, heard=[asked], said=[answered], at=1),
        tool(3, 1, tool_name="pay", at=5), tool(4, 1, tool_name="alone", at=9),
    ]))  # fmt: skip
    build(lake)
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web = client(pages)
        (row,) = web.get("/runs.json").json()["rows"]
        found = web.get(f"/runs/{row['trajectory_id']}.json").json()
        by_tool = {step["tool_name"]: step["step_index"] for step in found["steps"]}
        address = f"/runs/{row['trajectory_id']}/steps"
        prompt = web.get(f"{address}/{by_tool['pay']}/prompt")
        data = web.get(f"{address}/{by_tool['pay']}/prompt.json").json()
        none = web.get(f"{address}/{by_tool['alone']}/prompt")
        missing = web.get(f"{address}/99/prompt")

    assert data["messages"] == [{"role": "user", "text": f"Pay 40 {HOSTILE}"}]
    assert data["text"] == f"user:\nPay 40 {HOSTILE}"
    assert '<div class="bubble by-person"><b>user</b>' in prompt.text
    assert escape(f"Pay 40 {HOSTILE}") in prompt.text
    assert "not recorded: the trace does not hold" in none.text
    assert missing.status_code == 404
