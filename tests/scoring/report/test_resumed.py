"""A run that goes on with an earlier one counts once, in reports, comparisons and timelines."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from tests.scoring.report.build import START, Tables

from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.report.model import Release, Report
from tracegrade_scoring.report.texts import render_markdown
from tracegrade_scoring.timeline.read import read_timeline
from tracegrade_scoring.timeline.texts import render_terminal

RANDOM = "call_Z7vQ4mXk2pLs"
PAUSED: dict[str, Any] = {"interrupted": True, "open_calls": ["c1"], "conversation_id": "k"}
RESUMED: dict[str, Any] = {"resumed_calls": ["c1"], "conversation_id": "k"}
ROUND: dict[str, Any] = {
    "root_span_id": "0" * 16,
    "llm_call_count": 1,
    "conversation_id": "k",
    "service_name": "cli",
}
CUT: dict[str, Any] = {**ROUND, "flags": ["stopped_for_tools", "unrecorded_calls"]}


def minutes(number: float) -> datetime:
    """Return a time of the day on which the runs are."""
    return START + timedelta(minutes=number)


def only(report: Report) -> Release:
    """Return the only release."""
    (release,) = report.releases
    return release


def continued(tables: Tables) -> Mapping[str, str]:
    """Return of each earlier part the run that goes on with it."""
    return dict(tables.con.sql("FROM continued_runs").fetchall())


def test_run_goes_on_with_the_last_that_left_its_call_open(tables: Tables) -> None:
    """Ids may count anew in each round: the first pause was given up, the second was not."""
    first, second, later = (tables.run(**facts) for facts in (PAUSED, PAUSED, RESUMED))

    assert continued(tables) == {second: later}
    assert first not in continued(tables)


def test_run_is_resumed_once(tables: Tables) -> None:
    """Of two runs that take one call up, the first goes on with it."""
    paused, once, _ = (tables.run(**facts) for facts in (PAUSED, RESUMED, RESUMED))

    assert continued(tables) == {paused: once}


def test_calls_of_other_conversations_are_others(tables: Tables) -> None:
    """Short ids are those of many calls; one that no other call has needs no conversation."""
    elsewhere = {"conversation_id": "other"}
    unnamed: dict[str, Any] = {"conversation_id": None}
    tables.run(**PAUSED)
    tables.run(**RESUMED | elsewhere)
    tables.run(**RESUMED | unnamed)
    paused = tables.run(**PAUSED | {"open_calls": [RANDOM]})
    tables.run(**RESUMED | elsewhere | {"resumed_calls": [RANDOM]})
    later = tables.run(**RESUMED | unnamed | {"resumed_calls": [RANDOM]})

    assert continued(tables) == {paused: later}


def test_what_came_before_is_not_gone_on_with(tables: Tables) -> None:
    """A run that began earlier, a sub-agent's, and one that was killed on purpose take up none."""
    tables.run(**RESUMED)
    tables.run(**PAUSED)
    tables.run(**RESUMED, parent_trajectory_id="t0")
    tables.run(**RESUMED, kill_point="mid")

    assert not continued(tables)


def test_rounds_of_a_conversation_in_traces_of_their_own(tables: Tables) -> None:
    """Each model call that stopped for tools goes on in the next; one that did not ends a turn."""
    kinds = (CUT, CUT, ROUND, CUT, ROUND)
    runs = [
        tables.run(start_time=minutes(place), end_time=minutes(place + 0.5), **facts)
        for place, facts in enumerate(kinds)
    ]
    tables.run(start_time=minutes(9), **ROUND | {"conversation_id": "other"})

    assert continued(tables) == {runs[0]: runs[1], runs[1]: runs[2], runs[3]: runs[4]}


def test_next_run_of_an_agent_or_of_another_service_is_no_round(tables: Tables) -> None:
    """Nor is a model call that only names the conversation, or one that was under way."""
    tables.run(start_time=minutes(0), end_time=minutes(5), **CUT)
    tables.run(start_time=minutes(3), **ROUND)
    tables.run(start_time=minutes(6), **ROUND | {"root_span_id": "1" * 16})
    tables.run(start_time=minutes(7), **ROUND | {"service_name": "web"})
    tables.run(start_time=minutes(8), **ROUND, is_fragment=True)

    assert not continued(tables)


def pause_and_rest(tables: Tables, release: str = "1.0", **facts: Any) -> tuple[str, str]:
    """Insert a run that waited, and the one that goes on with it and was right."""
    used: dict[str, Any] = {
        "input_tokens": 10,
        "output_tokens": 5,
        "cost_usd": 0.5,
        "step_count": 3,
        "tool_call_count": 1,
        "task_id": "a",
        **facts,
    }
    paused, rest = (tables.run(release, **each | used) for each in (PAUSED, RESUMED))
    for run, outcome in ((paused, None), (rest, 1.0)):
        tables.scored(run, "a")
        told = {} if outcome is None else {"numerator": outcome, "denominator": 1.0}
        tables.score(run, "success", outcome, **told)
    return paused, rest


def test_report_counts_a_resumed_run_once(tables: Tables) -> None:
    """With the tokens of both parts, and the calls of the one that had all of them."""
    pause_and_rest(tables)
    tables.run(**PAUSED | {"conversation_id": "alone"})

    report = tables.report()
    runs, reliability = only(report).runs, only(report).reliability
    assert (runs.runs, runs.interrupted_runs, runs.resumed_runs) == (2, 1, 1)
    assert (runs.input_tokens, runs.output_tokens, runs.tool_calls) == (20, 10, 1)
    assert reliability
    assert (reliability.valid, reliability.superseded) == (1, 0)
    assert "1 of 2 runs was resumed: begun in an earlier trace" in render_markdown(report)


def test_resumed_trial_is_one_attempt(tables: Tables) -> None:
    """Its earlier part replaces nothing, and is not counted as replaced."""
    first = tables.run(task_id="a", trial=1, start_time=minutes(-9))
    tables.scored(first, "a")
    tables.score(first, "success", 0.0, numerator=0.0, denominator=1.0)
    alone = {"conversation_id": None, "open_calls": [RANDOM], "resumed_calls": [RANDOM]}
    paused = tables.run(**PAUSED | alone | {"resumed_calls": []}, task_id="a", trial=1)
    rest = tables.run(**RESUMED | alone | {"open_calls": []}, task_id="a", trial=1)
    for run, outcome in ((paused, 0.0), (rest, 1.0)):
        tables.scored(run, "a")
        tables.score(run, "success", outcome, numerator=outcome, denominator=1.0)

    reliability = only(tables.report()).reliability
    assert reliability
    assert (reliability.valid, reliability.superseded) == (1, 1)
    assert reliability.passes[0].pass_at_k == 1.0


def test_comparison_counts_a_resumed_run_once(tables: Tables) -> None:
    """It costs what both parts did, is one run of its release, and none was superseded."""
    for release in ("1", "2"):
        pause_and_rest(tables, release, conversation_id=f"k{release}")
    (comparison,) = read_comparisons(tables.con, "lake", "1", "2").cohorts

    cohort = comparison.cohort
    assert (cohort.base_runs, cohort.base_superseded, cohort.candidate_runs) == (1, 0, 1)
    found = {
        name: comparison.metrics[name].found.base
        for name in ("success", "tokens_per_run", "cost_usd_per_run", "steps_per_run")
    }
    assert found == {
        "success": 1,
        "tokens_per_run": 30,
        "cost_usd_per_run": 1.0,
        "steps_per_run": 3,
    }


def test_timelines_name_the_other_part(tables: Tables) -> None:
    """The earlier part no longer waits; a run that is not continued still does."""
    paused, rest = pause_and_rest(tables)
    waiting = tables.run(**PAUSED | {"conversation_id": "alone"})
    parts = {run: read_timeline(tables.con, "lake", run) for run in (paused, rest, waiting)}

    assert parts[paused].run.continued_by == rest
    assert parts[rest].run.continues == [paused]
    shown = {
        run: " ".join(render_terminal(part, width=100, color=False).split())
        for run, part in parts.items()
    }
    assert f"resumed by {rest}" in shown[paused]
    assert "interrupted: it waits" not in shown[paused]
    assert f"resumes {paused}" in shown[rest]
    assert "interrupted: it waits for an approval" in shown[waiting]
