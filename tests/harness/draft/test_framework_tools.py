"""Functions under `tracegrade.tool` are on tape below the decorators of frameworks, too."""

from typing import Any

import pytest
import yaml
from tests.queries.traces import agent, land, model, request_of, tool

from tracegrade_harness.draft.draft import Drafted, drafted
from tracegrade_harness.draft.files import DraftedCase, tape, tasks_text
from tracegrade_harness.draft.runs import ChosenRuns
from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

Row = dict[str, Any]
GIVEN = '{"currency": "EUR"}'
CONVENTIONS: Row = {"gen_ai__tool__call__arguments": GIVEN, "gen_ai__tool__call__id": "c1"}
OPENINFERENCE: Row = {
    "gen_ai__operation__name": "",
    "openinference__span__kind": "TOOL",
    "tool__name": "get_rate",
    "input__value": GIVEN,
    "output__value": "1.5",
}
TRACELOOP: Row = {
    "gen_ai__operation__name": "",
    "traceloop__span__kind": "tool",
    "traceloop__entity__name": "get_rate",
    "traceloop__entity__input": GIVEN,
    "traceloop__entity__output": "1.5",
}


def ours(number: int, parent: int, name: str = "get_rate", **fields: Any) -> Row:
    """Return the span of a function under `tracegrade.tool`."""
    told = {
        "tracegrade__step__kind": "tool_call",
        "tracegrade__tool__effect": "read",
        "gen_ai__tool__call__arguments": GIVEN,
        "gen_ai__tool__call__result": '{"rate": 1.5}',
    }
    return tool(number, parent, tool_name=name, scope="tracegrade", **{**told, **fields})


def outer(*, name: str = "get_rate", **fields: Any) -> Row:
    """Return the span of a framework around it, which has the result as the model saw it."""
    told = {"gen_ai__tool__call__result": "rate: 1.5", **CONVENTIONS}
    return tool(2, 1, tool_name=name, ms=20, **{**told, **fields})


RUNS: dict[str, list[Row]] = {
    "conventions": [outer(), ours(3, 2, at=1)],
    "openinference": [outer(**OPENINFERENCE), ours(3, 2, at=1)],
    "traceloop": [outer(**TRACELOOP), ours(3, 2, at=1)],
    "other_arguments": [
        outer(gen_ai__tool__call__arguments='{"currency": "EUR", "callbacks": null}'),
        ours(3, 2, at=1),
    ],
    "other_name": [outer(name="Get rate"), ours(3, 2, at=1)],
    "other_name_and_defaults": [
        outer(name="Get rate"),
        ours(3, 2, at=1, gen_ai__tool__call__arguments='{"currency": "EUR", "day": null}'),
    ],
    "raised": [
        outer(gen_ai__tool__call__result="Please try again."),
        ours(3, 2, at=1, error="no rate", error__type="KeyError"),
    ],
    "tried_again": [outer(), ours(3, 2, at=1, error="busy"), ours(4, 2, at=5)],
    "within": [
        outer(),
        ours(3, 2, at=1, ms=15),
        tool(4, 3, tool_name="fetch", at=2, ms=10),
        ours(5, 4, "inner", at=3, gen_ai__tool__call__arguments='{"x": 1}'),
    ],
    "among_others": [
        outer(name="plan_trip", gen_ai__tool__call__arguments='{"to": "Rome"}'),
        ours(3, 2, at=1),
    ],
    "without_arguments": [
        outer(name="plan_trip", gen_ai__tool__call__arguments="{}"),
        ours(3, 2, at=1),
    ],
    "not_ours": [outer(name="look")],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Drafted:
    """What runs with such calls become, each a task's."""
    lake = Lake.create(tmp_path_factory.mktemp("framework") / "lake")
    for number, (task, calls) in enumerate(RUNS.items(), start=1):
        root = agent(1, ms=100, tracegrade__task__id=task)
        spans = [root, model(99, 1, said=[], heard=[]), *calls]
        trace = f"{number:032x}"
        land(lake, request_of([span | {"traceId": trace} for span in spans]), seq=number)
    score(lake, Specification())
    return drafted(lake, Specification(), ChosenRuns(), incomplete=True)


def case(made: Drafted, task: str) -> DraftedCase:
    """Return the case of a task."""
    return next(each for each in made.cases if each.captured.run.task_id == task)


def taped(made: Drafted, task: str) -> list[tuple[str, Row]]:
    """Return the tools on the tape of a task's case, each with what it gives."""
    return [(key.name, dict(reply)) for key, reply, *_ in tape(case(made, task), "").entries]


@pytest.mark.parametrize("task", [*RUNS][:6])
def test_the_function_is_taped_below_a_decorator(made: Drafted, task: str) -> None:
    """By its own name, arguments and result, once, and nothing is left that runs as it is."""
    assert taped(made, task) == [("get_rate", {"text": '{"rate": 1.5}', "effect": "read"})]
    assert case(made, task).captured.running_tools == 0


def test_what_the_function_raised_is_taped_where_the_framework_made_a_text_of_it(
    made: Drafted,
) -> None:
    """Played, it is raised again below the decorator, which tells the model as it did."""
    error = {"type": "KeyError", "message": "no rate"}
    assert taped(made, "raised") == [("get_rate", {"error": error, "effect": "read"})]


def test_each_try_of_a_framework_is_taped(made: Drafted) -> None:
    """The calls of one function in one call of the framework are several for the tape."""
    assert [next(iter(reply)) for _, reply in taped(made, "tried_again")] == ["error", "text"]


def test_a_call_within_a_taped_one_is_part_of_it(made: Drafted) -> None:
    """Whatever stands between the two; it neither is on tape nor runs."""
    assert [name for name, _ in taped(made, "within")] == ["get_rate"]
    assert case(made, "within").captured.running_tools == 0


@pytest.mark.parametrize("task", ["among_others", "without_arguments"])
def test_a_tool_that_calls_a_taped_one_among_other_things_runs(made: Drafted, task: str) -> None:
    """Neither its name nor its arguments are those of the function."""
    assert [name for name, _ in taped(made, task)] == ["get_rate"]
    assert case(made, task).captured.running_tools == 1


def test_the_task_file_has_the_effects_of_all_tools_that_were_called(made: Drafted) -> None:
    """A comment below a tool without a declared effect asks for it."""
    text = tasks_text([case(made, "conventions"), case(made, "not_ours")], made.known)

    assert yaml.safe_load(text)["tools"] == {"get_rate": {"effect": "read"}, "look": {}}
    assert "  look: {}\n    # effect: read | write | destructive\n" in text
