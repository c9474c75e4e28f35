"""Loads task files: one specification out of a file or a folder, with every problem in it."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from tracegrade_queries.files.shape import parse_as
from tracegrade_queries.files.yaml_source import Problem, SourceFile, read_file
from tracegrade_scoring.errors import TaskFileUnreadable
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.tasks import check, model
from tracegrade_scoring.tasks.model import Task, TaskFile, Tool, ToolCorrectness
from tracegrade_scoring.tasks.readable import readable_part

SUFFIXES: Final = (".yaml", ".yml")
"""Suffixes of the task files in a folder."""

_KIND: Final = "task file"
_WAY_OUT: Final = "give a task file or a folder of them"

_KEYS: Final[dict[str, type[BaseModel]]] = {
    "tools": model.Tool,
    "tasks": model.Task,
    "match": model.Match,
    "expected": model.Expected,
    "sub_goals": model.SubGoal,
    "graphs": model.Node,
    "serves": model.Serves,
    "success": model.Criterion,
}
"""The class of the mappings under each key."""


class Specification(BaseModel):
    """Tasks and tools that trajectories are scored against: all loaded files together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tools: dict[str, Tool] = Field(default_factory=dict)
    tasks: dict[str, Task] = Field(default_factory=dict)
    tool_correctness: ToolCorrectness = ToolCorrectness()
    fragments: bool = False
    """Traces that are parts of runs elsewhere are runs to be scored."""
    retrieval: bool = False
    """Searches and operations on memory that a program makes itself are steps of its runs."""
    metrics: tuple[OwnMetric, ...] = ()
    """Metrics of users' own, by name."""

    @cached_property
    def hash(self) -> str:
        """Sixteen hex digits that change when anything in the specification does."""
        if not self.metrics:
            return _hash(self)
        return _hash_text([_hash(self), *([each.hash, each.runs] for each in self.metrics)])

    @cached_property
    def tools_hash(self) -> str:
        """The hash of the tools alone."""
        return _hash(self.model_copy(update={"tasks": {}, "fragments": False}))

    @cached_property
    def match_hash(self) -> str:
        """The hash of every `match`: which task an attempt has whose spans name none."""
        matches = {name: task.match for name, task in self.tasks.items() if task.match}
        return _hash_text({name: match.model_dump() for name, match in matches.items()})

    @property
    def gives_turns(self) -> bool:
        """Whether some task expects calls by the turn of a conversation."""
        tasks = self.tasks.values()
        return any(each.turn is not None for task in tasks for each in task.expected or ())

    def task_hash(self, task_id: str) -> str:
        """Return the hash of one task and of the tools, for the scores made against it."""
        only = {"tasks": {task_id: self.tasks[task_id]}, "fragments": False}
        return _hash(self.model_copy(update=only))


class Loaded(NamedTuple):
    """A specification and everything that is wrong with it."""

    specification: Specification
    problems: list[Problem]

    @property
    def fatal(self) -> list[Problem]:
        """The problems that keep the files from being used at all."""
        return [problem for problem in self.errors if problem.graph_of is None]

    @property
    def errors(self) -> list[Problem]:
        """The problems that are more than notes."""
        return [problem for problem in self.problems if not problem.is_note]


def load(paths: Sequence[Path]) -> Loaded:
    """Return the specification that the files and folders hold together.

    Raises:
        TaskFileUnreadable: A path does not exist, a folder has no task file, a file is not text.
    """
    sources = [read_file(path, _KIND, _WAY_OUT, TaskFileUnreadable) for path in _files(paths)]
    problems = [problem for source in sources for problem in source.problems]
    whole: list[TaskFile] = []
    parsed: list[tuple[SourceFile, TaskFile]] = []  # of files that are not whole, what is readable
    for source in sources:
        if source.values is None and source.problems:
            continue
        file, found = parse(source)
        problems += found
        whole += [file] if file else []
        if (part := file or readable_part(source.values)) is not None:
            parsed.append((source, part))
    return _combine(whole, parsed, problems)


def parse(source: SourceFile) -> tuple[TaskFile | None, list[Problem]]:
    """Return a task file as objects, or None and the faults in its shape."""
    return parse_as(TaskFile, _KEYS, source)


def _combine(
    whole: Sequence[TaskFile],
    parsed: Sequence[tuple[SourceFile, TaskFile]],
    problems: list[Problem],
) -> Loaded:
    tools = {name: tool for _, file in parsed for name, tool in file.tools.items()}
    problems += _declared_twice(parsed)
    for source, file in parsed:
        problems += check.check_file(source, file, tools)
    specification = Specification(
        tools={name: tool for file in whole for name, tool in file.tools.items()},
        tasks={name: task for file in whole for name, task in file.tasks.items()},
    )
    return Loaded(specification, sorted(problems, key=lambda problem: problem[:2]))


def _declared_twice(parsed: Sequence[tuple[SourceFile, TaskFile]]) -> Iterator[Problem]:
    """Yield a problem for each tool or task that two files declare."""
    first_source: dict[tuple[str, str], SourceFile] = {}
    for source, file in parsed:
        for key in [
            *(("tools", name) for name in file.tools),
            *(("tasks", name) for name in file.tasks),
        ]:
            if key in first_source:
                first = f"{first_source[key].file}:{first_source[key].line(key)}"
                fact = f"{key[0][:-1]} '{key[1]}' is declared twice, first at {first}"
                yield source.problem(key, fact, "remove or rename one")
            first_source.setdefault(key, source)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(file for file in path.rglob("*") if _is_task_file(file.relative_to(path)))
        if not found:
            msg = f"folder '{path}' holds no task file; expected *.yaml or *.yml"
            raise TaskFileUnreadable(msg)
        yield from found


def _is_task_file(path: Path) -> bool:
    """Return whether a path in a folder is a task file.

    Kubernetes keeps the files of a ConfigMap in a folder `..2026_…`, and links to each of them.
    """
    return path.suffix in SUFFIXES and not any(part.startswith("..") for part in path.parts)


def _hash(value: BaseModel) -> str:
    # Keys keep their order: that of sub-goals decides between variants.
    hashed = value.model_dump(mode="json", exclude=_NOT_HASHED)
    for task in hashed.get("tasks", {}).values():
        if not task["x"]:
            del task["x"]  # tasks without own keys keep the hashes they have always had
    return _hash_text(hashed)


_NOT_HASHED: Final[Any] = {
    "tasks": {"__all__": {"reference", "documents"}},
    "metrics": True,
    "retrieval": True,
}
"""Parts that no built-in score depends on: inputs of judges only, users' own metrics, and which
steps there are, which the hash of a run's input tells."""


def _hash_text(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
