"""`/runs/ID/kill`: what a killed run left. `/kills`: the kills of a lake."""

from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter, PageMissing
from tracegrade_explorer.kills.links import ExplorerLinks, kill_link, kills_of
from tracegrade_explorer.pages.kill_score import score_card
from tracegrade_explorer.responses import PageContent, PageRequest
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_harness.kills.read import POINTS, KilledObject, KillRecord, kill_named
from tracegrade_harness.kills.sentences import headline, sentence
from tracegrade_harness.kills.view import kill_view
from tracegrade_scoring.rendering import words

MOST_KILLS: Final = 500
KEYS: Final = ("agent", "release", "task")
COLUMNS: Final = (*KilledObject._fields,)


def kill(request: PageRequest) -> PageContent:
    """Return what one killed run left, and what could put it right."""
    given = dict(request.pairs)
    point = given.get("point", "")
    if given.keys() - {"point"} or (point and point not in POINTS):
        msg = f"the page takes point={', '.join(POINTS)}, and nothing else"
        raise BadFilter(msg)
    kills = kills_of(request)
    found = kill_named(kills, request.path["id"], point)
    if found is None:
        msg = f"no kill of run '{words.line(request.path['id'])}' is in this lake"
        raise PageMissing(msg)
    view = {
        "kill": kill_view(found, kills, ExplorerLinks()),
        "card": score_card(request, found),
        "all_kills": links.with_query("/kills", [("agent", found.agent_name)]),
        "own": {form: kill_link(found, form) for form in ("csv", "json")},
    }
    rows: list[Row] = [each._asdict() for each in found.objects]
    data = {**found._asdict(), "objects": rows}
    return PageContent("kill", headline(found).text, view, data, COLUMNS, rows)


def kills(request: PageRequest) -> PageContent:
    """Return the kills of a lake, the newest first, those of an agent, a release or a task."""
    given = dict(request.pairs)
    if unknown := given.keys() - {*KEYS}:
        msg = f"'{words.line(min(unknown))}' is not known here; known: {', '.join(KEYS)}"
        raise BadFilter(msg)
    found = [each for each in kills_of(request) if _is_named(each, given)]
    rows: list[Row] = [_row(each) for each in found]
    view = {
        "kills": [_listed(each) for each in found[:MOST_KILLS]],
        "more": max(len(found) - MOST_KILLS, 0),
        "given": [(key, words.name(given[key])) for key in KEYS if key in given],
        "own": {
            form: links.with_query(f"/kills.{form}", request.pairs) for form in ("csv", "json")
        },
    }
    return PageContent("kills", "Kills", view, {"kills": rows}, [*rows[0]] if rows else KEYS, rows)


def _is_named(each: KillRecord, given: dict[str, str]) -> bool:
    names = {"agent": each.agent_name, "release": each.release, "task": each.task_id}
    return all(names[key] == value for key, value in given.items())


def _row(each: KillRecord) -> Row:
    return {key: value for key, value in each._asdict().items() if key not in _LONG}


_LONG: Final = ("objects", "notes", "recovery_log", "recorded")


def _listed(each: KillRecord) -> dict[str, Any]:
    return {
        "href": kill_link(each),
        "task": words.name(each.task_id),
        "agent": words.name(each.agent_name),
        "release": words.name(each.release),
        "trial": each.trial,
        "point": each.kill_point,
        "text": sentence(each),
        "good": each.status == "done" and not each.leftovers,
        "started": f"{each.started_at:%Y-%m-%d %H:%M}",
    }
