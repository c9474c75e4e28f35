"""Sentences on the outcome of kills, with the addresses of their pages."""

from typing import NamedTuple

from tracegrade_explorer import links
from tracegrade_explorer.kills.read import KillRecord, kills_of, twins
from tracegrade_explorer.responses import PageRequest
from tracegrade_scoring.rendering import words


class Headline(NamedTuple):
    """The first line of a kill's page: what was left, and what names a way back."""

    good: bool
    left: str
    rest: str

    @property
    def text(self) -> str:
        """The whole line."""
        return f"{self.left}{self.rest}"


class KillLine(NamedTuple):
    """A line of a run's page that leads to a kill."""

    text: str
    href: str
    good: bool


def headline(each: KillRecord) -> Headline:
    """Return the first line of a kill's page."""
    if each.status != "done":
        return Headline(False, f"Kill at the {each.kill_point} point: ", _why_not(each))
    began = f"Killed after call {each.boundary}: "
    if not each.leftovers:
        return Headline(True, f"{began}nothing is left", "")
    left = f"{began}{_stay(each.leftovers)}"
    unnamed = sum(one.left and not one.named_by for one in each.objects)
    if unnamed == each.leftovers:
        return Headline(False, left, ", and no record names a way back")
    if unnamed:
        return Headline(False, left, f", and no record names a way back for {unnamed:,} of them")
    return Headline(False, left, "; records name a way back for each")


def _stay(leftovers: int) -> str:
    return "1 object stays changed" if leftovers == 1 else f"{leftovers:,} objects stay changed"


def _why_not(each: KillRecord) -> str:
    reason = f": {words.line(each.reason)}" if each.reason else ""
    return f"{each.status.replace('_', ' ')}{reason}"


def sentence(each: KillRecord) -> str:
    """Return what a kill left and its score, as one entry of a list."""
    if each.status != "done":
        return _why_not(each)
    left = _stay(each.leftovers) if each.leftovers else "nothing is left"
    score = "" if each.after_recovery is None else f" \u00b7 {each.after_recovery:g} of 10"
    return f"after call {each.boundary}: {left}{score}"


def kill_link(each: KillRecord, form: str = "") -> str:
    """Return the address of a kill's page, or of another form of it; '' if no run names it."""
    ending = f".{form}" if form else ""
    if each.trajectory_id is not None:
        return links.of_run(each.trajectory_id, f"kill{ending}")
    if each.baseline_trajectory_id is None:
        return ""
    address = links.of_run(each.baseline_trajectory_id, f"kill{ending}")
    return links.with_query(address, [("point", each.kill_point)])


def kill_lines(request: PageRequest, trajectory_id: str) -> list[KillLine]:
    """Return the lines of a run's page: its own kill, or the kills that repeat it."""
    kills = kills_of(request)
    own = [each for each in kills if each.trajectory_id == trajectory_id][:1]
    if own:
        return [KillLine(headline(own[0]).text, kill_link(own[0]), headline(own[0]).good)]
    return [
        KillLine(
            f"Killed {each.kill_point}, {sentence(each)}", kill_link(each), headline(each).good
        )
        for each in twins(kills, trajectory_id)
    ]


def killed_releases(request: PageRequest) -> list[KillLine]:
    """Return a line for each agent's release with kills: how many, and how many left something."""
    by_release: dict[tuple[str, str | None], list[KillRecord]] = {}
    for each in kills_of(request):
        by_release.setdefault((each.agent_name, each.release), []).append(each)
    return [_of_release(*names, kills) for names, kills in by_release.items()]


def _of_release(agent_name: str, release: str | None, kills: list[KillRecord]) -> KillLine:
    judged = [each for each in kills if each.status == "done"]
    left = sum(bool(each.leftovers) for each in judged)
    what = f"{left:,} left something changed" if left else "nothing is left"
    names = " ".join(filter(None, (words.name(agent_name), words.name(release, ""))))
    given = [("agent", agent_name), *([] if release is None else [("release", release)])]
    text = f"{names}: {words.count(len(kills), 'kill')}, {len(judged):,} judged, {what}"
    return KillLine(text, links.with_query("/kills", given), not left and bool(judged))
