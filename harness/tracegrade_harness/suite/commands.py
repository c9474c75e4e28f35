"""Checks the commands of a suite, and the variables that they get."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from tracegrade.suggestions import did_you_mean
from tracegrade_harness.suite import model
from tracegrade_harness.suite.command import substitutions
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile


def check_command(
    source: SourceFile, path: KeyPath, command: Sequence[str], known: Sequence[str]
) -> Iterator[Problem]:
    """Yield a problem for each unknown placeholder of a command."""
    for i, argument in enumerate(command):
        for name in substitutions(argument):
            if name not in known:
                fact = f"{dotted((*path, i))} names {{{name}}}, which is not known"
                names = ", ".join(f"{{{each}}}" for each in known)
                way_out = did_you_mean(name, known) or f"known: {names}"
                yield source.problem((*path, i), fact, way_out)


def check_variables(
    source: SourceFile, path: KeyPath, variables: model.Variables
) -> Iterator[Problem]:
    """Yield a problem for each variable that is given twice."""
    for name in sorted(set(variables.pass_) & variables.set.keys()):
        fact = f"variable '{name}' is passed and set in {dotted(path)}"
        yield source.problem((*path, "set", name), fact, "remove one")


def check_program(source: SourceFile, path: KeyPath, program: str) -> Iterator[Problem]:
    """Yield a problem if an agent could have written the program."""
    if "/" in program and not PurePosixPath(program).is_absolute() and program[0] != "{":
        fact = f"{dotted(path)} '{program}' is a program of the environment, which agents write"
        yield source.problem(path, fact, f"write {{suite}}/{PurePosixPath(program)}")
