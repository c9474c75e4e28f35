"""`/conversations` and `/conversations/ID`: what people and agents said, turn by turn."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter, PageMissing
from tracegrade_explorer.filters.grammar import Filter
from tracegrade_explorer.pages.cells import MARKS, metrics_of
from tracegrade_explorer.pages.label import label_card
from tracegrade_explorer.pages.run import scored_specification
from tracegrade_explorer.pages.runs import chips
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.run_view.page import SHORTEST_LIMIT, is_as_returned, reasons, step_texts
from tracegrade_explorer.run_view.run_rows import read_run
from tracegrade_explorer.run_view.turns import Turn, turns_of
from tracegrade_explorer.snapshots.rows import Neighbors, find_run
from tracegrade_explorer.snapshots.snapshot import Row, read, read_cached, read_matching
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.timeline.cards.decision_card import DECISIONS, DecisionCard, decision_cards
from tracegrade_scoring.timeline.model import Timeline, TimelineRun
from tracegrade_scoring.timeline.read import Window
from tracegrade_scoring.timeline.unknown_outcome import unknown_outcome
from tracegrade_scoring.timeline.view import TimelineView, headline_lead, timeline_view

ROWS: Final = 200
"""The list has so many rows; JSON and CSV have `MOST_ROWS`."""
MOST_ROWS: Final = 20_000
RUNS: Final = 20
"""A page reads so many runs of a conversation; a link has the following ones."""
MOST_WHOLE: Final = 40
"""Turns up to which a page holds each turn; of more, those without a finding are links."""
MOST_FOUND: Final = 20
"""Turns with a finding that such a page holds."""
OWN: Final = ("from", "turn")
OPTIONAL_COLUMNS: Final = ("took", "cost_usd", "label", "agent_name", "release", "start_time")
"""Columns of the list, each left out if no conversation has a value in it."""


class TurnRow(NamedTuple):
    """A turn on the page."""

    turn: Turn
    number: int
    """In the conversation, from 1."""
    is_open: bool
    href: str
    """The page that holds it; '' for this one."""


class RunTurns(NamedTuple):
    """A run of the conversation, with what its decision cards show."""

    run: TimelineRun
    title: str
    prefix: str
    """Before the anchors of its steps; '' where the page has no other run."""
    turns: Sequence[TurnRow]
    cards: dict[int, list[DecisionCard]]
    texts: dict[int, list[dict[str, Any]]]
    as_returned: set[int]
    unmade: Sequence[str]
    """Findings that belong to no step, as calls that were not made."""


class ReadRun(NamedTuple):
    """A run as it was read."""

    timeline: Timeline
    view: TimelineView
    turns: list[Turn]
    cards: dict[int, list[DecisionCard]]


def conversations(request: PageRequest) -> PageResponse:
    """Return the conversations of a filter's runs, the newest first."""
    _, run_filter = request.split()
    if request.form == "html":
        found = read_cached(request.snapshot, request.con, "conversations", run_filter, rows=ROWS)
    else:
        most = {"rows": MOST_ROWS}
        found = read_matching(request.con, "conversations", run_filter, parameters=most)
    total = found[0]["total"] if found else 0
    rows = [{key: each for key, each in row.items() if key != "total"} for row in found]
    shown = [
        {
            **row,
            "href": links.conversation(row["name"]),
            "mark": MARKS[row["outcome"]],
            "took": words.duration(row["duration_ms"]) if row["duration_ms"] else "",
        }
        for row in rows
    ]
    view = {
        "rows": shown,
        "filled": {name: any(row[name] for row in shown) for name in OPTIONAL_COLUMNS},
        "total": total,
        "chips": [*chips(run_filter, metrics_of(request))],
    }
    columns = [
        *("name", "runs", "turns", "first_words", "agent_name", "release", "start_time"),
        *("calls", "failed", "duration_ms", "cost_usd", "outcome", "label"),
    ]
    data = {"conversations": rows, "total": total}
    return PageContent("conversations", "Conversations", view, data, columns, rows)


def conversation(request: PageRequest) -> PageResponse:
    """Return the turns of a conversation, those with a finding open.

    Raises:
        PageMissing: Neither a conversation nor a run has this name.
        BadFilter: A number in the address is none.
    """
    name = request.path["id"]
    own, _ = request.split(*OWN)
    before, chosen = _number(own, "from"), _number(own, "turn")
    rows = read(request.con, "conversation_runs", conversation_id=name, rows=RUNS, before=before)
    ids = [row["trajectory_id"] for row in rows] or [_run_named(request, name, before)]
    runs = [_read(request, run_id) for run_id in ids]
    total = rows[0]["total"] if rows else 1
    shown = _run_turns(name, runs, before, chosen)
    turns = [turn for each in shown for turn in each.turns]
    first = next((each for each in runs if each.timeline.headline), runs[0])
    view = {
        "name": words.name(name),
        "conversation": name,
        "shown": shown,
        **_heading(first, shown),
        "first_run": first.timeline.run,
        "runs": total,
        "count": len(turns),
        "calls": sum(turn.turn.calls for turn in turns),
        "failed": sum(turn.turn.failed for turn in turns),
        "runs_href": links.runs(Filter(names={"conversation": (name,)})) if rows else "",
        "following": _page_from(name, before + RUNS) if before + RUNS < total else "",
        **_label_view(request, first, shown),
    }
    data = [_for_programs(each.run.trajectory_id, turn) for each in shown for turn in each.turns]
    columns = [*data[0]] if data else ["trajectory_id"]
    title = f"Conversation {words.name(name)}"
    return PageContent(
        "conversation", title, view, {"name": name, "runs": ids, "turns": data}, columns, data
    )


def _number(own: dict[str, str], key: str) -> int:
    text = own.get(key, "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        msg = f"{key}={text[:40]} is not a number; leave it out"
        raise BadFilter(msg)
    return int(text)


def _run_named(request: PageRequest, name: str, before: int) -> str:
    """Return the id of the run that is a conversation of its own.

    Raises:
        PageMissing: There is none.
    """
    try:
        return find_run(request.con, name if not before else "").trajectory_id
    except PageMissing:
        msg = (
            f"no run belongs to a conversation '{name}'; /conversations lists those that there are"
        )
        raise PageMissing(msg) from None


def _read(request: PageRequest, run_id: str) -> ReadRun:
    found = find_run(request.con, run_id)
    timeline = read_run(request, found, Window())
    view = timeline_view(timeline)
    rows = read_rows(request.cursor_of(found.date), DECISIONS, **found.key)
    cards: dict[int, list[DecisionCard]] = {}
    for card in decision_cards(timeline, rows, scored_specification(request)):
        if card.step is not None:
            cards.setdefault(card.step, []).append(card)
    return ReadRun(timeline, view, turns_of(timeline, view), cards)


def _run_turns(name: str, runs: Sequence[ReadRun], before: int, chosen: int) -> list[RunTurns]:
    """Return the runs with their turns: all, or of many those with findings and a chosen one."""
    total = sum(len(each.turns) for each in runs)
    left = MOST_FOUND if total > MOST_WHOLE else total
    number, found = 0, list[RunTurns]()
    for place, each in enumerate(runs, start=before + 1):
        shown: list[TurnRow] = []
        for turn in each.turns:
            number += 1
            is_open = number == chosen or (turn.found and left > 0)
            left -= turn.found
            is_link = not is_open and total > MOST_WHOLE
            href = _page_from(name, before, number) if is_link else ""
            shown.append(TurnRow(turn, number, is_open, href))
        prefix = f"run-{place}-" if len(runs) > 1 else ""
        found.append(_one_run(each, shown, prefix))
    return found


def _one_run(each: ReadRun, turns: Sequence[TurnRow], prefix: str) -> RunTurns:
    timeline, view = each.timeline, each.view
    steps = {step.step_index: step for step in timeline.steps}
    carded = {
        seen.index
        for shown in turns
        for _, line in shown.turn.parts
        if line and line.view.index in each.cards
        for seen in (line.view, *line.seen)
    }
    run_id = timeline.run.trajectory_id
    views = [step for step in view.steps if step.index in carded]
    return RunTurns(
        timeline.run, view.title, prefix, turns, each.cards,
        {one.index: step_texts(one, steps[one.index], run_id, SHORTEST_LIMIT) for one in views},
        {one.index for one in views if is_as_returned(one)},
        view.loose_marks,
    )  # fmt: skip


def _page_from(name: str, before: int, turn: int = 0) -> str:
    pairs = [(key, str(value)) for key, value in (("from", before), ("turn", turn)) if value]
    anchor = f"#turn-{turn}" if turn else ""
    return links.with_query(links.conversation(name), pairs) + anchor


def _heading(first: ReadRun, runs: Sequence[RunTurns]) -> dict[str, Any]:
    """Return how the first run with a reason came out, in which turn, and why."""
    lead, headline = headline_lead(first.timeline), first.timeline.headline
    run_id = first.timeline.run.trajectory_id
    step = headline[0].step_index if headline else None
    if step is not None and headline[0].step_trajectory_id in {None, run_id}:
        (own,) = [each for each in runs if each.run.trajectory_id == run_id]
        number = next((each.number for each in own.turns if _has(each.turn, step)), None)
        lead = lead.replace(":", f" in turn {number}:") if number else lead
    prefix = next(each.prefix for each in runs if each.run.trajectory_id == run_id)
    found = [
        each._replace(href=f"#{prefix}{each.href[1:]}") if each.href.startswith("#") else each
        for each in reasons(first.timeline)
    ]
    unknown = unknown_outcome(first.timeline)
    return {"lead": lead, "reasons": found, "missing": unknown.missing if unknown else ""}


def _has(turn: Turn, step: int) -> bool:
    return any(
        (bubble and bubble.step == step) or (line and line.view.index == step)
        for bubble, line in turn.parts
    )


def _label_view(request: PageRequest, first: ReadRun, runs: Sequence[RunTurns]) -> dict[str, Any]:
    """Return the form that labels a run of the conversation: the first that has a reason."""
    run = first.timeline.run
    found = find_run(request.con, run.trajectory_id)
    around = Neighbors(0, 0, None, None)
    card = label_card(request, found, first.timeline, Filter(), around, "")
    steps = [
        (each.turn.step, f"turn {each.number}")
        for part in runs
        for each in part.turns
        if part.run.trajectory_id == run.trajectory_id and each.turn.step is not None
    ]
    own = links.conversation(request.path["id"])
    return {**card, "run": run, "label_steps": steps, "next_run": own}


def _for_programs(run_id: str, row: TurnRow) -> Row:
    turn = row.turn
    said = {
        by: "\n".join(bubble.written for bubble, _ in turn.parts if bubble and bubble.by == by)
        for by in ("person", "agent")
    }
    return {
        "trajectory_id": run_id, "turn": row.number, "step": turn.step, **said,
        "calls": turn.calls, "failed": turn.failed,
        "findings": [mark for _, line in turn.parts if line for mark in line.findings],
    }  # fmt: skip
