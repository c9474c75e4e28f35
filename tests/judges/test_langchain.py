"""Judges by any LangChain chat model: the same verdicts, cache, budget and secrecy."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from langsmith import utils as langsmith_utils
from tests.commands import Ended, tracegrade

from tracegrade_judges.judge_file.load import load_judges
from tracegrade_lake import Lake

from .chat_models import HonestChatModel
from .model_server import Json, ModelServer, Reply, honest
from .reading import rows, verdicts
from .test_run import EXPECTED

FAKE = "langchain_core.language_models.fake_chat_models:FakeListChatModel"
HONEST = "tests.judges.chat_models:HonestChatModel"
SECRET = "sk-proj-Zx91kQ7vT3bN8mW2pL5dR6yH0cJ4fG1sA9eU"  # noqa: S105 - a made-up key


def forget_environment() -> None:
    """Let LangSmith read the environment's variables again."""
    read: Any = langsmith_utils.get_env_var
    read.cache_clear()


def class_file(folder: Path, kind: str, model: Json | None = None, **options: Any) -> Path:
    """Write a judge file whose judge is a LangChain class."""
    given = {"provider": "langchain", "class": kind, "name": "rules-1", "options": options}
    judge = {"subject": "sub_goal", "model": given | (model or {})}
    path = folder / "class.yaml"
    path.write_text(yaml.safe_dump({"version": 1, "judges": {"nodes": judge},
                                    "documents": {"policy": "policy.md"}}))  # fmt: skip
    (folder / "policy.md").write_text("Refunds up to 50 need no approval.")
    return path


def run(lake: Lake, judges: Path, *options: object) -> Ended:
    """Run the judges, one question at a time."""
    return tracegrade("judge", "run", judges, "--lake", lake.root, "--jobs", 1, *options)


def in_text(reply: Reply) -> str:
    """Return a reply's call as a model without tools writes it."""
    function = json.loads(reply.body)["choices"][0]["message"]["tool_calls"][0]["function"]
    call = {"tool": function["name"], "arguments": json.loads(function["arguments"])}
    return f"```json\n{json.dumps(call)}\n```"


def decided(lake: Lake) -> list[tuple[object, ...]]:
    """Return what the verdicts say and cite, without what they cost."""
    return [
        (row["trajectory_id"], row["sub_goal"], row["label"], row["value"], row["source"],
         *(json.loads(row["evidence"])[key] for key in ("evidence_steps", "quote", "reason")))
        for row in rows(lake, "verdicts")
    ]  # fmt: skip


def test_the_same_answers_give_the_same_verdicts_once(
    scored_lake: Lake, lake: Lake, tmp_path: Path, judges: Path, server: ModelServer
) -> None:
    """LangChain's own fake model, which takes no tools and counts nothing, is asked once."""
    replies: list[Reply] = []

    def recorded(request: Json, number: int) -> Reply:
        replies.append(honest(request, number))
        return replies[-1]

    server.rule = recorded
    by_http = Lake.open(shutil.copytree(scored_lake.root, tmp_path / "http"))
    assert run(by_http, judges, "--max-tokens", 1_000_000).returncode == 0
    fake = class_file(tmp_path, FAKE, responses=[in_text(reply) for reply in replies])

    unlimited = run(lake, fake, "--max-tokens", 1_000_000)
    too_few = run(lake, fake, "--max-calls", 4)
    before = len(rows(lake, "judge_calls"))
    lake.drop("judge_calls")
    lake.drop("verdicts")
    first = run(lake, fake, "--max-calls", 24)
    kept = rows(lake, "judge_calls")
    again = run(lake, fake, "--max-calls", 0)

    assert (unlimited.returncode, too_few.returncode, before) == (2, 1, 4)
    assert "takes no limit for its answers" in unlimited.stderr
    assert (first.returncode, again.returncode) == (0, 0)
    assert verdicts(lake) == EXPECTED
    assert decided(lake) == decided(by_http)
    assert (len(kept), rows(lake, "judge_calls")) == (24, kept)


def test_a_class_that_calls_tools_counts_against_the_budget(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets its limit and its key, repeats nothing itself, and LangSmith gets no trace."""
    monkeypatch.setenv("CHAT_KEY", SECRET)
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    forget_environment()
    HonestChatModel.handlers.clear()
    file = class_file(tmp_path, HONEST, api_key="$CHAT_KEY")

    ended = run(lake, file, "--max-tokens", 6_000)
    rest = run(lake, file, "--max-tokens", 1_000_000)
    forget_environment()

    calls = rows(lake, "judge_calls")
    model = HonestChatModel.made[-1]
    assert (ended.returncode, rest.returncode, len(calls)) == (1, 0, 24)
    assert verdicts(lake) == EXPECTED
    assert all(call["input_tokens"] > 0 for call in calls)
    assert (model.max_tokens, model.max_retries, model.api_key) == (800, 0, SECRET)
    assert HonestChatModel.handlers == []
    assert SECRET not in str(calls) + ended.stderr + ended.stdout


def test_a_class_that_reports_no_usage_needs_a_number_of_calls(lake: Lake, tmp_path: Path) -> None:
    """One answer shows it; it is kept, and the next run begins after it."""
    file = class_file(tmp_path, HONEST, counts=False)

    without = run(lake, file, "--max-tokens", 1_000_000)
    kept = len(rows(lake, "judge_calls"))
    limited = run(lake, file, "--max-calls", 23)

    assert (without.returncode, kept, limited.returncode) == (2, 1, 0)
    assert "does not report its usage" in without.stderr
    assert verdicts(lake) == EXPECTED


@pytest.mark.parametrize(("status", "code"), [(401, 3), (400, 0)])
def test_failures_of_a_class_are_codes(lake: Lake, tmp_path: Path, status: int, code: int) -> None:
    """A status that every request gets ends the run; its text is shown nowhere."""
    ended = run(lake, class_file(tmp_path, HONEST, fails_with=status), "--max-tokens", 1_000_000)

    assert ended.returncode == code
    assert "secret text" not in ended.stderr + ended.stdout + str(rows(lake, "verdicts"))
    assert set(verdicts(lake).values()) == ({"error"} if status == 400 else set())


def test_other_options_are_another_question(lake: Lake, tmp_path: Path) -> None:
    """The cache of one configuration does not answer for another."""
    assert run(lake, class_file(tmp_path, HONEST), "--max-tokens", 1_000_000).returncode == 0
    other = class_file(tmp_path, HONEST, max_tokens=700)

    assert run(lake, other, "--offline").returncode == 1


@pytest.mark.parametrize(
    ("kind", "model", "options", "fault"),
    [
        (HONEST, {}, {"api_key": SECRET}, "option api_key contains a key"),
        (HONEST, {}, {"headers": [{"X-Token": SECRET}]}, "option X-Token contains a key"),
        (HONEST, {"temperature": 0.5}, {}, "temperature is of no use with provider langchain"),
        (HONEST, {}, {"max_retries": 3}, "max_retries is always 0"),
        (HONEST, {"provider": "openai"}, {}, "class is of no use with provider openai"),
        ("json:JSONDecoder", {}, {}, "json:JSONDecoder is not a LangChain BaseChatModel"),
        ("no_such_package:Chat", {}, {}, "package no_such_package cannot be imported"),
        ("../x:Chat", {}, {}, "class"),
    ],
)
def test_faults_of_a_file_have_their_line(
    tmp_path: Path, kind: str, model: Json, options: Json, fault: str
) -> None:
    """No message repeats a secret."""
    path = class_file(tmp_path, kind, model, **options)

    problems = [str(each) for each in load_judges(path).problems]

    assert any(fault in each for each in problems), problems
    assert SECRET not in str(problems)


def test_refused_options_are_named_without_their_values(lake: Lake, tmp_path: Path) -> None:
    """A value may be a key."""
    file = class_file(tmp_path, HONEST, max_tokens=SECRET)

    ended = run(lake, file, "--max-calls", 1)

    assert ended.returncode == 2
    assert "refuses its options: ValidationError at max_tokens" in ended.stderr
    assert SECRET not in ended.stderr


def test_a_missing_client_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what installs it."""
    monkeypatch.setitem(sys.modules, "langchain_core", None)

    (problem,) = map(str, load_judges(class_file(tmp_path, FAKE)).problems)

    assert problem.endswith("pip install 'tracegrade[judge-langchain]'")
