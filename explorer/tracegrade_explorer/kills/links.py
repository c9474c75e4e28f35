"""Addresses of the pages of kills, and the kills of a snapshot."""

from collections.abc import Sequence

from tracegrade_explorer import links
from tracegrade_explorer.responses import PageRequest
from tracegrade_harness.kills.read import KillRecord, read_kills
from tracegrade_harness.kills.sentences import kill_lines, release_sentence
from tracegrade_scoring.rendering.kill_pages import KillLine


def kills_of(request: PageRequest) -> Sequence[KillRecord]:
    """Return the kills of a lake, the newest first; they are read once for each snapshot."""
    found: Sequence[KillRecord] = request.snapshot.cached(
        "kills", lambda: read_kills(request.snapshot.lake)
    )
    return found


def kill_link(each: KillRecord, form: str = "") -> str:
    """Return the address of a kill's page, or of another form of it; '' if no run names it."""
    ending = f".{form}" if form else ""
    if each.trajectory_id is not None:
        return links.of_run(each.trajectory_id, f"kill{ending}")
    if each.baseline_trajectory_id is None:
        return ""
    address = links.of_run(each.baseline_trajectory_id, f"kill{ending}")
    return links.with_query(address, [("point", each.kill_point)])


class ExplorerLinks:
    """The addresses that a kill's page of the explorer leads to."""

    def kill(self, each: KillRecord) -> str:
        """Return the address of a kill."""
        return kill_link(each)

    def run(self, trajectory_id: str) -> str:
        """Return the address of a run."""
        return links.run(trajectory_id)

    def task(self, task_id: str) -> str:
        """Return the address of a task."""
        return links.task(task_id)


def lines_of_run(request: PageRequest, trajectory_id: str) -> list[KillLine]:
    """Return the lines of a run's page: its own kill, or the kills that repeat it."""
    return kill_lines(kills_of(request), trajectory_id, kill_link)


def killed_releases(request: PageRequest) -> list[KillLine]:
    """Return a line for each agent's release with kills: how many, and how many left something."""
    found = dict.fromkeys((each.agent_name, each.release) for each in kills_of(request))
    return [line for names in found for line in lines_of_release(request, *names)]


def lines_of_release(
    request: PageRequest, agent_name: str | None, release: str | None
) -> list[KillLine]:
    """Return the same line of one release, if it has kills."""
    names = (agent_name, release)
    kills = [each for each in kills_of(request) if (each.agent_name, each.release) == names]
    if not kills:
        return []
    given = [(key, name) for key, name in zip(("agent", "release"), names, strict=True)
             if name is not None]  # fmt: skip
    text, good = release_sentence(*names, kills)
    return [KillLine(text, links.with_query("/kills", given), good)]
