"""Judges of another provider: the same verdicts, cache, budget and waits, by its own client."""

import json
import shutil
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from tests.commands import Ended, tracegrade
from tests.slow import slow_after

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_judges.calls.answers import CompletionRequest
from tracegrade_judges.calls.anthropic_messages import read_message
from tracegrade_judges.judge_file.load import load_judges
from tracegrade_lake import Lake
from tracegrade_queries.costs.answer_cost import TokenCounts

from .conftest import KEY, judge_file
from .messages_api import needs_client, speaking_messages
from .model_server import Json, ModelServer, Reply, honest, model_server
from .reading import rows, verdicts
from .test_bad_endpoints import MALFORMED, outcomes_of
from .test_run import EXPECTED

MODEL = {"provider": "anthropic", "name": "claude-haiku-4-5"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """An honest model behind the Messages API, known to judge files by the environment."""
    with model_server(speaking_messages(honest)) as found:
        monkeypatch.setenv("JUDGE_BASE_URL", found.url.removesuffix("/v1"))
        monkeypatch.setenv("JUDGE_KEY", KEY)
        yield found


@pytest.fixture
def judges(tmp_path: Path) -> Path:
    """A judge file that asks Anthropic."""
    return judge_file(tmp_path, model=MODEL)


@pytest.fixture(scope="module")
def asked(scored_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, ModelServer]:
    """A lake whose runs such a model judged once, and that model; only read."""
    folder = tmp_path_factory.mktemp("asked")
    lake = Lake.open(shutil.copytree(scored_lake.root, folder / "lake"))
    with model_server(speaking_messages(honest)) as found, pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_BASE_URL", found.url.removesuffix("/v1"))
        patch.setenv("JUDGE_KEY", KEY)
        file = judge_file(folder, model=MODEL)
        assert run(lake, file, "--max-tokens", 1_000_000).returncode == 0
    return lake, found


def run(lake: Lake, judges: Path, *options: object) -> Ended:
    """Run the judges."""
    return tracegrade("judge", "run", judges, "--lake", lake.root, *options)


@needs_client
def test_it_judges_alike_and_is_asked_once(
    asked: tuple[Lake, ModelServer], tmp_path: Path, judges: Path, server: ModelServer
) -> None:
    """Each sub-goal has its verdict; a second run sends no request, and its rows are the same."""
    lake = Lake.open(shutil.copytree(asked[0].root, tmp_path / "again"))
    before = rows(lake, "verdicts"), rows(lake, "judge_calls")
    again = run(lake, judges, "--max-tokens", 0)

    assert again.returncode == 0
    assert verdicts(lake) == EXPECTED
    assert (len(asked[1].bodies), len(server.bodies), len(before[1])) == (24, 0, 24)
    assert (rows(lake, "verdicts"), rows(lake, "judge_calls")) == before
    assert {json.loads(row["response"])["type"] for row in before[1]} == {"message"}


@needs_client
def test_nothing_but_what_it_needs_is_sent(asked: tuple[Lake, ModelServer]) -> None:
    """The key in its header alone; no seed; one tool at a time; ids of calls are unique."""
    _, server = asked

    assert {key.removeprefix("Bearer ") for key in server.keys} == {KEY}
    assert {path.split("?")[0] for path in server.paths} == {"/v1/messages"}
    names = {name for each in server.headers for name in each}
    assert not {name for name in names if name.startswith("x-")} - {"x-api-key"}
    assert KEY.encode() not in b"".join(server.bodies)
    last = server.requests[-1]
    assert "seed" not in last
    assert (last["temperature"], last["max_tokens"]) == (0, 800)
    assert last["tool_choice"]["disable_parallel_tool_use"] is True
    ids = [block["id"] for message in last["messages"] for block in message["content"]
           if isinstance(block, dict) and block["type"] == "tool_use"]  # fmt: skip
    assert len(ids) == len(set(ids)) == 1


@pytest.mark.slow
@needs_client
@pytest.mark.parametrize("most", [20_000, 0])
def test_budget_is_never_exceeded(
    lake: Lake, judges: Path, server: ModelServer, most: int
) -> None:
    """The next run goes on from there."""
    ended = run(lake, judges, "--max-tokens", most)

    assert ended.returncode == 1
    assert server.tokens <= most
    assert run(lake, judges, "--max-tokens", 1_000_000).returncode == 0
    assert verdicts(lake) == EXPECTED
    assert len(server.bodies) == 24


@needs_client
def test_it_is_asked_less_when_it_says_so(lake: Lake, judges: Path, server: ModelServer) -> None:
    """429 and 529 are asked again when the endpoint says; a refused key ends the run."""
    answer = server.rule

    def busy(request: Json, number: int) -> Reply:
        if number % 5 == 1:
            return Reply(b"{}", 429 if number % 2 else 529, {"Retry-After": "0.01"})
        return answer(request, number)

    server.rule = busy
    ended = run(lake, judges, "--max-tokens", 10_000_000)
    lake.drop("judge_calls")
    server.rule = lambda _request, _number: Reply(b"{}", 401)
    refused = run(lake, judges, "--max-tokens", 10_000_000)

    assert (ended.returncode, refused.returncode) == (0, 3)
    assert verdicts(lake) == EXPECTED
    assert "refuses requests with status 401" in refused.stderr


ENDED: dict[str, tuple[Reply, str]] = {
    "a refusal": (Reply(b'{"content": [], "stop_reason": "refusal"}'), "refused"),
    "cut short": (Reply(b'{"content": [], "stop_reason": "max_tokens"}'), "truncated"),
}
"""Answers that are of no use to ask for again, and the code for each."""
EQUAL_KEYS = Reply(
    b'{"content": [{"type": "tool_use", "id": "a", "name": "verdict", '
    b'"input": {"met": "yes", "met": "no"}}]}'
)


@needs_client
@pytest.mark.parametrize(
    "malformed", slow_after(1, [["prose", "no JSON"], [*MALFORMED]]), ids=["few", "all"]
)
def test_bad_answers_are_errors(tmp_path: Path, malformed: Collection[str]) -> None:
    """After two re-asks, or at once where that is of no use, never a verdict."""
    at_once = {kind: reply for kind, (reply, _) in ENDED.items()}
    given = {kind: MALFORMED[kind] for kind in malformed}
    replies = {**given, "equal keys": EQUAL_KEYS, **at_once}

    found = outcomes_of(tmp_path, replies, MODEL, speaking_messages)

    assert found.keys() == replies.keys()
    assert {(outcome.label, outcome.value) for outcome in found.values()} == {("error", None)}
    assert {kind: found[kind].requests for kind in found} == {
        kind: 1 if kind in ENDED else 3 for kind in replies
    }
    assert {kind: found[kind].code for kind in ENDED} == {
        kind: code for kind, (_, code) in ENDED.items()
    }


def test_a_missing_client_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line, and what installs it."""
    monkeypatch.setitem(sys.modules, "anthropic", None)
    path = judge_file(tmp_path, model=MODEL)

    ended = tracegrade("judge", "check", path)
    (problem,) = map(str, load_judges(path).problems)

    assert ended.returncode == 1
    assert "judge 'nodes' asks provider anthropic, whose client 'anthropic' is not" in problem
    assert problem.endswith("pip install 'tracegrade[judge-anthropic]'")
    assert problem in ended.stdout


def test_votes_need_a_seed(tmp_path: Path) -> None:
    """Equal requests have one answer."""
    path = judge_file(tmp_path, model=MODEL, votes=3)

    assert any("which takes no seed" in str(each) for each in load_judges(path).problems)


def test_tokens_of_a_cache_are_part_of_the_input(tmp_path: Path) -> None:
    """The API counts them beside it; an answer that counts none is taken for the most."""
    redactor = Redactor.from_options(CollectorConfig(), tmp_path)
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 30,
             "cache_creation_input_tokens": 4}  # fmt: skip
    asked = CompletionRequest("m", TokenCounts(900, 80), 0)
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "sk-proj-a"}]

    counted = read_message(json.dumps({"content": content, "usage": usage}).encode(), asked,
                           redactor)  # fmt: skip
    uncounted = read_message(json.dumps({"content": content}).encode(), asked, redactor)

    assert counted is not None
    assert counted.counts == TokenCounts(39, 2, cache_read=30, cache_write=4)
    assert uncounted is not None
    assert uncounted.counts is None
    assert json.loads(uncounted.text)["usage"] == {"input_tokens": 900, "output_tokens": 80}
