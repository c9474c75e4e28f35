"""Sentences on the outcome of kills."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from tracegrade_harness.kills.read import KillRecord, twins
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.kill_pages import KillLine

KillHref: TypeAlias = Callable[[KillRecord], str]
"""Returns the address of a kill's page; '' if it has none."""


class Headline(NamedTuple):
    """The first line of a kill's page: what was left, and what names a way back."""

    good: bool
    left: str
    rest: str

    @property
    def text(self) -> str:
        """The whole line."""
        return f"{self.left}{self.rest}"


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


def kill_lines(kills: Sequence[KillRecord], trajectory_id: str, href: KillHref) -> list[KillLine]:
    """Return the lines of a run's page: its own kill, or the kills that repeat it.

    Args:
        kills: Of the lake, the newest first.
        trajectory_id: The run.
        href: Where a kill has its page.
    """
    own = [each for each in kills if each.trajectory_id == trajectory_id][:1]
    if own:
        return [KillLine(headline(own[0]).text, href(own[0]), headline(own[0]).good)]
    return [
        KillLine(f"Killed {each.kill_point}, {sentence(each)}", href(each), headline(each).good)
        for each in twins(kills, trajectory_id)
    ]


def release_sentence(
    agent_name: str | None, release: str | None, kills: Iterable[KillRecord]
) -> tuple[str, bool]:
    """Return how many kills a release has and how many left something, and whether all is well."""
    found = [*kills]
    judged = [each for each in found if each.status == "done"]
    left = sum(bool(each.leftovers) for each in judged)
    what = f"{left:,} left something changed" if left else "nothing is left"
    names = " ".join(filter(None, (words.name(agent_name), words.name(release, ""))))
    text = f"{names}: {words.count(len(found), 'kill')}, {len(judged):,} judged, {what}"
    return text, not left and bool(judged)
