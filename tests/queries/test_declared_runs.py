"""What a resource says of its runs: agents in any language are told it by their environment."""

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .traces import Row, agent, land, request_of, rows, tool

RESOURCE = {
    "tracegrade.task.id": "clean-uploads",
    "tracegrade.task.category": "files",
    "tracegrade.trial": "3",
    "tracegrade.run.mode": "mocked",
}


def _declared(lake: Lake) -> list[Row]:
    build(lake)
    return rows(lake, "SELECT task_id, task_category, trial, run_mode FROM trajectories")


def test_the_resource_names_task_trial_and_mode_of_spans_that_do_not(lake: Lake) -> None:
    land(lake, request_of([agent(1), tool(2, 1)], RESOURCE))
    assert _declared(lake) == [
        {
            "task_id": "clean-uploads",
            "task_category": "files",
            "trial": 3,
            "run_mode": "mocked",
        }
    ]


def test_what_a_span_says_comes_before_what_its_resource_says(lake: Lake) -> None:
    land(lake, request_of([agent(1, tracegrade__task__id="another")], RESOURCE))
    assert [(row["task_id"], row["trial"]) for row in _declared(lake)] == [("another", 3)]


def test_a_trial_that_is_no_number_is_not_known(lake: Lake) -> None:
    land(lake, request_of([agent(1)], {"tracegrade.trial": "third"}))
    assert [row["trial"] for row in _declared(lake)] == [None]
