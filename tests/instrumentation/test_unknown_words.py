"""Words that no score understands are said once, counted, and written as they are."""

import json

import pytest

import tracegrade

from .conftest import Spans


def test_unknown_effect_is_said_once_and_counted(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a tool, and of a planned step."""
    for _ in range(2):
        look = tracegrade.tool(effect="reads")(len)  # type: ignore[call-overload]

    assert look("a") == 1
    tracegrade.plan([{"id": "a", "effect": "destroy"}])

    assert (spans()[0].attributes or {})["tracegrade.tool.effect"] == "reads"
    assert tracegrade.failures() == {"effect=": 3}
    assert caplog.messages == [
        "tracegrade: effect= 'reads' means nothing to a score; did you mean 'read'?"
    ]


def test_unknown_outcome_and_mode_are_said(spans: Spans, caplog: pytest.LogCaptureFixture) -> None:
    """With what could be meant, or all that is known."""
    with tracegrade.agent_run("a", mode="staging") as run:  # type: ignore[arg-type]
        run.outcome("succes")  # type: ignore[arg-type]

    assert (spans()[0].attributes or {})["tracegrade.outcome"] == "succes"
    assert tracegrade.failures() == {"mode=": 1, "outcome": 1}
    assert "known: production, live, mocked" in caplog.text
    assert "outcome 'succes' means nothing to a score; did you mean 'success'?" in caplog.text


def test_numbers_that_are_none_are_said(spans: Spans, caplog: pytest.LogCaptureFixture) -> None:
    """Costs are at least 0, trials are counted from 1."""
    tracegrade.tool(cost=-1)(len)
    tracegrade.tool(cost="1")(len)  # type: ignore[call-overload]
    with tracegrade.agent_run("a", trial=0):
        pass

    assert tracegrade.failures() == {"cost=": 2, "trial=": 1}
    assert "cost= '-1' means nothing to a score; give a number of at least 0" in caplog.text


def test_word_that_is_an_object_is_named_by_its_class(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing of it is run, neither to compare it nor to say it."""

    class Strange:
        def __str__(self) -> str:
            raise SystemExit

        def __eq__(self, other: object) -> bool:
            raise SystemExit

        __hash__ = None  # type: ignore[assignment]

    with tracegrade.agent_run("a", mode=Strange(), trial=Strange()) as run:  # type: ignore[arg-type]
        run.outcome(Strange())  # type: ignore[arg-type]

    assert tracegrade.failures() == {"mode=": 1, "trial=": 1, "outcome": 1}
    assert "Strange>' means nothing to a score" in caplog.text
    assert str((spans()[0].attributes or {})["tracegrade.outcome"]).endswith("Strange>")


def test_key_of_a_plan_that_nothing_reads_is_said(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    """The plan is written as it is; keys of todo tools are known."""
    tracegrade.plan([{"id": "a", "tol": "look"}, {"content": "b", "status": "done"}, "c"])

    (plan,) = spans()
    assert json.loads(str((plan.attributes or {})["tracegrade.plan"]))[0]["tol"] == "look"
    assert tracegrade.failures() == {"the plan's key": 1}
    assert "the plan's key 'tol' means nothing to a score; did you mean 'tool'?" in caplog.text


def test_right_words_are_not_said(spans: Spans, caplog: pytest.LogCaptureFixture) -> None:
    """Neither those that are left out."""
    tracegrade.tool(effect="destructive")(print)
    tracegrade.tool(cost=0)(print)
    with tracegrade.agent_run("a", mode="live", trial=1) as run:
        run.plan([{"id": "a", "tool": "t", "inputs": [], "outputs": [], "effect": "write"}])
        run.outcome("invalid")

    assert (tracegrade.failures(), caplog.messages) == ({}, [])


def test_text_is_a_whole_plan(spans: Spans) -> None:
    """Not one step for each of its characters."""
    tracegrade.plan("1. look\n2. pay")

    (plan,) = spans()
    assert json.loads(str((plan.attributes or {})["tracegrade.plan"])) == "1. look\n2. pay"
