"""`/runs/ID/kill`: what a killed run left. `/kills`: the kills of a lake."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter, PageMissing
from tracegrade_explorer.kills.read import (
    POINTS,
    KilledObject,
    KillRecord,
    kill_named,
    kills_of,
    twins,
)
from tracegrade_explorer.kills.sentences import headline, kill_link, sentence
from tracegrade_explorer.responses import PageContent, PageRequest
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_scoring.rendering import words

MOST_OBJECTS: Final = 500
"""On a page; JSON and CSV have all."""
MOST_KILLS: Final = 500
KEYS: Final = ("agent", "release", "task")
AT_KILL: Final = {"added": "new", "changed": "changed", "removed": "gone", "same": "as before"}
LEFT: Final = {
    "added": "still there", "changed": "still changed", "removed": "still gone",
    "held": "still in use", "same": "as before",
}  # fmt: skip
SIGNS: Final = {"added": "+", "changed": "~", "removed": "\u2212"}
UNNAMED: Final = "no record names a way back"
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
        "kill": found,
        "headline": headline(found),
        "facts": [*_facts(found)],
        "task": links.task(found.task_id),
        "objects": [_object(each) for each in found.objects[:MOST_OBJECTS]],
        "more": max(len(found.objects) - MOST_OBJECTS, 0),
        "ways": [*_ways(found)],
        "log": words.line(found.recovery_log) if found.recovery_log else "",
        "twins": [_other(each, found) for each in twins(kills, found.baseline_trajectory_id)],
        "releases": [_other(each, found) for each in _other_releases(kills, found)],
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


def _facts(each: KillRecord) -> Iterator[tuple[str, str]]:
    yield (
        "agent",
        " ".join(filter(None, (words.name(each.agent_name), words.name(each.release, "")))),
    )
    yield "trial", str(each.trial)
    yield "kill", each.kill_point
    if each.immediate is not None and each.after_recovery is not None:
        yield "score", f"{each.immediate:g} at once, {each.after_recovery:g} after recovery, of 10"
    yield "started", f"{each.started_at:%Y-%m-%d %H:%M:%S} UTC"
    yield "harness run", words.name(each.run)


def _object(each: KilledObject) -> dict[str, Any]:
    before = {"present": "there", "absent": words.NOTHING, None: ""}[each.before]
    killed = "" if each.killed is None else AT_KILL.get(each.killed, each.killed)
    way = each.disproved or each.named_by or (UNNAMED if each.left else "")
    return {
        "name": words.line(each.name),
        "sign": SIGNS.get(each.recovered if each.left else each.killed or "", "\u00b7"),
        "before": before,
        "killed": killed,
        "recovered": LEFT.get(each.recovered, each.recovered) if each.left else "as before",
        "left": each.left,
        "way": words.line(f"tried, and failed: {way}" if each.disproved else way),
        "named": bool(each.named_by),
    }


def _ways(each: KillRecord) -> Iterator[dict[str, Any]]:
    """Yield the records that name leftovers, and the notes on the recovery."""
    left = [one for one in each.objects if one.left]
    records = {name for one in left for name in (one.named_by or "").split(", ") if name}
    for record in sorted(records):
        named = sum(record in (one.named_by or "").split(", ") for one in left)
        yield {"good": True, "text": f"{words.line(record)}: names {words.count(named, 'object')}"}
    unnamed = sum(not one.named_by for one in left)
    if unnamed:
        yield {"good": False, "text": f"{words.count(unnamed, 'object')}: {UNNAMED}"}
    for note in each.notes:
        yield {"good": False, "text": words.line(note)}


def _other(each: KillRecord, current: KillRecord) -> dict[str, Any]:
    return {
        "name": each.kill_point
        if each.key[:3] == current.key[:3] and each.release == current.release
        else words.name(each.release),
        "text": sentence(each),
        "good": each.status == "done" and not each.leftovers,
        "href": "" if each is current else kill_link(each),
    }


def _other_releases(kills: Sequence[KillRecord], current: KillRecord) -> list[KillRecord]:
    """Return the newest kill of each other release that is the same kill."""
    newest = {
        each.release: each
        for each in reversed(kills)
        if each.key == current.key and each.release != current.release
    }
    return [*newest.values()]


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
