"""Reasons why a score has no value: the meaning of each code, and a way out."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Reason(NamedTuple):
    """The meaning of a reason code, and the way out."""

    meaning: str
    remedy: str | None = None
    """What a user can do to get a value; None: nothing is wrong."""


_CAPTURE: Final = "let the instrumentation capture messages, arguments and results"

REASONS: Final[Mapping[str, Reason]] = {
    "ambiguous_task": Reason(
        "the run matches several tasks", "narrow their `match`, or name the task on a span"
    ),
    "child_trajectory": Reason("a sub-agent's run is scored with its parent"),
    "interrupted": Reason(
        "the run waits for a person: an approval, an answer or a result; the run that continues "
        "it counts"
    ),
    "unfinished": Reason("the run has no end: it is still running, or was cut off"),
    "killed_run": Reason("the run was killed on purpose and is not an attempt"),
    "several_runs": Reason(
        "the agent sent this run in addition to the run of its trial, and a trial is one run",
        "put both into one `agent_run`, or give them one conversation id",
    ),
    "content_missing": Reason("calls, plans, arguments or results were not captured", _CAPTURE),
    "content_redacted": Reason(
        "plans, arguments or results were redacted",
        "see which rules did so in `tracegrade sql --saved content_flags`; switch a rule off with "
        "`redact_rules_off` if it redacts values that are not secret",
    ),
    "content_truncated": Reason(
        "plans, arguments or results were cut",
        "raise `max_value_bytes` of the collector, and the limit of the instrumentation",
    ),
    "empty_plan": Reason("the agent's plan has no steps"),
    "expression_failed": Reason(
        "an `sql:` criterion failed or took too long", "correct the task's `sql:`"
    ),
    "failed": Reason("the run failed, and only successful ones count here"),
    "input_unbound": Reason(
        "the run's input lacks the words that its task takes values from",
        "correct the task's `match.user_input`",
    ),
    "length_unknown": Reason(
        "the number of steps that the task needs is not known",
        "give tasks `optimal_steps`, all `expected` calls or `sub_goals`",
    ),
    "metric_failed": Reason(
        "the metric of your own failed",
        "see why in the summary of `tracegrade score`, or run `tracegrade metrics check`",
    ),
    "metric_not_trusted": Reason(
        "the metric's text comes from the lake and is not trusted",
        "score with `--metrics FOLDER`, or with --trust-kept-metrics",
    ),
    "no_arguments_expected": Reason(
        "the task states no arguments", "give expected calls `arguments`"
    ),
    "no_attempts": Reason("the sub-goal was never attempted"),
    "no_attribution": Reason("no call could be tied to a step of the plan"),
    "no_calls": Reason("no tool was called"),
    "no_calls_expected": Reason("the task expects no call"),
    "no_critical": Reason("the task has no critical sub-goal", "mark sub-goals `critical`"),
    "no_decision_point": Reason("there was no decision to judge"),
    "no_dependents": Reason("no completed sub-goal depends on another"),
    "no_distinctive_result": Reason("no result holds a number or name that could be recognized"),
    "no_expectation": Reason(
        "the task does not say which tools to pick", "give tasks `expected` calls"
    ),
    "no_failed_call": Reason("no call failed"),
    "no_failure": Reason("no call failed"),
    "no_inputs_declared": Reason(
        "the plan does not say what its steps need and produce",
        "declare the `inputs` and `outputs` of planned steps",
    ),
    "no_kill": Reason(
        "no such kill test was run",
        "run `tracegrade harness kill`, or import verdicts on `rollback`",
    ),
    "no_needed_call": Reason(
        "the last call that the run had to make is not known",
        "declare which tools write (`tools.NAME.effect`), or which calls tasks expect",
    ),
    "no_offered_tools": Reason(
        "the trace does not say which tools were offered",
        "declare `tools` in a task file, or let the instrumentation capture their definitions",
    ),
    "no_optimum": Reason(
        "the task does not say how many steps it needs",
        "give tasks `optimal_steps` or all `expected` calls; for a report, three successful runs "
        "are enough",
    ),
    "no_plan": Reason(
        "the trace holds no plan", "let agents declare one with `run.plan` or a todo tool"
    ),
    "no_plan_needed": Reason("the task needs at most one step, so no plan"),
    "no_registry": Reason("no tools are declared in a task file", "declare `tools`"),
    "no_results": Reason("no result was captured, or no tool was called"),
    "no_row": Reason(
        "the metric of your own returned no row for the run", "let it return one for each attempt"
    ),
    "no_schema": Reason(
        "no tool declares its parameters",
        "give `tools.NAME.parameters`, or let the instrumentation capture tool definitions",
    ),
    "schema_too_costly": Reason(
        "checking the arguments against the schemas of their tools takes too many steps",
        "let the schemas refer to each of their parts once",
    ),
    "no_scope": Reason(
        "the task does not say what belongs to its objective", "give tasks `scope` or `sub_goals`"
    ),
    "no_steps": Reason("the run took no step"),
    "no_sub_goals": Reason("the task has no sub-goals", "give tasks `sub_goals`"),
    "no_task": Reason(
        "no task file describes the run's task",
        "write one (`tracegrade tasks draft` gives a first version), and score with --tasks",
    ),
    "no_tools_planned": Reason(
        "the steps of the plan name no tool", "name tools in planned steps"
    ),
    "not_judged": Reason(
        "a person or a judge has to decide, and none has yet",
        "import verdicts, or ask a judge with `tracegrade judge run`",
    ),
    "not_killed": Reason(
        "no kill test was run", "run `tracegrade harness kill`, or import verdicts on `rollback`"
    ),
    "not_measured": Reason(
        "not every verdict on a kill tells the state before recovery",
        "give the evidence of verdicts on `rollback` an `immediate`",
    ),
    "no_such_score": Reason(
        "the verdict on a kill test is not one of 10, 7, 3 and 0", "import it with one of these"
    ),
    "optimum_zero": Reason("the task needs no step at all"),
    "plan_unreadable": Reason(
        "a plan is written in prose without a list",
        "let the agent number the steps of its plan or declare it with a plan tool, or import "
        "verdicts on `planning`",
    ),
    "specification_error": Reason(
        "the task's graph has an error", "`tracegrade tasks check` shows it"
    ),
    "success_unknown": Reason(
        "it is not known whether the run succeeded",
        "give tasks `success`, or import verdicts on success; where `success` reads what was not "
        f"captured, {_CAPTURE}",
    ),
    "out_of_range": Reason(
        "your own metric returned a value that is not a number, or is out of its range",
        "correct the metric, or its `Range:`",
    ),
    "two_rows": Reason(
        "the metric of your own returned several rows for the run",
        "let it return one for each attempt",
    ),
    "two_steps": Reason("a task of two steps neither needs a plan nor excludes one"),
    "verifier_failed": Reason("the verifier could not decide", "import its verdict again"),
}
"""By code."""


def reason_of(code: str) -> Reason:
    """Return what a code means; the code may be followed by `: ` and what it is about."""
    known, colon, about = code.partition(": ")
    found = REASONS.get(known, Reason(known.replace("_", " ")))
    return found._replace(meaning=f"{found.meaning}{colon}{about}")
