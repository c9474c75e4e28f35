"""Tasks of tau2-bench → tasks named `DOMAIN/TASK`, as its results are imported.

The actions of the agent are expected. They are one way to the right state of the database, and
tau2-bench compares the states; so no other call is wrong, unless `--complete` is given.

The form is that of https://github.com/sierra-research/tau2-bench (`Task`), version 1.0.1 as of
July 2026.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tracegrade_collector.importing.spellings import as_text
from tracegrade_scoring.tasks.cases import (
    CaseTask,
    as_list,
    as_object,
    decisions_of,
    filled,
    objects_in,
)

_CRITERIA: Final = "evaluation_criteria"
_REST: Final = {"initial_state": "initial states"}
_CHECKS: Final = {
    "env_assertions": "assertions on the environment",
    "communicate_info": "texts that the agent must say",
    "nl_assertions": "assertions in natural language",
}
_NO_DOMAIN: Final = "tasks that name no domain, unlike their runs; give the results file instead"


def fits(record: Any) -> bool:
    """Return whether a record is a task, or results with their tasks."""
    return _is_task(record) or bool(_tasks_of_results(record))


def read(record: Mapping[str, Any]) -> Iterator[CaseTask]:
    """Yield the task, or those of the results."""
    environment = as_object(as_object(record.get("info")).get("environment_info"))
    for task in [record] if _is_task(record) else _tasks_of_results(record):
        yield _task(task, environment.get("domain_name"))


def _is_task(record: Any) -> bool:
    found = as_object(record)
    return "id" in found and "user_scenario" in found and _CRITERIA in found


def _tasks_of_results(record: Any) -> list[Mapping[str, Any]]:
    return [each for each in objects_in(as_object(record).get("tasks")) if _is_task(each)]


def _task(task: Mapping[str, Any], domain: Any) -> CaseTask:
    criteria = as_object(task[_CRITERIA])
    scenario = as_object(as_object(task["user_scenario"]).get("instructions"))
    domain = domain or scenario.get("domain")
    left_out = filled(task, _REST)
    for key, kind in _CHECKS.items():
        left_out[kind] += len(as_list(criteria.get(key)))
    if not domain:
        left_out[_NO_DOMAIN] += 1
    name = as_text(task["id"])
    return CaseTask(
        f"{domain}/{name}" if domain else name,
        category=as_text(domain) if domain else None,
        expected=decisions_of(_actions(criteria, left_out), left_out),
        left_out=+left_out,
    )


def _actions(criteria: Mapping[str, Any], left_out: Counter[str]) -> list[dict[str, Any]]:
    """Return the agent's actions with the arguments that are compared."""
    found = []
    for action in objects_in(criteria.get("actions")):
        arguments, compared = as_object(action.get("arguments")), action.get("compare_args")
        if action.get("requestor") == "user":
            left_out["actions of the simulated user"] += 1
        elif isinstance(compared, list):
            chosen = {key: value for key, value in arguments.items() if key in compared}
            found.append({"name": action.get("name"), "arguments": chosen})
        else:
            found.append({"name": action.get("name"), "arguments": arguments})
    return found
