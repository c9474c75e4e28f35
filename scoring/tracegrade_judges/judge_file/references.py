"""Checks what the judges of a file name: rubrics with their places, and the judges of a panel."""

import os
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from tracegrade.suggestions import did_you_mean
from tracegrade_judges.judge_file.model import AGENTIC, Judge, JudgeFile, JudgePanel, is_variable
from tracegrade_judges.judge_file.rubric_places import faults_of
from tracegrade_queries.files.yaml_source import Problem, SourceFile

_NOT_IN_REQUESTS: Final = frozenset({"limits", "votes", "only", "threshold", "reference"})
_NOT_OF_MODEL: Final = frozenset({"base_url", "api_key", "timeout_secs"})
"""Keys of a judge and of its model that do not change its requests, the endpoint apart."""


def faults_of_references(source: SourceFile, file: JudgeFile) -> Iterator[Problem]:
    """Yield the faults of rubrics and panels."""
    if AGENTIC in file.rubrics:
        fact = f"rubric '{AGENTIC}' is tracegrade's own"
        yield source.problem(("rubrics", AGENTIC), fact, "give it another name")
    for name, judge in file.judges.items():
        yield from _rubric(source, file, name, judge)
    for name, panel in file.panels.items():
        yield from _panel(source, file, name, panel)


def _rubric(source: SourceFile, file: JudgeFile, name: str, judge: Judge) -> Iterator[Problem]:
    if judge.own_rubric is None:
        return
    path = ("judges", name, "rubric")
    rubric = file.rubrics.get(judge.own_rubric)
    if rubric is None:
        fact = f"judge '{name}' names rubric '{judge.own_rubric}', which the file does not have"
        known = did_you_mean(judge.own_rubric, list(file.rubrics))
        yield source.problem(path, fact, known or "add it below the key 'rubrics'")
        return
    for fault, way_out in faults_of(rubric.text, judge.subject):
        where = ("rubrics", judge.own_rubric, "text")
        yield source.problem(where, f"rubric '{judge.own_rubric}': {fault}", way_out)
    if judge.threshold is not None and not rubric.graded:
        fact = f"judge '{name}' has a threshold, and its rubric '{judge.own_rubric}' has no scores"
        way_out = "remove it, or give the rubric 'graded: true'"
        yield source.problem(("judges", name, "threshold"), fact, way_out)


def _panel(source: SourceFile, file: JudgeFile, name: str, panel: JudgePanel) -> Iterator[Problem]:
    path = ("panels", name)
    if name in file.judges:
        fact = f"panel '{name}' has the name of a judge, and their verdicts one source"
        yield source.problem(path, fact, "give it another name")
    for each, times in Counter(panel.judges).items():
        if times > 1:
            fact = f"panel '{name}' names judge '{each}' {times} times"
            yield source.problem((*path, "judges"), fact, "name each judge once")
        elif each not in file.judges:
            fact = f"panel '{name}' names judge '{each}', which the file does not have"
            known = did_you_mean(each, list(file.judges))
            way_out = known or f"judges: {', '.join(file.judges)}"
            yield source.problem((*path, "judges"), fact, way_out)
        elif "only" in file.judges[each].model_fields_set:
            fact = f"judge '{each}' of panel '{name}' has 'only', which its panel decides"
            yield source.problem(("judges", each, "only"), fact, "give it to the panel")
    members = {each: file.judges[each] for each in panel.judges if each in file.judges}
    yield from _subjects(source, name, members)
    yield from _equal(source, file, name, members)


def _subjects(source: SourceFile, name: str, members: dict[str, Judge]) -> Iterator[Problem]:
    if len({judge.subject for judge in members.values()}) > 1:
        found = ", ".join(f"{each} {judge.subject}" for each, judge in members.items())
        fact = f"the judges of panel '{name}' have several subjects: {found}"
        way_out = "make one panel for each subject"
        yield source.problem(("panels", name, "judges"), fact, way_out)


def _equal(
    source: SourceFile, file: JudgeFile, name: str, members: dict[str, Judge]
) -> Iterator[Problem]:
    """Yield the pairs of judges that would send the same requests, and so be one voice."""
    for (first, one), (second, other) in combinations(members.items(), 2):
        if _requests_of(file, one) == _requests_of(file, other):
            fact = f"judges '{first}' and '{second}' of panel '{name}' send equal requests"
            way_out = "give one of them another model, endpoint, seed or rubric"
            yield source.problem(("panels", name, "judges"), fact, way_out)


def _requests_of(file: JudgeFile, judge: Judge) -> dict[str, object]:
    """Return what decides on a judge's requests, with the model as the environment names it.

    The endpoint counts, too: two of them may have two models of one name.
    """
    rubric = file.rubrics.get(judge.own_rubric or "")
    text = judge.model.name
    name = os.environ.get(text[1:], text) if is_variable(text) else text
    model = judge.model.model_dump(exclude=set(_NOT_OF_MODEL)) | {"name": name}
    model["endpoint"] = judge.model.other_endpoint
    others = judge.model_dump(exclude=set(_NOT_IN_REQUESTS))
    return {**others, "model": model, "rubric": rubric}
