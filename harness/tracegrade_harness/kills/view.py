"""The content of a kill's page, for the explorer and for the folder of a report alike."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

from tracegrade_harness.kills.diffs import object_diffs
from tracegrade_harness.kills.read import KilledObject, KillRecord, twins
from tracegrade_harness.kills.sentences import headline, sentence
from tracegrade_scoring.rendering import words

MOST_OBJECTS: Final = 500
"""On a page; JSON and CSV have all."""
AT_KILL: Final = {"added": "new", "changed": "changed", "removed": "gone", "same": "as before"}
LEFT: Final = {
    "added": "still there", "changed": "still changed", "removed": "still gone",
    "held": "still in use", "same": "as before",
}  # fmt: skip
SIGNS: Final = {"added": "+", "changed": "~", "removed": "\u2212"}
UNNAMED: Final = "no record names a way back"


class KillLinks(Protocol):
    """Addresses that a kill's page leads to; '' where there is no page."""

    def kill(self, each: KillRecord) -> str:
        """Return the address of a kill."""

    def run(self, trajectory_id: str) -> str:
        """Return the address of a run."""

    def task(self, task_id: str) -> str:
        """Return the address of a task."""


def kill_view(found: KillRecord, kills: Sequence[KillRecord], links: KillLinks) -> dict[str, Any]:
    """Return what the page of a kill shows.

    Args:
        found: The kill.
        kills: Of the lake, the newest first.
        links: Where other pages are.
    """
    own = twins(kills, found.baseline_trajectory_id)
    return {
        "headline": headline(found),
        "agent": words.name(found.agent_name),
        "facts": [*_facts(found)],
        "task": words.name(found.task_id),
        "task_href": links.task(found.task_id),
        "runs": [*_runs(found, links)],
        "recorded": found.recorded,
        "objects": [_object(each) for each in found.objects[:MOST_OBJECTS]],
        "more": max(len(found.objects) - MOST_OBJECTS, 0),
        "ways": [*_ways(found)],
        "log": found.recovery_log or "",
        "twins": [_other(each, found, links) for each in own],
        "releases": [_other(each, found, links) for each in _other_releases(kills, found)],
        **_neighbors(found, own, links),
    }


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


def _runs(each: KillRecord, links: KillLinks) -> Iterator[tuple[str, str, str]]:
    """Yield name, address and key of the run that it repeats, and of the killed one."""
    if each.baseline_trajectory_id:
        yield "The run that was not killed", links.run(each.baseline_trajectory_id), "t"
    if each.trajectory_id:
        yield "Steps up to the kill", links.run(each.trajectory_id), ""


def _neighbors(found: KillRecord, kills: Sequence[KillRecord], links: KillLinks) -> dict[str, str]:
    """Return the addresses of the kills of the same run before and after this one."""
    place = next((at for at, each in enumerate(kills) if each is found), None)
    if place is None:
        return {"previous": "", "following": ""}
    following = kills[place + 1] if place + 1 < len(kills) else None
    return {
        "previous": links.kill(kills[place - 1]) if place else "",
        "following": links.kill(following) if following else "",
    }


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
        "forms": words.line(each.forms) if each.forms else "",
        "diffs": [*object_diffs(each)],
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


def _other(each: KillRecord, current: KillRecord, links: KillLinks) -> dict[str, Any]:
    return {
        "name": each.kill_point
        if each.key[:3] == current.key[:3] and each.release == current.release
        else words.name(each.release),
        "text": sentence(each),
        "good": each.status == "done" and not each.leftovers,
        "href": "" if each is current else links.kill(each),
        "here": each is current,
    }


def _other_releases(kills: Sequence[KillRecord], current: KillRecord) -> list[KillRecord]:
    """Return the newest kill of each other release that is the same kill."""
    newest = {
        each.release: each
        for each in reversed(kills)
        if each.key == current.key and each.release != current.release
    }
    return [*newest.values()]
