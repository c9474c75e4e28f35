"""Checks a suite beyond its shape: names, sources, locations, commands.

Each check yields every problem that it finds, with its line, so that one run shows all of them.
Kinds of parts check their own keys.
"""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from tracegrade.rollback.undo import undo_fault
from tracegrade.suggestions import did_you_mean
from tracegrade_harness.loading.check_images import check_agent_in_image, check_image
from tracegrade_harness.parts.kind import PartKind
from tracegrade_harness.parts.registry import kind_of_verifier, part_kinds, verifier_key
from tracegrade_harness.suite import model, paths, records
from tracegrade_harness.suite.channels import check_channels, check_reachable, check_servers
from tracegrade_harness.suite.command import OF_AGENTS, TO_FILL_IN, substitutions
from tracegrade_harness.suite.commands import check_command, check_variables
from tracegrade_harness.suite.inputs import check_input
from tracegrade_harness.suite.normalize import check_normalize
from tracegrade_harness.suite.readable import ReadableEnvironment, ReadableSuite
from tracegrade_harness.suite.runbook import check_runbook
from tracegrade_harness.suite.sources import check_read, check_source
from tracegrade_harness.suite.strict import Strict
from tracegrade_harness.suite.suite_position import At
from tracegrade_harness.suite.templates import filled
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile
from tracegrade_scoring.tasks.engine import json_path_fault
from tracegrade_scoring.tasks.load import Specification

_MARKS: Final = "/ : , \\"
"""Characters that follow the name of a part in names of objects, such as `files:data/a.csv`."""
Names: TypeAlias = tuple[str, ...]
"""Names on a path below the trial's folder."""


def check_suite(
    source: SourceFile, folder: Path, suite: ReadableSuite, specification: Specification | None
) -> Iterator[Problem]:
    """Yield the problems of a suite.

    Args:
        source: The lines of its values.
        folder: The folder of the file.
        suite: The suite as objects, as far as its shape is right.
        specification: The task file of the suite; None if none can be read.
    """
    yield from check_read(source, folder, ("defaults",), suite.read)
    for name, agent in suite.agents.items():
        if agent is not None:
            yield from _check_agent(source, ("agents", name), agent)
            yield from check_read(source, folder, ("agents", name), agent.read)
        for i, record in enumerate(suite.records[name]):
            yield from _check_record(source, folder, ("agents", name, "records", i), record)
    for name, environment in suite.environments.items():
        yield from _check_environment(At(source, folder, ("environments", name)), environment)
        for server, declared in environment.servers.items():
            at = ("environments", name, "mcp", server)
            yield from check_read(source, folder, at, declared.read if declared else ())
    for name, case in suite.cases.items():
        yield from _check_case(source, ("cases", name), case, suite, specification)
        yield from _check_verifiers(At(source, folder, ("cases", name)), suite)


def _check_agent(source: SourceFile, path: KeyPath, agent: model.Agent) -> Iterator[Problem]:
    has_release = (*path, "release") in source.lines
    for key in ("command", "recover"):
        value = getattr(agent, key)
        if isinstance(value, list):
            yield from check_command(source, (*path, key), value, OF_AGENTS)
            if TO_FILL_IN in value:
                fact = f"{dotted((*path, key))} is not filled in"
                way_out = f"write in place of '{TO_FILL_IN}' how agent '{path[-1]}' is started"
                yield source.problem((*path, key), fact, way_out)
            if not has_release and any("release" in substitutions(each) for each in value):
                fact = f"{dotted((*path, key))} names {{release}}, but the agent has none"
                yield source.problem((*path, key), fact, "give it a release")
    yield from check_variables(source, (*path, "environment"), agent.environment)
    yield from check_channels(source, (*path, "channels"), agent.channels)
    for i, record in enumerate(agent.records):
        if isinstance(record, records.LakeRecord) and "sdk" not in agent.channels:
            fact = f"{dotted((*path, 'records', i, 'lake'))}: an agent behind "
            fact += f"'{agent.channels[0]}' sends no plan"
            yield source.problem(
                (*path, "records", i), fact, "remove it, or give the channel 'sdk'"
            )


def _check_record(
    source: SourceFile, folder: Path, path: KeyPath, record: records.Record | None
) -> Iterator[Problem]:
    match record:
        case records.Journal():
            yield from _inside(source, (*path, "journal"), record.journal)
        case records.Manifest():
            yield from _inside(source, (*path, "manifest"), record.manifest)
            if fault := json_path_fault(record.items):
                fact = f"'{record.items}' is not a JSON path to one list: {fault}"
                yield source.problem((*path, "items"), fact, "write it like $.files")
            if fact_of_undo := undo_fault(filled(record.undo, lambda _: "x")):
                fact = f"{dotted((*path, 'undo'))}: {fact_of_undo}"
                yield source.problem((*path, "undo"), fact, "write it like {delete: '{name}'}")
        case records.Runbook():
            key_path = (*path, "runbook")
            wrong = [*check_source(source, folder, key_path, record.runbook, "file")]
            yield from wrong or check_runbook(paths.source(folder, record.runbook))


def _inside(source: SourceFile, path: KeyPath, name: str) -> Iterator[Problem]:
    if fault := paths.inside_fault(name):
        yield source.problem(path, f"{dotted(path)} '{name}' {fault[0]}", fault[1])


def _check_environment(at: At, environment: ReadableEnvironment) -> Iterator[Problem]:
    taken: dict[KeyPath, tuple[PartKind, tuple[str, ...]]] = {}
    variables: dict[str, str] = {}
    for (kind_name, name), part in environment.parts.items():
        kind, here = part_kinds()[kind_name], at._replace(path=at.below(kind_name, name))
        if not name.isprintable() or any(mark in name for mark in _MARKS.split()):
            fact = f"the part's name {name!r} has a separator of object names ({_MARKS})"
            yield at.source.problem(here.path, fact, "write it without")
        if part is None:
            continue
        yield from _of_kind(kind, here, kind.check(here, part, environment))
        if kind.placed:
            yield from _check_path(here, kind, part, taken)
        yield from _check_variable(here, "path_env" if kind.placed else "url_env", part, variables)
    yield from check_servers(at.source, at.path, environment, variables)
    yield from check_image(at, environment)
    yield from _check_locks(at.source, at.below("locks"), environment.locks)


def _of_kind(kind: PartKind, at: At, problems: Iterator[Problem]) -> Iterator[Problem]:
    """Yield the problems that a kind finds, and its failures to check."""
    try:
        yield from problems
    except Exception as error:  # noqa: BLE001 - code of another package
        fact = f"{dotted(at.path)}: the kind '{kind.name}' fails: {type(error).__name__}: {error}"
        yield at.source.problem(at.path, fact, "report it to who made it, or uninstall it")


def _check_variable(
    at: At, key: str, part: Strict, taken: MutableMapping[str, str]
) -> Iterator[Problem]:
    """Yield a problem if two parts have the same variable for the agent."""
    variable = getattr(part, key, None)
    if variable is not None and variable in taken:
        fact = f"{dotted(at.path)} and {taken[variable]} have the same {key}"
        yield at.source.problem(at.below(key), fact, "give each a variable of its own")
    elif variable is not None:
        taken[variable] = dotted(at.path)


def _check_path(
    at: At, kind: PartKind, part: Strict, taken: MutableMapping[KeyPath, tuple[PartKind, Names]]
) -> Iterator[Problem]:
    """Yield problems of a part's location in the trial's folder."""
    name = getattr(part, "at", ".")
    yield from _inside(at.source, at.below("at"), name)
    if paths.inside_fault(name):
        return
    names = paths.parts(name)
    if kind.placed == "file" and not names:
        yield at.problem("at", "is the environment's own folder", "give the name of a file")
    yield from _overlaps(at, kind, names, taken)
    taken[at.path] = (kind, names)


def _overlaps(
    at: At, kind: PartKind, names: Names, others: Mapping[KeyPath, tuple[PartKind, Names]]
) -> Iterator[Problem]:
    """Yield a problem for each part that has the same location, or one inside the other."""
    for other, (other_kind, other_names) in others.items():
        outer, inner = sorted(((names, kind), (other_names, other_kind)), key=lambda p: len(p[0]))
        if inner[0][: len(outer[0])] != outer[0]:
            continue
        if (outer[1].placed, inner[1].placed) == ("folder", "file") and inner[0] != outer[0]:
            continue
        fact = f"{dotted(at.path)} and {dotted(other)} overlap"
        way_out = "move one: only a database may be inside a folder of files"
        yield at.source.problem(at.below("at"), fact, way_out)


def _check_locks(source: SourceFile, path: KeyPath, locks: Sequence[str]) -> Iterator[Problem]:
    for i, lock in enumerate(locks):
        if lock and ":" not in lock and not lock.startswith("*"):
            fact = f"{dotted((*path, i))} '{lock}' is the name of no object"
            yield source.problem((*path, i), fact, f"start it with a part, like files:*/{lock}")


def _check_case(
    source: SourceFile,
    path: KeyPath,
    case: model.Case | None,
    suite: ReadableSuite,
    specification: Specification | None,
) -> Iterator[Problem]:
    if case is not None:
        for key in ("agent", "environment"):
            yield from _known(source, (*path, key), getattr(case, key), getattr(suite, f"{key}s"))
        http = [name for name, kind in part_kinds().items() if kind.speaks_http]
        yield from check_reachable(source, path, case, suite, http)
        yield from check_agent_in_image(source, path, case, suite)
        yield from check_input(source, path, case, suite.agents.get(case.agent))
        yield from _check_tape(source, (*path, "tape"), case.tape)
        yield from check_normalize(source, (*path, "normalize"), case.normalize)
        yield from _check_killed_trials(source, (*path, "kill", "trials"), case)
        if case.kill is not None and specification is not None:
            yield from _check_taped_writes(source, case, suite, specification)
        if case.kill is not None and suite.tasks is None:
            fact = f"{dotted((*path, 'kill'))}: without 'tasks' nothing says which tools write"
            way_out = "name a task file, or only writes that spans or the state show will count"
            yield source.problem((*path, "kill"), fact, way_out)._replace(is_note=True)
    if specification is not None and path[-1] not in specification.tasks:
        name = str(path[-1])
        near = did_you_mean(name, list(specification.tasks))
        fact = f"case '{name}' is not a task in '{suite.tasks}'"
        yield source.problem(path, fact, near or "declare it there, or rename the case")


def _check_killed_trials(source: SourceFile, path: KeyPath, case: model.Case) -> Iterator[Problem]:
    killed = case.kill.trials if case.kill else "all"
    if killed != "all" and killed > case.trials:
        fact = f"{dotted(path)}: {killed} trials are killed of {case.trials} that are run"
        yield source.problem(path, fact, "raise the case's trials, or write all")


def _check_taped_writes(
    source: SourceFile, case: model.Case, suite: ReadableSuite, specification: Specification
) -> Iterator[Problem]:
    """Yield a note for each taped tool that writes, since a replay leaves nothing to judge."""
    environment = suite.environments.get(case.environment)
    for i, name in enumerate(environment.taped_tools if environment else ()):
        tool = specification.tools.get(name)
        if tool is not None and tool.effect in {"write", "destructive"}:
            path = ("environments", case.environment, "taped_tools", i)
            fact = f"{dotted(path)}: '{name}' writes, and a case of its environment is killed"
            way_out = "its tape is refused there; remove it, or run mocked with --kill none"
            yield source.problem(path, fact, way_out)._replace(is_note=True)


def _check_tape(source: SourceFile, path: KeyPath, tape: str | None) -> Iterator[Problem]:
    if fault := None if tape is None else paths.source_fault(tape):
        yield source.problem(path, f"{dotted(path)} '{tape}' {fault[0]}", fault[1])


def _known(
    source: SourceFile, path: KeyPath, name: str, known: Mapping[str, object]
) -> Iterator[Problem]:
    if name not in known:
        way_out = did_you_mean(name, list(known)) or f"declare it under '{path[-1]}s'"
        yield source.problem(path, f"{dotted(path)}: unknown {path[-1]} '{name}'", way_out)


def _check_verifiers(at: At, suite: ReadableSuite) -> Iterator[Problem]:
    """Yield the problems of a case's verifiers."""
    case = suite.cases[str(at.path[-1])]
    environment = suite.environments.get(case.environment) if case else None
    for i, verifier in enumerate(suite.verifiers[str(at.path[-1])]):
        if verifier is not None:
            kind, here = kind_of_verifier(verifier), at._replace(path=at.below("verify", i))
            if kind.model is not None:
                yield from _check_part_named(here, kind, verifier, environment)
            yield from _of_kind(kind, here, kind.check_verifier(here, verifier, environment))


def _check_part_named(
    at: At, kind: PartKind, verifier: Strict, environment: ReadableEnvironment | None
) -> Iterator[Problem]:
    """Yield a problem if the part that a verifier names does not exist."""
    name = getattr(verifier, verifier_key(kind))
    if environment is None or (kind.name, name) in environment.parts:
        return
    known = [each for of_kind, each in environment.parts if of_kind == kind.name]
    others = [of_kind for of_kind, each in environment.parts if each == name]
    path = at.below(verifier_key(kind))
    fact = f"{dotted(path)}: the environment has no {kind.name} '{name}'"
    way_out = f"it is of kind '{others[0]}'" if others else did_you_mean(name, known)
    yield at.source.problem(path, fact, way_out or "declare it in the environment")
