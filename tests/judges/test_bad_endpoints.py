"""Endpoints that answer badly: a code, never a verdict; and no more requests than allowed."""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.commands import Ended, tracegrade
from tests.queries.traces import land
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score

from .conftest import judge_file, one_run
from .model_server import (
    Json,
    ModelServer,
    Reply,
    Rule,
    calling,
    honest,
    lazy,
    model_server,
    response,
    verdict,
)
from .reading import rows, verdicts

GOOD = {"met": "yes", "evidence_steps": [1], "quote": "o-1", "reason": "r"}


def said(**changed: Any) -> Reply:
    """Return a reply with a verdict in which something is changed."""
    return verdict({**GOOD, **changed})


def messages(*calls: Json, content: str | None = None) -> Reply:
    """Return a reply with these calls."""
    return Reply(response({"content": content, "tool_calls": [*calls]}))


MALFORMED: dict[str, Reply] = {
    "prose": Reply(response({"content": "Yes, it was called."})),
    "JSON as text": Reply(response({"content": json.dumps(GOOD)})),
    "empty": Reply(response({"content": ""})),
    "no content at all": Reply(response({})),
    "broken JSON": verdict('{"met": "yes", '),
    "two objects": verdict(json.dumps(GOOD) * 2),
    "equal keys": verdict(json.dumps(GOOD)[:-1] + ', "met": "no"}'),
    "two verdicts": messages(calling("verdict", GOOD), calling("verdict", GOOD, 1)),
    "a verdict and another call": messages(
        calling("verdict", GOOD), calling("read_step", {"step": 0}, 1)
    ),
    "a list": verdict([GOOD]),
    "another word": said(met="probably"),
    "a key too many": said(score=1),
    "a key too few": verdict({"met": "yes"}),
    "numbers as text": said(evidence_steps=["1"]),
    "a step that does not exist": said(evidence_steps=[99]),
    "a quote that stands nowhere": said(quote="refunded in full"),
    "a claim": said(evidence_steps=[]),
    "an unknown tool": messages(calling("run_sql", {})),
    "no JSON": Reply(b"<html>busy</html>"),
    "no choices": Reply(b'{"choices": []}'),
    "nothing": Reply(b""),
    "a number": Reply(b"7"),
    "a message of text": Reply(b'{"choices": [{"message": "yes"}]}'),
    "half a character": Reply(response({"content": "\ud800"})),
    "calls of nothing": Reply(b'{"choices": [{"message": {"tool_calls": [{"function": 1}]}}]}'),
    "tokens without end": Reply(
        b'{"choices": [{"message": {"content": "yes"}}], '
        b'"usage": {"prompt_tokens": 1e9, "completion_tokens": 9' + b"9" * 40 + b"}}"
    ),
}
"""Unusable answers of every kind."""


AT_ONCE: dict[str, tuple[Reply, str]] = {
    "a refusal": (Reply(response({"refusal": "I would rather not."})), "refused"),
    "a filter": (Reply(response({"content": ""}, finish="content_filter")), "refused"),
    "a flood": (Reply(response({"content": "x" * 2_000_000})), "answer_too_long"),
    "a bad request": (Reply(b"{}", 400), "request_refused"),
    "cannot tell": (said(met="cannot_tell"), "cannot_tell"),
}
"""Answers that are of no use to ask for again, and the code for each."""


def run(lake: Lake, judges: Path, *options: object) -> Ended:
    """Run the judges."""
    return tracegrade("judge", "run", judges, "--lake", lake.root, *options)


class Outcome(NamedTuple):
    """What came of one kind of answer."""

    label: str
    value: float | None
    code: str
    requests: int


def outcomes_of(
    folder: Path,
    replies: Mapping[str, Reply],
    model: Mapping[str, str] | None = None,
    speaking: Callable[[Rule], Rule] = lambda rule: rule,
) -> Mapping[str, Outcome]:
    """Return what a judge makes of replies, asked for in one run: each is a sub-goal of one task.

    `speaking` translates what the rule reads and says for the model's provider.
    """
    lake = Lake.create(folder / "lake")
    land(lake, one_run(1, "look"))
    goals = {kind: {"success": {"judge": f"Kind: {kind}."}} for kind in replies}
    score(lake, specification(json.dumps({"tasks": {"refund": {"sub_goals": goals}}})))
    asked: Counter[str] = Counter()

    def rule(request: Json, number: int) -> Reply:
        del number
        kind = re.findall(r"Kind: (.*)\.", request["messages"][0]["content"])[0]
        asked[kind] += 1
        return replies[kind]

    with model_server(speaking(rule)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_BASE_URL", server.url)
        judges = judge_file(folder, model=dict(model or {}))
        ended = run(lake, judges, "--max-tokens", 10_000_000, "--jobs", 1)
    assert ended.returncode == 0
    return {
        row["sub_goal"]: Outcome(
            row["label"],
            row["value"],
            json.loads(row["evidence"])["reason_code"],
            asked[row["sub_goal"]],
        )
        for row in rows(lake, "verdicts")
    }


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcome]:
    """What a judge makes of each kind of answer."""
    replies = {**MALFORMED, **{kind: reply for kind, (reply, _) in AT_ONCE.items()}}
    return outcomes_of(tmp_path_factory.mktemp("kinds"), replies)


@pytest.mark.parametrize("kind", MALFORMED)
def test_malformed_answer_is_asked_for_twice_more(
    outcomes: Mapping[str, Outcome], kind: str
) -> None:
    """Then the verdict is an error, without a value."""
    assert outcomes[kind][:2] == ("error", None)
    assert outcomes[kind].requests == 3


@pytest.mark.parametrize("kind", AT_ONCE)
def test_what_is_no_use_to_ask_again_is_an_error_at_once(
    outcomes: Mapping[str, Outcome], kind: str
) -> None:
    """One request, and the code says why."""
    assert outcomes[kind] == ("error", None, AT_ONCE[kind][1], 1)


@pytest.mark.slow
def test_lazy_judge_is_not_believed(lake: Lake, judges: Path, server: ModelServer) -> None:
    """It quotes what stands nowhere."""
    server.rule = lazy

    run(lake, judges, "--max-tokens", 10_000_000)

    assert set(verdicts(lake).values()) == {"error"}


def test_slow_answers_are_timed_out(lake: Lake, tmp_path: Path, server: ModelServer) -> None:
    """Nobody waits longer than the file says; the budget counts what may have been billed."""
    model = {"timeout_secs": 0.05}
    judges = judge_file(tmp_path, model=model, only=["refund/pay"])
    held = threading.Event()

    def slow(request: Json, number: int) -> Reply:
        held.wait(2)
        return honest(request, number)

    server.rule = slow
    ended = run(lake, judges, "--max-tokens", 7_000, "--jobs", 1)
    held.set()

    assert ended.returncode == 1
    assert "the budget is spent" in ended.stderr
    assert verdicts(lake) == {}


def test_an_endpoint_that_asks_for_less_gets_less(
    lake: Lake, judges: Path, server: ModelServer
) -> None:
    """What is refused with 429 is asked again when the endpoint says so, and all is judged."""
    refused: list[int] = []

    def rule(request: Json, number: int) -> Reply:
        if number % 5 == 1:
            refused.append(number)
            return Reply(b"{}", 429, {"Retry-After": "0.01"})
        return honest(request, number)

    server.rule = rule
    ended = run(lake, judges, "--max-tokens", 10_000_000)

    assert (ended.returncode, len(refused) > 3) == (0, True)
    assert "error" not in verdicts(lake).values()


@pytest.mark.parametrize(
    ("rule", "begins"),
    [
        (lambda _request, _number: Reply(b"{}", 401), "refuses requests with status 401; check"),
        (lambda _request, _number: Reply(b"", 302, {"Location": "http://x"}), "with status 302"),
        (
            lambda _request, _number: Reply(b"{}", 503, {"Retry-After": "0"}),
            "failed 20 times in a row",
        ),
    ],
)
def test_an_endpoint_that_never_answers_ends_the_run(
    lake: Lake,
    judges: Path,
    server: ModelServer,
    rule: Callable[[Json, int], Reply],
    begins: str,
) -> None:
    """Exit 3, after 20 failures in a row at most and those under way."""
    server.rule = rule

    ended = run(lake, judges, "--max-tokens", 10_000_000, "--jobs", 2)

    assert ended.returncode == 3
    assert begins in ended.stderr
    assert len(server.bodies) <= 22
