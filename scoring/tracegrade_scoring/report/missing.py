"""Lists data missing from a lake for a complete report, and the command that adds each."""

import shlex
from typing import NamedTuple

from tracegrade.terminal.visible import visible
from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.model import LakeContents, Report


class MissingData(NamedTuple):
    """One thing that is missing."""

    fact: str
    commands: tuple[str, ...]
    """The commands to run next."""


def missing(report: Report) -> list[MissingData]:
    """Return what is missing, in the order in which to add it; empty if nothing is."""
    lake = visible(shlex.quote(report.lake))
    contents = report.contents
    if not contents.spans and not contents.trajectories:
        return [_lone_logs(contents, lake) if contents.logs else _spans(lake)]
    if not contents.trajectories:
        return [_trajectories(contents, lake)]
    if not contents.scored:
        return [_scores(contents, lake)]
    found = [] if report.releases else [_none_in_period(contents)]
    found += [] if contents.with_task else [_tasks(lake)]
    if contents.scored < contents.trajectories:
        found.append(_late_scores(contents, lake))
    return found


def _spans(lake: str) -> MissingData:
    return MissingData(
        "The lake holds no spans yet. Start a collector and let an agent export to it, or import "
        "traces that you have.",
        (f"tracegrade collect --lake {lake}", f"tracegrade import FILE --lake {lake}"),
    )


def _lone_logs(contents: LakeContents, lake: str) -> MissingData:
    return MissingData(
        f"{words.count(contents.logs, 'log record')} landed and no span. Runs are read from "
        "spans, so have the agent export traces too; `tracegrade score` names the events.",
        (f"tracegrade collect --lake {lake}", f"tracegrade import FILE --lake {lake}"),
    )


def _trajectories(contents: LakeContents, lake: str) -> MissingData:
    return MissingData(
        f"{words.count(contents.spans, 'span')} landed, but no trajectory has been built from "
        "them: either nothing has been scored yet, or none of them is from an agent, a model or "
        "a tool.",
        (f"tracegrade score --lake {lake}",),
    )


def _scores(contents: LakeContents, lake: str) -> MissingData:
    verb = "is" if contents.runs == 1 else "are"
    return MissingData(
        f"{words.count(contents.runs, 'run')} {verb} in the lake, but none has been scored.",
        (f"tracegrade score --lake {lake}",),
    )


def _none_in_period(contents: LakeContents) -> MissingData:
    runs = words.count(contents.runs, "run")
    return MissingData(f"The lake has {runs}, but none began in the requested time.", ())


def _tasks(lake: str) -> MissingData:
    return MissingData(
        "No run belongs to a known task, so metrics that need one have no value: expected tools, "
        "step efficiency, sub-goals, success by criterion. Describe the tasks in a file.",
        (
            f"tracegrade tasks draft --lake {lake} > tasks.yaml",
            "tracegrade tasks check tasks.yaml",
            f"tracegrade score --lake {lake} --tasks tasks.yaml",
        ),
    )


def _late_scores(contents: LakeContents, lake: str) -> MissingData:
    late = contents.trajectories - contents.scored
    return MissingData(
        f"{late:,} of {contents.trajectories:,} trajectories have not been scored yet.",
        (f"tracegrade score --lake {lake}",),
    )
