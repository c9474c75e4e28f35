"""`tracegrade tasks draft` and `tracegrade tasks schema` give files that the checks agree with."""

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from tests.commands import tracegrade
from tests.queries.traces import agent, land, request_of, tool

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.errors import NothingToDraft
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.tasks import load
from tracegrade_scoring.tasks.draft import DraftedFrom, draft_file, successful_paths
from tracegrade_scoring.tasks.schema import tasks_schema_text

Row = dict[str, Any]
SCHEMA = Path(__file__).parents[3] / "scoring" / "tasks.schema.json"
EXAMPLE = Path(__file__).with_name("tasks.yaml")


CONSTANT = {'$."$.to"': {"exactly": {"input": "c"}}, "sum": 7.5}
LOOK = {"serves": ["look"], "success": {"tool": "look", "arguments": {"at": 5}}}
DECLARED = {"tracegrade__step__kind": "tool_call", "tracegrade__tool__effect": "write"}


PAID = {"gen_ai__tool__call__arguments": '{"sum": 7.50, "$.to": {"input": "c"}}'}


def run(trace: int, *tools: str, outcome: str = "success", **fields: Any) -> bytes:
    """Return the request of one run that ended as it says; `!look` is a call that failed."""
    root = agent(1, trace=trace, tracegrade__outcome=outcome, **fields)
    calls = [
        tool(
            i,
            1,
            tool_name=name.strip("!"),
            trace=trace,
            at=i,
            error="boom" if name.startswith("!") else None,
            **(DECLARED if name == "pay" else {}),
            **(PAID if name == "pay" else {"gen_ai__tool__call__arguments": f'{{"at": {trace}}}'}),
        )
        for i, name in enumerate(tools, start=2)
    ]
    return request_of([root, *calls])


def delegating() -> bytes:
    """Return the request of a run whose sub-agent makes one of three calls."""
    spans = [
        agent(1, trace=6, tracegrade__outcome="success", tracegrade__task__id="trip"),
        tool(2, 1, trace=6, tool_name="look", at=1),
        tool(3, 1, trace=6, tool_name="delegate", at=3, ms=50),
        agent(4, 3, trace=6, agent_name="sub", at=4, ms=20),
        tool(5, 4, trace=6, tool_name="find", at=5),
        tool(6, 1, trace=6, tool_name="book", at=60),
    ]
    return request_of(spans)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with runs of three tasks and of an agent without tasks; tests take a copy of it."""
    lake = Lake.create(tmp_path_factory.mktemp("draft") / "lake")
    task = {"tracegrade__task__id": "refund: c-7"}
    retried = {"tracegrade__task__id": "retried"}
    land(
        lake,
        run(1, "look", "pay", **task),
        run(2, "!look", "look", "pay", **task),
        run(3, "pay", **task),
        run(4, "guess", outcome="failure", **task),
        run(5, "look", agent_name="Order desk"),
        delegating(),
        run(7, "!look", "!look", "look", "pay", **retried),
        run(8, "look", "!pay", "pay", **retried),
    )
    build(lake)
    return lake


@pytest.fixture(scope="module")
def drafted(built: Lake) -> str:
    """The draft of that lake."""
    return draft_file(built, DraftedFrom(), lambda _: None)


def test_draft_holds_what_most_successes_did(drafted: str) -> None:
    """The most common path without failed calls, what all its calls gave, the fewest of them."""
    tasks = yaml.safe_load(drafted)["tasks"]

    assert tasks.keys() == {"order-desk", "refund: c-7", "retried", "trip"}
    assert {name: tasks[name] for name in ("order-desk", "refund: c-7")} == {
        "order-desk": {
            "match": {"agent_name": "Order desk"},
            "expected": [{"tool": "look"}],
            "expected_complete": True,
            "optimal_steps": 1,
            "sub_goals": {"look": {**LOOK, "critical": True}},
        },
        "refund: c-7": {
            "expected": [
                {"tool": "look"},
                {
                    "tool": "pay",
                    "arguments": {'$."$.to"': {"exactly": {"input": "c"}}, "sum": 7.5},
                },
            ],
            "expected_complete": True,
            "optimal_steps": 1,
            "sub_goals": {
                "look": {"serves": ["look"]},
                "pay": {
                    "serves": ["pay"],
                    "critical": True,
                    "success": {"tool": "pay", "arguments": CONSTANT},
                },
            },
        },
    }
    assert "      # 2 of 3 runs made this call.\n      look: {serves: [look]}\n" in drafted
    assert "# 2 of 3 successful runs took this path." in drafted


def test_runs_are_fetched_once_for_each_task(built: Lake) -> None:
    """However many ways there are of doing it, only the most common one is fetched."""
    with connect(built, layers=(SCORES,)) as con:
        paths = successful_paths(con, DraftedFrom())

    found = {path.task_id: (path.tools, path.runs, path.all_runs) for path in paths}
    assert len(found) == len(paths) == 4
    assert found["refund: c-7"] == (["look", "pay"], 2, 3)


def test_draft_leaves_unknown_effects_to_be_filled_in(drafted: str) -> None:
    """An effect that spans declare is written; where none does a comment asks for it."""
    assert "  pay: {effect: write}\n" in drafted
    assert "  look: {}\n    # effect: read | write | destructive\n" in drafted


def test_draft_is_a_task_file(drafted: str, tmp_path: Path) -> None:
    """What was drafted is well-formed, by the loader and by the schema."""
    (tmp_path / "drafted.yaml").write_text(drafted)

    assert load([tmp_path / "drafted.yaml"]).errors == []
    jsonschema_rs.validate(json.loads(tasks_schema_text()), yaml.safe_load(drafted))


@pytest.mark.slow
def test_draft_of_one_run_is_what_that_run_did(built: Lake, drafted: str, tmp_path: Path) -> None:
    """Held against its own draft a run is right, with calls of its sub-agents, not of these."""
    lake = Lake.open(shutil.copytree(built.root, tmp_path / "copy"))
    (tmp_path / "drafted.yaml").write_text(drafted)
    score(lake, load([tmp_path / "drafted.yaml"]).specification)

    with connect(lake, layers=(SCORES,)) as con:
        found = con.sql(
            "SELECT metric, numerator, denominator FROM scores WHERE status = 'scored' "
            "AND metric IN "
            "('tsa', 'tool_selection_jaccard', 'step_efficiency', 'critical_path_completion') "
            f"AND trajectory_id LIKE '{6:032x}-%' ORDER BY metric"
        ).fetchall()
    assert found == [
        ("critical_path_completion", 3, 3),
        ("step_efficiency", 3, 3),
        ("tool_selection_jaccard", 3, 3),
        ("tsa", 3, 3),
    ]


def test_optimal_steps_are_without_failed_calls(drafted: str) -> None:
    """A call that failed and was tried again is one step of those that the task takes."""
    assert yaml.safe_load(drafted)["tasks"]["retried"]["optimal_steps"] == 2


@pytest.mark.slow
def test_draft_leaves_out_calls_that_a_pattern_shows_as_failed(tmp_path: Path) -> None:
    """Where the lake is scored with such a pattern, by the same rule as in every score."""
    lake = Lake.create(tmp_path / "lake")
    root = agent(1, tracegrade__outcome="success", tracegrade__task__id="x")
    results = {"gen_ai__tool__call__result": "nothing there"}, {"gen_ai__tool__call__result": "7"}
    calls = [tool(i, 1, tool_name="look", at=i, **each) for i, each in enumerate(results, start=2)]
    land(lake, request_of([root, *calls]))
    (tmp_path / "tools.yaml").write_text(
        "{version: 1, tools: {look: {error_pattern: '^nothing'}}, tasks: {x: {}}}"
    )
    score(lake, load([tmp_path / "tools.yaml"]).specification)

    drafted = yaml.safe_load(draft_file(lake, DraftedFrom(), lambda _: None))
    assert drafted["tasks"]["x"]["expected"] == [{"tool": "look"}]
    assert drafted["tasks"]["x"]["optimal_steps"] == 1


def test_draft_leaves_out_calls_without_a_name(tmp_path: Path) -> None:
    """A task file cannot expect them, and the draft is one that can be read."""
    lake = Lake.create(tmp_path / "lake")
    call = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": ""}}]}
    reply = {"role": "tool", "tool_call_id": "1", "content": "7"}
    run = {"agent": "a", "task": "x", "success": True, "messages": [call, reply]}
    (tmp_path / "runs.jsonl").write_text(json.dumps(run))
    assert tracegrade("import", tmp_path / "runs.jsonl", "--lake", lake.root).returncode == 0
    build(lake)

    (tmp_path / "drafted.yaml").write_text(draft_file(lake, DraftedFrom(), lambda _: None))

    loaded = load([tmp_path / "drafted.yaml"])
    assert loaded.errors == []
    assert loaded.specification.tasks["x"].expected == []


def test_draft_keeps_the_costs_and_sub_goals_that_agents_declare(tmp_path: Path) -> None:
    """Costs as most calls have them; sub-goals as served, one that no call served for a person."""
    lake = Lake.create(tmp_path / "lake")

    def serving(goal: str, cost: float) -> Row:
        return {"tracegrade__sub_goal__id": goal, "tracegrade__tool__cost": cost}

    spans = [
        agent(1, tracegrade__outcome="success", tracegrade__task__id="x"),
        tool(2, 1, tool_name="look", at=1, error="boom", **serving("lost", 9.0)),
        tool(3, 1, tool_name="look", at=2, **serving("found: it", 2.0)),
        tool(4, 1, tool_name="look", at=3, **serving("found: it", 2.0)),
        tool(5, 1, tool_name="pay", at=4, **serving("paid", 0.5)),
        tool(6, 1, tool_name="ask", at=5, **serving("found: it", -1.0)),
        tool(7, 1, tool_name="free", at=6, tracegrade__tool__cost=0.0),
    ]
    land(lake, request_of(spans))
    build(lake)
    text = draft_file(lake, DraftedFrom(), lambda _: None)
    (tmp_path / "drafted.yaml").write_text(text)
    drafted = yaml.safe_load(text)

    assert drafted["tools"] == {
        "ask": {},
        "free": {"cost": 0},
        "look": {"cost": 2},
        "pay": {"cost": 0.5},
    }
    assert drafted["tasks"]["x"]["sub_goals"] == {
        "found: it": {"serves": ["ask", "look"]},
        "paid": {"serves": ["pay"]},
        "lost": {},
    }
    assert "      lost: {}\n        # serves: [which tools?]" in text
    assert load([tmp_path / "drafted.yaml"]).errors == []


def test_runs_that_did_not_succeed_are_drafted_where_that_is_asked(built: Lake) -> None:
    """All of them, or those that are named; a run that is not there is refused."""

    def paths(*options: str) -> dict[str, Any]:
        ended = tracegrade("tasks", "draft", "--lake", built.root, *options)
        assert ended.returncode == 0, ended.stderr
        return {
            name: task["expected"] for name, task in yaml.safe_load(ended.stdout)["tasks"].items()
        }

    with connect(built) as con:
        ((failed,),) = con.sql(
            "SELECT trajectory_id FROM trajectories WHERE outcome = 'failure'"
        ).fetchall()
    assert paths("--run", failed) == {"refund: c-7": [{"tool": "guess"}]}
    assert paths("--any").keys() == paths().keys()
    refused = tracegrade("tasks", "draft", "--lake", built.root, "--run", "nobody")
    assert (refused.returncode, "no run 'nobody'" in refused.stderr) == (2, True)


def test_lake_without_success_gives_no_draft(tmp_path: Path) -> None:
    """If no run is known to have succeeded, there is nothing to draft from."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look", outcome="failure"))
    build(lake)

    with pytest.raises(NothingToDraft, match=r"import verdicts, .* give --any"):
        draft_file(lake, DraftedFrom(), lambda _: None)


def test_published_schema_is_that_of_the_loader() -> None:
    """`tracegrade tasks schema > scoring/tasks.schema.json` was run since the format changed."""
    assert SCHEMA.read_text(encoding="utf-8") == tracegrade("tasks", "schema").stdout


def test_schema_takes_the_example_of_every_key() -> None:
    """An editor marks nothing in a file that the loader takes."""
    validator = jsonschema_rs.validator_for(json.loads(tasks_schema_text()))

    assert list(validator.iter_errors(yaml.safe_load(EXAMPLE.read_text()))) == []


@pytest.mark.parametrize(
    "text",
    [
        "{version: 2}",
        "{version: 1, tusks: {}}",
        "{version: 1, tools: {a: {effect: erase}}}",
        "{version: 1, tools: {a: {cost: -1}}}",
        "{version: 1, tasks: {t: {expected: [{tools: a}]}}}",
        "{version: 1, tasks: {t: {expected_complete: maybe}}}",
        "{version: 1, tasks: {t: {sub_goals: {g: {serves: [{arguments: a}]}}}}}",
        "{version: 1, tasks: {t: {success: {answer: 7}}}}",
    ],
)
def test_schema_refuses_what_the_loader_refuses(text: str) -> None:
    """Unknown keys, wrong types and values out of range are marked while one types."""
    validator = jsonschema_rs.validator_for(json.loads(tasks_schema_text()))

    assert not validator.is_valid(yaml.safe_load(text))
