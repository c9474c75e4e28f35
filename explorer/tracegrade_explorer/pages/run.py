"""`/runs/ID` and its subpages: one run with its steps, whole texts."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import orjson
from markupsafe import Markup

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter, PageMissing
from tracegrade_explorer.filters.grammar import Filter, to_pairs
from tracegrade_explorer.issues.known import chips_of_run
from tracegrade_explorer.kills.links import lines_of_run
from tracegrade_explorer.pages.cells import metrics_of
from tracegrade_explorer.pages.label import label_card
from tracegrade_explorer.pages.run_state import news_pairs, state_sentence
from tracegrade_explorer.pages.runs import chips
from tracegrade_explorer.parallel import parallel
from tracegrade_explorer.responses import (
    PageContent,
    PageRequest,
    PageResponse,
    PlainText,
    WrittenJson,
)
from tracegrade_explorer.run_view.agents_choice import RunChoice, agents_of_page, chosen_agent
from tracegrade_explorer.run_view.blocks import blocks
from tracegrade_explorer.run_view.page import (
    SHOWS,
    findings,
    is_as_returned,
    map_steps,
    open_card,
    reasons,
    score_rows,
    select_steps,
    step_texts,
    text_limit,
)
from tracegrade_explorer.run_view.prompt import PromptMessage, prompt_messages, prompt_text
from tracegrade_explorer.run_view.run_rows import read_run, timeline_rows
from tracegrade_explorer.run_view.step_lines import goals_by_step, line_blocks, plan_names
from tracegrade_explorer.snapshots.rows import (
    FoundRun,
    Neighbors,
    count_runs,
    find_run,
    neighbors,
    read_runs,
)
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_scoring.pictures.small import minimap
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import StepView
from tracegrade_scoring.rendering.measured_modes import measured_note
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.tasks.load import Specification
from tracegrade_scoring.tasks.model import Task
from tracegrade_scoring.tasks.stored import readable_specification
from tracegrade_scoring.timeline.as_json import render_json
from tracegrade_scoring.timeline.cards.agents_card import (
    AGENT_CALLS,
    agents_by_step,
    named_by_step,
    run_groups,
)
from tracegrade_scoring.timeline.cards.decision_card import DECISIONS, DecisionCard, decision_cards
from tracegrade_scoring.timeline.cards.json_text import indented, is_json
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.plan.plan_card import plan_card, run_calls
from tracegrade_scoring.timeline.plan.plan_graph import RunCalls
from tracegrade_scoring.timeline.plan.plans import PlanChange, plan_changes
from tracegrade_scoring.timeline.read import Window, timeline_of
from tracegrade_scoring.timeline.unknown_outcome import unknown_outcome
from tracegrade_scoring.timeline.view import (
    TimelineView,
    failed_steps,
    headline_lead,
    timeline_view,
)

OWN: Final = ("from", "show", "step_tool", "find", "queue", "who")
TEXTS: Final = ("arguments", "result", "content")
PROMPT: Final = "prompt"
"""Text of a step that only the span of its model call holds."""
NO_PROMPT: Final = "not recorded: the trace does not hold what the model was given"
OWN_QUERIES: Final = ("run_evidence", "run_children")
CARD_QUERIES: Final = (DECISIONS, AGENT_CALLS)
SHOWS_UNMADE_CALLS: Final = ("all", "calls", "findings")
"""Values of `SHOWS` for calls that were not made."""
MAIN_SCORES: Final = 6
"""Beside the steps; all are in the table."""
STEP_COLUMNS: Final = (
    "step_index", "kind", "role", "agent_name", "tool_name", "arguments", "result", "content",
    "status", "error", "sub_goal", "decision", "effect", "model", "input_tokens", "output_tokens",
    "offset_ms", "duration_ms", "span_id", "flags",
)  # fmt: skip


def run(request: PageRequest) -> PageResponse:
    """Return one run, step by step."""
    own, run_filter = request.split(*OWN)
    found = find_run(request.con, request.path["id"])
    window = Window(first=_first(own))
    if request.form != "html":
        return _for_programs(request, read_run(request, found, window))
    around = partial(neighbors, request.con, run_filter, found.seq)
    of_index = partial(read_runs, request.cursor_of_lake(), [found.seq], ())
    tasks: dict[str, Callable[[], Any]] = {
        **_queries(request, found, window), "around": around, "of_index": of_index,
    }  # fmt: skip
    rows = parallel(tasks)
    timeline = timeline_of(request.site.lake, rows, found.trajectory_id)
    view = _view(request, found, timeline, own, run_filter, rows)
    title = f"Run of {view['view'].title}, {words.run(found.trajectory_id)}"
    return PageContent("run", title, view, None, STEP_COLUMNS)


def _queries(
    request: PageRequest, found: FoundRun, window: Window
) -> dict[str, Callable[[], Any]]:
    """Return what reads the rows of each query of the page, the timeline's first."""

    def rows(name: str) -> list[Row]:
        return read(request.cursor_of(found.date), name, **found.key)

    def card_rows(name: str) -> list[Row]:
        return read_rows(request.cursor_of(found.date), name, **found.key)

    own = {name: partial(rows, name) for name in OWN_QUERIES}
    cards = {name: partial(card_rows, name) for name in CARD_QUERIES}
    return {**timeline_rows(request, found, window), **own, **cards}


def _for_programs(request: PageRequest, timeline: Timeline) -> PageContent:
    rows = [vars(step) for step in timeline.steps]
    return PageContent("run", "", {}, WrittenJson(render_json(timeline)), STEP_COLUMNS, rows)


def _first(own: dict[str, str]) -> int:
    text = own.get("from", "0")
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        msg = f"from={text} is not a step; give the index of one, or leave it out"
        raise BadFilter(msg)
    return int(text)


def _chosen_texts(own: dict[str, str]) -> tuple[str, str]:
    """Return the tool whose steps are asked for, and what their texts contain; '' without."""
    return own.get("step_tool", ""), own.get("find", "")


def _show(own: dict[str, str]) -> str:
    """Return which steps are asked for, a key of `SHOWS`."""
    show = own.get("show", "all")
    if show not in SHOWS:
        msg = f"show={show} is not known; known: {', '.join(SHOWS)}"
        raise BadFilter(msg)
    return show


def _view(
    request: PageRequest,
    found: FoundRun,
    timeline: Timeline,
    own: dict[str, str],
    run_filter: Filter,
    rows: Mapping[str, Any],
) -> dict[str, Any]:
    view = timeline_view(timeline)
    run_id = found.trajectory_id
    show = _show(own)
    groups = run_groups(timeline)
    step_agents = agents_by_step(groups, run_id) or named_by_step(timeline)
    chosen = chosen_agent(groups, run_id, own)
    selected = [
        each
        for each in select_steps(timeline, view, show, *_chosen_texts(own))
        if chosen is None or each.index in chosen.steps_of(run_id)
    ]
    calls = run_calls(timeline, failed_steps(view), _task(request, timeline))
    changes = plan_changes(timeline.plans)
    on_page = {each.index for each in selected}
    children, href = rows["run_children"], partial(_href, run_id, run_filter, on_page)
    return {
        "run": timeline.run,
        "view": view,
        "kill_lines": lines_of_run(request, run_id),
        "facts": [*_facts(view, timeline, rows["of_index"][0]["cost_usd"])],
        **_lines(timeline, selected, calls, changes, step_agents),
        **agents_of_page(
            RunChoice(run_id, run_filter, own), groups, rows[AGENT_CALLS], chosen, href
        ),
        **_texts(timeline, selected),
        **_cards(request, timeline, rows[DECISIONS], show, on_page),
        "shown": len(selected),
        "minimap": minimap([*map_steps(view.steps)]) if view.steps else Markup(),
        **_scores(timeline, view, rows, step_agents),
        "changes": changes,
        "plan": plan_card(timeline, changes, calls, href),
        **_state(request, timeline, rows["of_index"][0]),
        "children": children,
        "by_step": _by_step(children),
        **label_card(request, found, timeline, run_filter, rows["around"], own.get("queue", "")),
        **_chosen(timeline, run_id, run_filter, own),
        **_pager(timeline, run_id, run_filter, own),
        **_among_runs(request, found, timeline, run_filter, rows["around"]),
        "several_turns": len({step.turn or 0 for step in timeline.steps}) > 1,
    }


def _among_runs(
    request: PageRequest,
    found: FoundRun,
    timeline: Timeline,
    run_filter: Filter,
    around: Neighbors,
) -> dict[str, Any]:
    """Return the place of a run in its list, and what it shares with other runs."""
    return {
        "around": around,
        "chips": [*chips(run_filter, metrics_of(request))],
        "guessed": "unknown" in found.dialects,
        "same_task": _same_task(timeline),
        "issues": chips_of_run(request, found.seq),
        "has_success": _has_success(request, timeline),
    }


def _facts(
    view: TimelineView, timeline: Timeline, cost_usd: float | None
) -> Iterator[tuple[str, str]]:
    """Yield the facts of a run other than its id and state.

    Args:
        view: Has them.
        timeline: The run.
        cost_usd: Its cost with its sub-agents, as lists have it.
    """
    yield from ((name, value) for name, value in view.facts if name not in {"run", "state"})
    if cost_usd is not None and cost_usd != timeline.run.cost_usd:
        yield "cost with sub-agents", f"{cost_usd:.4f} USD"


def _state(request: PageRequest, timeline: Timeline, row: Row) -> dict[str, Any]:
    """Return the state of a run in words, and what its page asks for to see that it changed."""
    return {
        "state": row["state"],
        "state_sentence": state_sentence(row, timeline, is_scoring=request.upkeep.is_scoring),
        "news_pairs": news_pairs(row),
    }


def _scores(
    timeline: Timeline,
    view: TimelineView,
    rows: Mapping[str, Any],
    step_agents: Mapping[int, str],
) -> dict[str, Any]:
    """Return the scores of a run, and its findings."""
    agents = {child["trajectory_id"]: child["agent_name"] for child in rows["run_children"]}
    return {
        "lead": headline_lead(timeline),
        "unknown": unknown_outcome(timeline),
        "findings": findings(timeline, step_agents),
        "measured": measured_note(mark.what for mark in timeline.marks),
        "is_scored": bool(timeline.scores),
        "unscored_why": words.reason(timeline.scores[0].reason) if timeline.scores else "",
        "scores": score_rows(timeline, view, rows["run_evidence"], agents),
        "most_scores": MAIN_SCORES,
    }


def _texts(timeline: Timeline, selected: Sequence[StepView]) -> dict[str, Any]:
    """Return the texts of the steps shown, and which results are as they were returned."""
    steps = {step.step_index: step for step in timeline.steps}
    run_id = timeline.run.trajectory_id
    most = text_limit(len(selected))
    return {
        "texts": {
            each.index: step_texts(each, steps[each.index], run_id, most) for each in selected
        },
        "as_returned": {each.index for each in selected if is_as_returned(each)},
    }


def _pager(
    timeline: Timeline, run_id: str, run_filter: Filter, own: dict[str, str]
) -> dict[str, Any]:
    """Return the first step of the page, and where the steps after and before it are."""
    return {
        "first": timeline.steps[0].step_index if timeline.steps else 0,
        "following": _following(timeline, run_id, run_filter, own),
        "previous_steps": links.run(run_id, run_filter) if _first(own) else "",
    }


def _lines(
    timeline: Timeline,
    selected: Sequence[StepView],
    calls: RunCalls,
    changes: Sequence[PlanChange],
    agents: Mapping[int, str],
) -> dict[str, Any]:
    """Return the steps that are shown as lines, and the last call among them."""
    steps = {step.step_index: step for step in timeline.steps}
    goals, plans = goals_by_step(calls.served), plan_names(changes)
    folded = blocks(timeline.steps, selected, agents)
    found = line_blocks(folded, steps, goals, plans, agents)
    called = [line for block in found for line in block.lines if line.kind == "tool_call"]
    return {"blocks": found, "last_call": called[-1] if called else None}


def _cards(
    request: PageRequest,
    timeline: Timeline,
    rows: Sequence[Row],
    show: str,
    on_page: Collection[int],
) -> dict[str, Any]:
    """Return cards of wrong decisions by step, of missed ones, the open one, and the reasons."""
    cards = decision_cards(timeline, rows, scored_specification(request))
    by_step: dict[int, list[DecisionCard]] = {}
    for card in cards:
        if card.step is not None and card.step in on_page:
            by_step.setdefault(card.step, []).append(card)
    last = not timeline.steps or timeline.steps[-1].step_index + 1 >= timeline.total_steps
    missed = (
        [card for card in cards if card.step is None]
        if show in SHOWS_UNMADE_CALLS and last
        else []
    )
    return {
        "step_cards": by_step,
        "missed_cards": missed,
        **dict(
            zip(("open_step", "open_missed"), open_card(timeline, by_step, missed), strict=True)
        ),
        "reasons": reasons(timeline, missed),
    }


def _href(run_id: str, run_filter: Filter, on_page: Collection[int], step: int) -> str:
    """Return the address of a step: on this page, else on the page with all steps."""
    return f"#s{step}" if step in on_page else links.run(run_id, run_filter, step)


def scored_specification(request: PageRequest) -> Specification:
    """Return the tools and tasks that the lake was scored against last; none if unreadable."""
    found: Specification = request.snapshot.cached(
        "specification", lambda: readable_specification(request.snapshot.lake)
    )
    return found


def _task(request: PageRequest, timeline: Timeline) -> Task | None:
    return scored_specification(request).tasks.get(timeline.run.task_id or "")


def _chosen(
    timeline: Timeline, run_id: str, run_filter: Filter, own: dict[str, str]
) -> dict[str, Any]:
    """Return the reader's choice, and the alternatives."""
    return {
        "run_filter": run_filter,
        "own": own,
        "hidden": to_pairs(run_filter.runs_alone),
        "shows": [
            (key, text, _address_showing(run_id, run_filter, own, key))
            for key, text in SHOWS.items()
        ],
        "show": _show(own),
        "tools": sorted({step.tool_name for step in timeline.steps if step.tool_name}),
    }


def _by_step(children: list[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for child in children:
        found.setdefault(-1 if child["parent_step"] is None else child["parent_step"], []).append(
            child
        )
    return found


def _address_showing(run_id: str, run_filter: Filter, own: dict[str, str], show: str) -> str:
    """Return the address of the run with other steps shown."""
    given = [(key, value) for key, value in {**own, "show": show}.items() if value]
    pairs = [*to_pairs(run_filter.runs_alone), *given]
    if show == "all":
        pairs.remove(("show", "all"))
    return links.with_query(links.run(run_id), pairs)


def _following(timeline: Timeline, run_id: str, run_filter: Filter, own: dict[str, str]) -> str:
    """Return the address of the steps after this page; '' if there are none."""
    if not timeline.steps:
        return ""
    following = timeline.steps[-1].step_index + 1
    if following >= timeline.total_steps:
        return ""
    who = [("who", own["who"])] if own.get("who") else []
    pairs = [*to_pairs(run_filter.runs_alone), *who, ("from", str(following))]
    return links.with_query(links.run(run_id), pairs)


def _same_task(timeline: Timeline) -> str:
    run = timeline.run
    if run.task_id is None:
        return ""
    return links.named(agent=run.agent_name, task=run.task_id)


def _has_success(request: PageRequest, timeline: Timeline) -> bool:
    """Return whether another run of the same agent and task succeeded."""
    run = timeline.run
    if run.task_id is None:
        return False
    names = {"agent": (run.agent_name,), "task": (run.task_id,), "outcome": ("succeeded",)}
    own = timeline.score("success")
    succeeded = Filter(names, level="all")
    key = ("count_runs", succeeded.query)
    count: int = request.snapshot.cached(key, lambda: count_runs(request.con, succeeded))
    return count > bool(own and own.value == 1)


def text(request: PageRequest) -> PageResponse:
    """Return one text of a step, whole."""
    name, step = request.path["text"], request.path["step"]
    if name == PROMPT:
        return _prompt(request)
    if name not in TEXTS:
        msg = f"a step has no text '{name}'; it may have {', '.join((*TEXTS, PROMPT))}"
        raise PageMissing(msg)
    found = find_run(request.con, request.path["id"])
    rows = read(request.cursor_of(found.date), "step_texts", **found.key, step_index=_index(step))
    if not rows or rows[0][name] is None:
        msg = f"step {step} of run '{found.trajectory_id}' has no {name}"
        raise PageMissing(msg)
    whole = rows[0][name]
    is_indented = links.INDENT in dict(request.pairs) and is_json(whole)
    return PlainText(indented(whole) if is_indented else whole)


def _index(step: str) -> int:
    """Return the index that an address names; -1, which no step has, if it names none."""
    return int(step) if step.isascii() and step.isdecimal() and len(step) < 10 else -1


def _prompt(request: PageRequest) -> PageContent:
    """Return the model's input before a step, message by message.

    Raises:
        PageMissing: There is no such step.
    """
    found, step = find_run(request.con, request.path["id"]), request.path["step"]
    messages = _prompt_messages(request, found, step)
    data = {"text": prompt_text(messages) or NO_PROMPT, "messages": messages}
    view = {"run_id": found.trajectory_id, "step": step, "messages": messages, "note": NO_PROMPT}
    title = f"Prompt before step {step} of run {words.run(found.trajectory_id)}"
    return PageContent("prompt", title, view, data)


def _prompt_messages(request: PageRequest, found: FoundRun, step: str) -> list[PromptMessage]:
    con = request.cursor_of(found.date)
    rows = read(con, "step_texts", **found.key, step_index=_index(step))
    if not rows:
        msg = f"run '{found.trajectory_id}' has no step {step}"
        raise PageMissing(msg)
    if rows[0]["request_span_id"] is None:
        return []
    (trace,) = read(request.con, "trace_dates", **found.key)
    received = read(
        request.con, "span_messages", trace_id=trace["trace_id"],
        span_id=rows[0]["request_span_id"], first_date=found.date, last_date=trace["last_date"],
    )  # fmt: skip
    prompts = (
        prompt_messages(span["attributes"] or {}, orjson.loads(span["events"]))
        for span in received
    )
    return next(filter(None, prompts), [])
