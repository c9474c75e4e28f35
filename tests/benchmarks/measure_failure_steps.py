"""How often failure modes and reasons name the step that people labeled.

`python -m tests.benchmarks.measure_failure_steps FOLDER` reads a copy of the `data` folder of
AgentRx: failed trajectories of τ-bench retail whose failures and root cause people labeled, and
the rewarded trajectories of the same set. It scores them three times, each time with a task file
that knows more, and prints the tables of docs/metrics.md, section 9.7.

A label is the number of a message, from 1. The messages of a run are walked beside its steps, so
that each step has a number of the same kind.
"""

import json
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb
import yaml
from tests.benchmarks.command_line import while_read

from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import FAILURE_MODES
from tracegrade_scoring.tasks import Specification, load
from tracegrade_scoring.tasks.ground_truth import task_file

LABELS: Final = "ground_truth/tau_ground_truth.json"
FAILED: Final = "tau_retail/tau_dataset_failed.json"
ALL: Final = "tau_retail/tau_dataset_full.json"

EFFECTS: Final = {
    "read": (
        "calculate",
        "find_user_id_by_email",
        "find_user_id_by_name_zip",
        "get_order_details",
        "get_product_details",
        "get_user_details",
        "list_all_product_types",
        "think",
        "transfer_to_human_agents",
    ),
    "write": (
        "exchange_delivered_order_items",
        "modify_pending_order_address",
        "modify_pending_order_items",
        "modify_pending_order_payment",
        "modify_user_address",
        "return_delivered_order_items",
    ),
    "destructive": ("cancel_pending_order",),
}
"""What the tools of τ-bench retail do: writes change its database, and the reward goes by that."""

WRITES: Final = {*EFFECTS["write"], *EFFECTS["destructive"]}
TOLERANCES: Final = (0, 1, 3)
"""Messages by which a named step may lie before or after the labeled one."""
BASELINE: Final = "baseline: "

STEPS = """
SELECT task_id, list(kind ORDER BY step_index)
FROM steps INNER JOIN trajectories USING (trajectory_id)
GROUP BY task_id
"""
NAMED = """
SELECT mode AS named_by, task_id, step_index
FROM failures
WHERE step_index IS NOT NULL
UNION ALL
SELECT 'first reason: ' || kind, task_id, step_index
FROM run_reasons
WHERE rank_in_run = 1 AND step_index IS NOT NULL
UNION ALL
SELECT 'the first reason with a step', task_id, arg_min(step_index, rank_in_run)
FROM run_reasons
WHERE step_index IS NOT NULL
GROUP BY task_id
UNION ALL
SELECT 'reason ' || rank_in_run, task_id, step_index
FROM run_reasons
WHERE step_index IS NOT NULL
UNION ALL
SELECT 'baseline: the first failed call', task_id, min(step_index)
FROM failed_calls
GROUP BY task_id
UNION ALL
SELECT 'baseline: the last failed call', task_id, max(step_index)
FROM failed_calls
GROUP BY task_id
UNION ALL
SELECT 'baseline: the last call', task_id, max(step_index)
FROM steps INNER JOIN trajectories USING (trajectory_id)
WHERE kind = 'tool_call'
GROUP BY task_id
UNION ALL
SELECT 'baseline: the first write', task_id, min(step_index)
FROM steps INNER JOIN trajectories USING (trajectory_id)
WHERE kind = 'tool_call' AND list_contains($writes, tool_name)
GROUP BY task_id
UNION ALL
SELECT 'baseline: the last write', task_id, max(step_index)
FROM steps INNER JOIN trajectories USING (trajectory_id)
WHERE kind = 'tool_call' AND list_contains($writes, tool_name)
GROUP BY task_id
"""
KNOWN = (
    f"SELECT {', '.join(f'count({mode}.value)' for mode in FAILURE_MODES)} FROM trajectory_scores"
)

Record = Mapping[str, Any]
NamedSteps = dict[str, dict[str, int]]
"""By what names them, and by run: the number of the message.

A mode that was not applicable in any run has no entry; one that no run shows has an empty one.
"""


class Label(NamedTuple):
    """What people say of one failed run."""

    root_cause: int
    """Number of the message, from 1."""
    failures: tuple[int, ...]
    """Numbers of all failures, the root cause among them."""
    category: str
    """The kind of failure that the root cause is."""


class Agreement(NamedTuple):
    """How many named steps agree with the labels."""

    failed: int
    """Failed runs in which a step is named."""
    others: int
    """Runs without a label in which one is named."""
    near: tuple[int, ...]
    """Failed runs whose named step is the root cause, by tolerance."""
    near_any: int
    """Failed runs whose named step is at most 1 message from any labeled failure."""


def main() -> None:
    """Measure and print a table for each task file, and one for each category of labels."""
    folder = Path(sys.argv[1])
    labels = read_labels(json.loads((folder / LABELS).read_text(encoding="utf-8")))
    records = read_records(folder)
    for title, specification in specifications(records):
        named = named_steps(records, specification)
        print(f"\n{title}: {len(labels)} labeled runs, {len(records) - len(labels)} rewarded\n")
        print_agreement(named, labels)
        print_issues(named, labels)
    print_categories(named["the first reason with a step"], labels)


def read_labels(truths: Sequence[Record]) -> dict[str, Label]:
    """Return the label of each run, by its task: each task has one run."""
    labels = {}
    for truth in truths:
        failures = {failure["failure_id"]: failure for failure in truth["failures"]}
        root_cause = failures[truth["root_cause"]["failure_id"]]
        labels[str(truth["trajectory_id"])] = Label(
            root_cause["step_number"],
            tuple(failure["step_number"] for failure in failures.values()),
            root_cause["failure_category"],
        )
    return labels


def read_records(folder: Path) -> list[Record]:
    """Return the failed runs, which have labels, and the rewarded ones."""
    failed, every = (json.loads((folder / name).read_text("utf-8")) for name in (FAILED, ALL))
    return [*failed, *(record for record in every if record["reward"] == 1)]


def specifications(records: Sequence[Record]) -> Iterator[tuple[str, Specification]]:
    """Yield what the runs are scored against: each knows more than the one before."""
    yield "no task file", Specification()
    with tempfile.TemporaryDirectory() as folder:
        data, file = Path(folder) / "runs.json", Path(folder) / "tasks.yaml"
        data.write_text(json.dumps(records), encoding="utf-8")
        paths = {"task": "task_id", "expected": "info.task.actions"}
        tasks = yaml.safe_load(task_file([data], paths, "writes", print))
        tasks["tools"] = {
            name: {"effect": effect} for effect, names in EFFECTS.items() for name in names
        }
        for title in ("expected calls and effects", "and a plan graph of the expected writes"):
            file.write_text(yaml.safe_dump(tasks), encoding="utf-8")
            yield title, load([file]).specification
            for task in tasks["tasks"].values():
                task["sub_goals"] = plan_graph(task["expected"])


def plan_graph(expected: Sequence[Record]) -> dict[str, Any]:
    """Return a sub-goal for each expected write, which depends on the write before."""
    writes = [call for call in expected if call["tool"] in WRITES]
    goals = {
        f"{call['tool']}_{at}": {
            "serves": [call["tool"]],
            "critical": True,
            "success": {"tool": call["tool"], "arguments": call["arguments"]},
        }
        for at, call in enumerate(writes, 1)
    }
    for before, after in pairwise(goals):
        goals[after]["deps"] = [before]
    return goals


def named_steps(records: Sequence[Record], specification: Specification) -> NamedSteps:
    """Import and score the runs, and return the message of each step that something names."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "runs.json"
        file.write_text(json.dumps(records), encoding="utf-8")
        lake = Lake.create(Path(folder) / "lake")
        import_files(lake, [file], lambda _: None)
        score(lake, specification)
        with connect(lake, layers=(SCORES,)) as con:
            return _as_messages(con, {str(one["task_id"]): one["traj"] for one in records})


def _as_messages(
    con: duckdb.DuckDBPyConnection, runs: Mapping[str, Sequence[Record]]
) -> NamedSteps:
    numbers = {}
    for run, kinds in con.sql(STEPS).fetchall():
        numbers[run] = [*message_numbers(runs[run])]
        if len(numbers[run]) != len(kinds):
            msg = f"run {run} has {len(kinds)} steps, its messages {len(numbers[run])}"
            raise ValueError(msg)
    (known,) = con.sql(KNOWN).fetchall()
    named: NamedSteps = {mode: {} for mode, runs in zip(FAILURE_MODES, known, strict=True) if runs}
    for by, run, step in con.sql(NAMED, params={"writes": sorted(WRITES)}).fetchall():
        named.setdefault(by, {})[run] = numbers[run][step]
    return named


def message_numbers(messages: Sequence[Record]) -> Iterator[int]:
    """Yield the number of the message, from 1, that each step of a run was read from.

    The system's message and the first of the user are no steps, nor is one of the user that the
    agent does not answer. A result directly follows its call.
    """
    asked = False
    for number, message in enumerate(messages, 1):
        if message["role"] == "user":
            if asked and any(later["role"] == "assistant" for later in messages[number:]):
                yield number
            asked = True
        elif message["role"] == "assistant":
            if message["content"]:
                yield number
            for result, _ in enumerate(message.get("tool_calls") or (), number + 1):
                yield number
                if result <= len(messages) and messages[result - 1]["role"] == "tool":
                    yield result


def agreement(named: Mapping[str, int], labels: Mapping[str, Label]) -> Agreement:
    """Count the runs whose named message is at most so far from the labeled one."""
    both = [(number, labels[run]) for run, number in named.items() if run in labels]
    return Agreement(
        len(both),
        len(named) - len(both),
        tuple(
            sum(abs(number - label.root_cause) <= most for number, label in both)
            for most in TOLERANCES
        ),
        sum(
            min(abs(number - failure) for failure in label.failures) <= 1 for number, label in both
        ),
    )


def print_agreement(named: NamedSteps, labels: Mapping[str, Label]) -> None:
    """Print a row for whatever names steps; shares in brackets are precision and recall."""
    print("| step named by | failed | rewarded", end=" | ")
    print("same message | ±1 | ±3 | ±1 of any label | best baseline there: ±1, ±3 |")
    print(f"|{'---|' * 8}")
    for by, steps in sorted(named.items()):
        found = agreement(steps, labels)
        shares = [_shares(near, found.failed, len(labels)) for near in found.near]
        any_label = _shares(found.near_any, found.failed, len(labels))
        best = best_baseline(named, steps, labels)
        cells = (by, found.failed, found.others, *shares, any_label, f"{best[1]}, {best[2]}")
        print(f"| {' | '.join(map(str, cells))} |")


def best_baseline(
    named: NamedSteps, runs: Collection[str], labels: Mapping[str, Label]
) -> tuple[int, ...]:
    """Return how many of these runs the best baseline has right, by tolerance."""
    there = [
        agreement({run: number for run, number in steps.items() if run in runs}, labels).near
        for by, steps in named.items()
        if by.startswith(BASELINE)
    ]
    return tuple(max(near) for near in zip(*there, strict=True))


def print_issues(named: NamedSteps, labels: Mapping[str, Label]) -> None:
    """Print in how many runs a step of an issue is near a labeled one: each reason is an issue."""
    reasons = [steps for by, steps in named.items() if by.startswith("reason ")]
    for most in TOLERANCES:
        root_causes = near_a_label(reasons, {r: (o.root_cause,) for r, o in labels.items()}, most)
        failures = near_a_label(reasons, {r: o.failures for r, o in labels.items()}, most)
        print(f"an issue's step within {most}: root cause {root_causes}, any label {failures}")


def near_a_label(
    named: Sequence[Mapping[str, int]], labels: Mapping[str, Sequence[int]], most: int
) -> int:
    """Count the runs in which any named message is at most so far from any of the labeled ones."""
    return sum(
        any(run in steps and abs(steps[run] - label) <= most for steps in named for label in many)
        for run, many in labels.items()
    )


def _shares(near: int, named: int, labeled: int) -> str:
    precision = f"{near / named:.2f}" if named else "-"
    return f"{near} ({precision}, {near / labeled:.2f})"


def print_categories(named: Mapping[str, int], labels: Mapping[str, Label]) -> None:
    """Print how many root causes of each category the named steps are within 1 message of."""
    print("\n| category of the root cause | runs | named | ±1 |\n|---|---|---|---|")
    for category in sorted({label.category for label in labels.values()}):
        found = agreement(named, {r: one for r, one in labels.items() if one.category == category})
        runs = sum(label.category == category for label in labels.values())
        print(f"| {category} | {runs} | {found.failed} | {found.near[1]} |")


if __name__ == "__main__":
    with while_read():
        main()
