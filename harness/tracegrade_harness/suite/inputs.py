"""Checks the user input of a case, and how the agent receives it."""

from collections.abc import Iterator, Sequence
from typing import Final

from tracegrade_harness.suite import model
from tracegrade_harness.suite.command import substitutions
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile

MAX_ARGUMENT_BYTES: Final = 128 * 1024 - 1
"""Largest size of one argument on Linux."""
_AS_FILE: Final = "let the command read {user_input_file} instead"


def _may_be_option(command: Sequence[str]) -> bool:
    """Return whether an argument begins with the user's text, and no `--` ends the options."""
    options = command[: command.index("--")] if "--" in command else command
    return any(argument.startswith("{user_input}") for argument in options)


def check_input(
    source: SourceFile, path: KeyPath, case: model.Case, agent: model.Agent | None
) -> Iterator[Problem]:
    """Yield the problems of a case's `user_input` with its agent's command."""
    command = [] if agent is None else agent.command
    named = {name for argument in command for name in substitutions(argument)}
    text = case.user_input
    for name in sorted(named & {"user_input", "user_input_file"}) if text is None else ():
        fact = f"{dotted(path)}: the command of agent '{case.agent}' names {{{name}}}, "
        fact += "but the case has no user_input"
        yield source.problem(path, fact, "give it one")
    if text is not None and agent is not None and not named & {"user_input", "user_input_file"}:
        fact = f"{dotted((*path, 'user_input'))} is not used: the command of agent "
        fact += f"'{case.agent}' does not name {{user_input}}"
        way_out = "add it, or {user_input_file}, to the command"
        yield source.problem((*path, "user_input"), fact, way_out)._replace(is_note=True)
    if text is not None and "user_input" in named:
        place = (*path, "user_input")
        if text.startswith("-") and _may_be_option(command):
            fact = f"{dotted(place)} begins with '-', as options do: agents that have some may "
            way_out = f"write '--' before {{user_input}} in the command, or {_AS_FILE}"
            yield source.problem(place, f"{fact}take it for one", way_out)._replace(is_note=True)
        if "\0" in text:
            fact = f"{dotted(place)} has a NUL character, which no argument can have"
            yield source.problem(place, fact, _AS_FILE)
        size = len(text.encode(errors="replace"))
        if size > MAX_ARGUMENT_BYTES:
            fact = f"{dotted(place)} has {size} bytes, more than an argument can have"
            yield source.problem(place, fact, _AS_FILE)
