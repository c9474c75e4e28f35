"""Captured runs are scored in memory, and a result says what a test wants to know."""

import threading
from pathlib import Path

import anyio
import pytest
from tests.testing.agents import TASKS, refund, search_orders

import tracegrade
from tracegrade_testing import (
    NothingCaptured,
    NotScored,
    ResultSet,
    RunCheckFailed,
    RunResult,
    capture,
    check,
    score,
    trials,
)
from tracegrade_testing.errors import SeveralRuns, UnknownTask


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the task file of the agent."""
    path = tmp_path_factory.mktemp("tasks") / "tasks.yaml"
    path.write_text(TASKS, "utf-8")
    return path


def one(result: RunResult | ResultSet) -> RunResult:
    """Return the only run of a result."""
    assert isinstance(result, RunResult)
    return result


def test_a_good_run(tasks: Path) -> None:
    """A run that does what its task expects has its scores, and nothing is wrong with it."""
    with capture() as captured:
        refund()
    result = one(score(captured, task="refund-order", tasks=tasks))

    assert result.success == 1
    assert result.tsa == 1
    assert result.step_efficiency == 1
    assert result.calls == ["search_orders", "issue_refund"]
    assert result.calls.made[0].arguments == '{"customer":"c-7"}'
    assert not result.issues
    assert result.explain() == ""
    assert result.runs == (result,)
    assert (result.task, result.agent, result.late) == ("refund-order", "desk", 0)
    check(result, at_least={"tsa": 1}, at_most={"actual_steps": 2}, calls=result.expected)


def test_a_wrong_argument_is_explained(tasks: Path) -> None:
    """The first wrong step is shown with what was expected there, and as an issue."""
    with capture() as captured:
        refund("o-2")
    result = one(score(captured, task="refund-order", tasks=tasks))

    assert result.tsa == 0.5
    assert result.score("tsa").denominator == 2
    assert [reason.kind for reason in result.reasons] == ["wrong_argument"]
    assert result.issues == (result.reasons[0].key,)
    assert 'issue_refund({"order":"o-2"})' in result.explain()
    assert "o-1" in result.explain()
    assert "issue_refund" in result.timeline()
    with pytest.raises(RunCheckFailed, match=r"tsa is 0\.5, expected at least 1") as caught:
        check(result, at_least={"tsa": 1})
    assert result.explain() in str(caught.value)


def test_calls_that_differ_are_shown_as_a_diff(tasks: Path) -> None:
    """Calls that were not made and calls that were not expected have marks of their own."""
    with capture() as captured, tracegrade.agent_run("desk") as run:
        search_orders("c-7")
        search_orders("c-8")
        run.answer("No.")
    result = one(score(captured, task="refund-order", tasks=tasks))

    with pytest.raises(RunCheckFailed) as caught:
        check(result, calls=["search_orders", "issue_refund"])
    lines = str(caught.value).splitlines()
    assert '    search_orders({"customer":"c-7"})' in lines
    assert '  + search_orders({"customer":"c-8"})' in lines
    assert "  - issue_refund" in lines


def test_a_metric_without_a_value_says_why_and_what_to_do() -> None:
    """A task file would give it a value, and a metric that does not exist is a fault of a test."""
    with capture() as captured:
        refund()
    result = one(score(captured))

    with pytest.raises(NotScored, match="success has no value: ") as caught:
        _ = result.success
    assert caught.value.reason
    assert caught.value.remedy
    with pytest.raises(AttributeError, match="did you mean 'tsa'"):
        _ = result.tssa


def test_several_runs_are_a_set(tasks: Path) -> None:
    """Two agents in one block are two results."""
    with capture() as captured:
        refund(name="first")
        refund("o-2", name="second")
    results = score(captured, task="refund-order", tasks=tasks)

    assert [run.agent for run in results.runs] == ["first", "second"]
    assert [run.tsa for run in results.runs] == [1, 0.5]
    with pytest.raises(SeveralRuns, match=r"'tsa' is of one run, and there are 2 \(first, second"):
        _ = results.tsa
    with pytest.raises(RunCheckFailed):
        check(results, at_least={"tsa": 1})


def test_trials_have_pass_hat(tasks: Path) -> None:
    """Of four trials three succeed: pass^2 is 3/6, pass@2 is 1."""
    orders = iter(["o-1", "o-1", None, "o-1"])

    def once() -> None:
        with tracegrade.agent_run("desk") as run:
            search_orders("c-7")
            if (order := next(orders)) is not None:
                _refund(order)
            run.answer("Done.")

    results = trials(4, once, task="refund-order", tasks=tasks)

    assert [run.success for run in results] == [1, 1, 0, 1]
    assert results.pass_hat(2) == 0.5
    assert results.pass_at(2) == 1
    with pytest.raises(NotScored, match="give it at least 5 trials"):
        results.pass_hat(5)


@tracegrade.tool(name="issue_refund")
def _refund(order: str) -> str:
    return f"refunded {order}"


def test_a_block_without_a_run_says_what_to_do() -> None:
    """Nothing instrumented ended; something else did; a run goes on behind the block."""
    with capture() as nothing:
        pass
    with pytest.raises(NothingCaptured, match=r"^no spans: .*tracegrade\.init"):
        score(nothing)

    go_on, is_inside = threading.Event(), threading.Event()

    def outlive() -> None:
        with tracegrade.agent_run("late"):
            is_inside.set()
            go_on.wait()

    thread = threading.Thread(target=outlive)
    with capture() as late:
        thread.start()
        is_inside.wait()
    go_on.set()
    thread.join()
    with pytest.raises(NothingCaptured, match="1 span had not ended"):
        score(late)


def test_an_unknown_task_is_refused(tasks: Path) -> None:
    """A misspelt task would otherwise leave every score of it without a value."""
    with capture() as captured:
        refund()
    with pytest.raises(UnknownTask, match="did you mean 'refund-order'"):
        score(captured, task="refund-ordr", tasks=tasks)


@pytest.mark.anyio
async def test_tasks_of_one_loop_have_captures_of_their_own() -> None:
    """Two blocks that overlap in time get the spans of their own tasks only."""
    agents: dict[str, list[str | None]] = {}

    async def run(name: str) -> None:
        with capture() as captured:
            await anyio.sleep(0)
            refund(name=name)
            await anyio.sleep(0)
        agents[name] = [each.agent for each in score(captured).runs]

    async with anyio.create_task_group() as group:
        group.start_soon(run, "a")
        group.start_soon(run, "b")

    assert agents == {"a": ["a"], "b": ["b"]}


def test_secrets_of_a_run_are_not_in_its_texts() -> None:
    """Results are redacted like the rows of a lake."""
    secret = "sk-proj-" + "a1B2" * 12
    with capture() as captured:
        refund(customer=secret)
    result = one(score(captured))

    assert secret not in result.timeline()
    assert "redacted" in result.timeline()
