"""Judges are asked, cite what they read, are asked once, and cost no more than they may."""

import json
import shutil
from pathlib import Path

import pytest
from tests.commands import Ended, tracegrade
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.build import specification
from tests.slow import slow_after

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score

from .conftest import KEY, RUNS, TASKS, YesCounts, judge_file
from .model_server import Json, ModelServer, Reply, honest
from .reading import rows, verdicts

EXPECTED = {
    (str(trace), goal): "yes" if goal == "find" or trace % 2 else "no"
    for trace in range(1, RUNS + 1)
    for goal in ("find", "pay")
}
SECRET = "sk-proj-Zx91kQ7vT3bN8mW2pL5dR6yH0cJ4fG1sA9eU"  # noqa: S105 - a made-up key


def run(lake: Lake, judges: Path, *options: object) -> Ended:
    """Run the judges."""
    return tracegrade("judge", "run", judges, "--lake", lake.root, *options)


def test_judge_reads_and_cites(judged_once: YesCounts) -> None:
    """Each sub-goal of each run has a verdict, with the step that shows it, in two requests."""
    lake, ended, requests = judged_once

    assert ended.returncode == 0
    assert verdicts(lake) == EXPECTED
    evidence = json.loads(rows(lake, "verdicts")[0]["evidence"])
    assert evidence.keys() >= {"evidence_steps", "quote", "reason", "model", "prompt_version"}
    assert (requests, len(rows(lake, "judge_calls"))) == (24, 24)


def test_what_was_asked_is_asked_no_more(judged: Lake, judges: Path, server: ModelServer) -> None:
    """The same lake and cache give the same verdicts, in 0 requests, with or without a budget."""
    before = rows(judged, "verdicts"), rows(judged, "judge_calls")

    online = run(judged, judges, "--max-tokens", 0)
    offline = run(judged, judges, "--offline")

    assert (online.returncode, offline.returncode) == (0, 0)
    assert (rows(judged, "verdicts"), rows(judged, "judge_calls")) == before
    assert "12 questions, 12 verdicts (0 errors), 0 tokens" in online.stdout
    assert "added 0, replaced 0, known 12" in offline.stdout
    assert server.bodies == []


def test_lost_verdicts_come_back_from_the_cache(judged: Lake, judges: Path) -> None:
    """They are the same, although no model is asked and no endpoint is known."""
    before = rows(judged, "verdicts")
    judged.drop("verdicts")

    ended = run(judged, judges, "--offline")

    assert ended.returncode == 0
    dates = ("date",)
    assert [{k: v for k, v in row.items() if k not in dates} for row in rows(judged, "verdicts")
            ] == [{k: v for k, v in row.items() if k not in dates} for row in before]  # fmt: skip


def test_an_endpoint_has_answers_of_its_own(judged: Lake, tmp_path: Path) -> None:
    """Another one may have another model of the same name."""
    elsewhere = judge_file(tmp_path, model={"base_url": "http://127.0.0.1:9/v1"})

    ended = run(judged, elsewhere, "--offline")

    assert ended.returncode == 1
    assert "not_cached 12" in ended.stdout


def test_a_judge_with_nothing_to_ask_says_what_it_would_ask_about(
    lake: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """No task of this lake says what the right answer is."""
    judges = tmp_path / "answers.yaml"
    model = f"{{base_url: '{server.url}', name: m}}"
    judges.write_text(f"version: 1\njudges: {{answers: {{subject: success, model: {model}}}}}\n")

    for command in ("estimate", "run"):
        options = ("--max-tokens", 1000) if command == "run" else ()
        done = tracegrade("judge", command, judges, "--lake", lake.root, *options)
        assert (done.returncode, "answers: 0 questions" in done.stdout) == (0, True)
        assert "answers: nothing to ask; no scored run" in done.stderr
        assert "for `subject: success`, a task with a `reference`" in done.stderr
    assert server.bodies == []


@pytest.mark.slow
def test_offline_what_is_not_kept_is_an_error(
    lake: Lake, judges: Path, server: ModelServer
) -> None:
    """The command exits with 1, also the second time; an asked model replaces the verdict."""
    first, second = (run(lake, judges, "--offline") for _ in range(2))
    missed = rows(lake, "verdicts")
    online = run(lake, judges, "--max-tokens", 1_000_000)

    assert (first.returncode, second.returncode, online.returncode) == (1, 1, 0)
    assert "12 not judged, whose calls are not in the lake" in first.stderr
    assert "added 12, replaced 0, known 0; not_cached 12" in first.stdout
    assert "added 0, replaced 0, known 12; not_cached 12" in second.stdout
    assert {(row["label"], row["value"]) for row in missed} == {("error", None)}
    assert {json.loads(row["evidence"])["reason_code"] for row in missed} == {"not_cached"}
    assert len(server.bodies) == 24
    assert verdicts(lake) == EXPECTED


def test_offline_no_verdict_that_stands_is_replaced(judged: Lake, judges: Path) -> None:
    """Not even if its calls are gone."""
    before = rows(judged, "verdicts")
    judged.drop("judge_calls")

    ended = run(judged, judges, "--offline")

    assert ended.returncode == 1
    assert "not_cached 12" in ended.stdout
    assert rows(judged, "verdicts") == before


def test_somebody_has_to_limit_the_cost(lake: Lake, judges: Path, server: ModelServer) -> None:
    """Without a limit, or with an impossible one, no model is asked."""
    without = run(lake, judges)
    unpriced = run(lake, judges, "--max-usd", 5)

    assert (without.returncode, unpriced.returncode) == (2, 2)
    assert "give --max-usd or --max-tokens or --max-calls" in without.stderr
    assert "model 'rules-1' of judge 'nodes' has no price" in unpriced.stderr
    assert server.bodies == []


@pytest.mark.parametrize(("most", "jobs"), slow_after(1, [(20_000, 4), (0, 1), (9_000, 1)]))
def test_budget_is_never_exceeded(
    lake: Lake, judges: Path, server: ModelServer, most: int, jobs: int
) -> None:
    """Not by one token; what is left is counted, and the next run goes on from there."""
    ended = run(lake, judges, "--max-tokens", most, "--jobs", jobs)

    assert ended.returncode == 1
    assert server.tokens <= most
    judged = verdicts(lake)
    assert f"not_judged {12 - len(judged)}" in ended.stdout
    assert run(lake, judges, "--max-tokens", 1_000_000).returncode == 0
    assert verdicts(lake) == EXPECTED
    assert len(server.bodies) == 24


def test_prices_limit_dollars(
    lake: Lake, judges: Path, tmp_path: Path, server: ModelServer
) -> None:
    """What the endpoint counted, at the lake's prices, stays below the limit."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("{version: 1, models: {'rules-*': {input: 1, output: 10}}}")
    assert tracegrade("score", "--lake", lake.root, "--prices", prices).returncode == 0

    ended = run(lake, judges, "--max-usd", 0.03)

    spent = sum(row["cost_usd"] for row in rows(lake, "judge_calls"))
    assert ended.returncode == 1
    assert 0 < spent <= 0.03
    assert len(verdicts(lake)) < 12
    assert len(server.bodies) == len(rows(lake, "judge_calls"))


def test_estimate_asks_nobody(lake: Lake, judged: Lake, judges: Path, server: ModelServer) -> None:
    """What is cached costs nothing; earlier judgments say what the others take."""
    unknown = tracegrade("judge", "estimate", judges, "--lake", lake.root)
    known = tracegrade("judge", "estimate", judges, "--lake", judged.root)

    assert "12 questions, 12 not in the cache" in unknown.stdout
    assert "(by the judge's limits)" in unknown.stdout
    assert "12 questions, 0 not in the cache; tokens low 0, expected 0, high 0" in known.stdout
    assert server.bodies == []


@pytest.mark.slow
def test_verdicts_become_scores(judged: Lake) -> None:
    """Sub-goals that only a judge can settle are scored; who decided is said."""
    score(judged, specification(TASKS))

    goals = rows(judged, "sub_goals")
    assert {goal["completion_source"] for goal in goals} == {"judge"}
    assert sum(goal["completed"] for goal in goals) == 9


def test_votes_decide_by_most(lake: Lake, tmp_path: Path, server: ModelServer) -> None:
    """Each vote has a seed of its own, and how they fell is kept."""
    judges = judge_file(tmp_path, votes=3, only=["refund/pay"])

    def rule(request: Json, number: int) -> Reply:
        reply = honest(request, number)
        if request["seed"] == 8:
            return Reply(reply.body.replace(b'\\"met\\": \\"yes\\"', b'\\"met\\": \\"no\\"'))
        return reply

    server.rule = rule
    run(lake, judges, "--max-tokens", 1_000_000)

    found = {row["label"]: json.loads(row["evidence"])["votes"] for row in rows(lake, "verdicts")}
    assert found == {"yes": {"no": 1, "yes": 2}, "no": {"no": 3}}
    assert {request["seed"] for request in server.requests} == {7, 8, 9}


BARE = "  bare: {sub_goals: {find: {success: {judge: 'Was look called?'}}}}"
"""The task of a run without arguments and results."""


@pytest.fixture(scope="module")
def told_once(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A scored lake with a run whose calls have no meaning, and one that receives a secret."""
    lake = Lake.create(tmp_path_factory.mktemp("told") / "lake")
    bare = [agent(1, tracegrade__task__id="bare"), tool(2, 1, tool_name="look", at=1)]
    secret = [
        agent(1, trace=2, tracegrade__task__id="refund", gen_ai__input__messages="[]"),
        tool(2, 1, trace=2, tool_name="look", at=1, gen_ai__tool__call__arguments="{}",
             gen_ai__tool__call__result=f"the token is {SECRET}"),
    ]  # fmt: skip
    land(lake, request_of(bare), request_of(secret))
    score(lake, specification(TASKS + BARE))
    return lake


@pytest.fixture
def told(told_once: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake."""
    return Lake.open(shutil.copytree(told_once.root, tmp_path / "lake"))


def test_what_was_not_captured_is_not_judged(
    told: Lake, tmp_path: Path, server: ModelServer
) -> None:
    """Calls without arguments and results: an error, and no request."""
    run(told, judge_file(tmp_path, only=["bare/find"]), "--max-tokens", 1_000_000)

    codes = {json.loads(row["evidence"])["reason_code"] for row in rows(told, "verdicts")}
    assert codes == {"content_missing"}
    assert server.bodies == []


def test_judge_is_told_no_secret_and_tells_none(
    told: Lake, tmp_path: Path, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """What runs hold is redacted before it is asked about; no key, prompt or answer gets out."""
    lake, judges = told, judge_file(tmp_path, only=["refund/find", "refund/pay"])

    def rule(request: Json, number: int) -> Reply:
        reply = honest(request, number)
        return Reply(reply.body.replace(b"as recorded", f"says {SECRET}".encode()))

    server.rule = rule
    ended = run(lake, judges, "--max-tokens", 1_000_000)

    assert ended.returncode == 0
    assert SECRET.encode() not in b"".join(server.bodies)
    kept = str(rows(lake, "judge_calls")) + str(rows(lake, "verdicts"))
    assert "says [redacted:" in kept
    written = ended.stdout + ended.stderr + caplog.text + kept
    assert SECRET not in written
    assert KEY not in written
    for said in ("You judge one run", "says [redacted", "Was look called"):
        assert said not in ended.stdout + ended.stderr + caplog.text
    outside = [path for path in tmp_path.rglob("*") if path.is_file()
               and not path.is_relative_to(lake.root)]  # fmt: skip
    assert {path.name for path in outside} == {"judges.yaml", "policy.md"}
