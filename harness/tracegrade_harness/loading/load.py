"""Loads a suite with every problem in it, and the task file that it names."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from pydantic import BaseModel

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.loading.check import check_suite
from tracegrade_harness.loading.former_keys import FORMER_KEYS
from tracegrade_harness.loading.model import suite_classes
from tracegrade_harness.loading.readable import readable
from tracegrade_harness.parts.registry import faults, part_kinds, verifier_kinds
from tracegrade_harness.suite import limits, model, paths, records
from tracegrade_harness.suite.apply_defaults import suite_with_defaults
from tracegrade_harness.suite.defaults import Defaults
from tracegrade_harness.suite.normalize import Normalized
from tracegrade_harness.suite.upstreams import Upstream
from tracegrade_queries.files.former_keys import with_new_keys
from tracegrade_queries.files.shape import parse_as
from tracegrade_queries.files.yaml_source import Problem, SourceFile, read_file
from tracegrade_scoring.errors import TaskFileUnreadable
from tracegrade_scoring.tasks import load as load_tasks
from tracegrade_scoring.tasks.load import Specification

_KEYS: Final[Mapping[str, type[BaseModel]]] = {
    "defaults": Defaults,
    "agents": model.Agent,
    "environment": model.Variables,
    "[journal]": records.Journal,
    "[manifest]": records.Manifest,
    "[runbook]": records.Runbook,
    "[lake]": records.LakeRecord,
    "[list]": model.Agent,
    "[word]": model.Agent,
    "[number]": model.Kill,
    "mcp": model.McpServer,
    "upstreams": Upstream,
    "kill": model.Kill,
    "limits": limits.TrialLimits,
    "normalize": Normalized,
}


@cache
def keys() -> Mapping[str, type[BaseModel]]:
    """Return the class of the mappings under each key, and under each tag of a union."""
    classes = suite_classes()
    found = {"environments": classes.environment, "cases": classes.case, **_KEYS}
    parts = {name: kind.model for name, kind in part_kinds().items()}
    verifiers = {f"[{key}]": kind.verifier for key, kind in verifier_kinds().items()}
    for name, kind in (*parts.items(), *verifiers.items()):
        if kind is not None:
            found = {**dict(_below(kind)), name: kind, **found}
    return found


def _below(kind: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the classes of the mappings below the keys of a class."""
    for name, field in kind.model_fields.items():
        for each in _classes(field.annotation):
            yield field.alias or name, each


def _classes(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _classes(each)


class LoadedSuite(NamedTuple):
    """A suite and all of its problems."""

    suite: model.Suite | None
    """None if its shape is wrong."""
    folder: Path
    """Folder of the suite, and of its sources."""
    problems: list[Problem]
    """Problems of the suite by line, then problems of its task file."""
    specification: Specification | None
    """The task file; None if the suite names none, or if it cannot be read."""
    file: Path | None = None
    """The suite file."""

    @property
    def errors(self) -> list[Problem]:
        """The problems that prevent a run of the suite."""
        return [each for each in self.problems if not each.is_note and each.graph_of is None]


def load(path: Path) -> LoadedSuite:
    """Return the suite in a file.

    Raises:
        SuiteUnusable: The file does not exist, or is not text.
    """
    source = read_file(path, "suite", "give a suite file", SuiteUnusable)
    if source.values is None and source.problems:  # not even valid YAML
        return LoadedSuite(None, path.parent, source.problems, None)
    source, notes = with_new_keys(source, FORMER_KEYS)
    suite, problems = parse_as(suite_classes().suite, keys(), source)
    parts = readable(source.values)
    specification, of_tasks = _tasks(source, path.parent, parts.tasks)
    problems += [*notes, *source.problems, *check_suite(source, path.parent, parts, specification)]
    for fact, way_out in faults():
        problems.append(source.problem(("environments",), fact, way_out)._replace(is_note=True))
    problems.sort(key=lambda problem: problem.line)
    filled = suite and suite_with_defaults(suite)
    return LoadedSuite(filled, path.parent, [*problems, *of_tasks], specification, path)


def _tasks(
    source: SourceFile, folder: Path, name: str | None
) -> tuple[Specification | None, list[Problem]]:
    """Return the content of a suite's task file, and its problems."""
    if name is None:
        return None, []
    if fault := paths.source_fault(name):
        return None, [source.problem(("tasks",), f"tasks '{name}' {fault[0]}", fault[1])]
    try:
        loaded = load_tasks([paths.source(folder, name)])
    except TaskFileUnreadable as error:
        fact, _, way_out = str(error).rpartition("; ")
        return None, [source.problem(("tasks",), fact, way_out)]
    specification = None if loaded.fatal else loaded.specification
    return specification, loaded.problems
