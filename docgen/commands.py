"""One page for each `tracegrade` command, with its options, and an index of them."""

import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperGroup

from docgen.pages import anchor, code, page, prose, table
from tracegrade.cli import GROUP, extra_of
from tracegrade.terminal.option_groups import UNGROUPED, group_of

PROJECT: Final = Path(__file__).parents[1] / "pyproject.toml"


def pages() -> Mapping[str, str]:
    """Return the pages by their paths below `docs/`."""
    commands = {entry.name: _command(entry.name, entry.load()) for entry in _entries()}
    made = {f"reference/cli/{name}.md": _page(command) for name, command in commands.items()}
    return {"reference/cli/index.md": _index(commands), **made}


def _entries() -> list[EntryPoint]:
    """Return the entry points of our own commands, by name, as the project declares them."""
    with PROJECT.open("rb") as file:
        declared = tomllib.load(file)["project"]["entry-points"][GROUP]
    return [EntryPoint(name, value, GROUP) for name, value in sorted(declared.items())]


def _command(name: str, loaded: Any) -> Any:
    """Return a command as the command line runs it, named as the user types it."""
    app = loaded
    if not isinstance(loaded, typer.Typer):
        app = typer.Typer(add_completion=False)
        app.command(name)(loaded)
    command = typer.main.get_command(app)
    command.name = name
    return command


def _index(commands: Mapping[str, Any]) -> str:
    extras = {entry.name: extra_of(entry.module) for entry in _entries()}
    rows = (
        [f"[`tracegrade {name}`]({name}.md)", _summary(command), code(extras[name])]
        for name, command in commands.items()
    )
    return page(
        "Commands",
        "Each command prints its options with `--help`. An extra is installed as in "
        "`pip install 'tracegrade[scoring]'`; `tracegrade[all]` brings every one. "
        "[Exit codes](../exit-codes.md) are the same for all of them.",
        table(["command", "what it does", "extra"], rows),
        "`--verbose`, which may stand anywhere before a `--`, shows the traceback of an error; "
        "`tracegrade --version` shows the version.",
    )


def _summary(command: Any) -> str:
    return prose(command.help or "").partition("\n")[0]


def _page(command: Any) -> str:
    title = f"tracegrade {command.name}"
    blocks = _blocks(command, title)
    if isinstance(command, TyperGroup):
        listed = [
            [f"[`{name}`](#{anchor(f'{title} {name}')})", _summary(each)]
            for name, each in command.commands.items()
        ]
        blocks = [*blocks, table(["command", "what it does"], listed)]
        for name, each in command.commands.items():
            blocks += [f"## {title} {name}", *_blocks(each, f"{title} {name}")]
    return page(title, *blocks)


def _blocks(command: Any, title: str) -> list[str]:
    """Return a command's description, its usage, and tables of its arguments and options."""
    context = typer.Context(command, info_name=title)
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    shown = [each for each in options if not each.hidden and each.name != "help"]
    blocks = [prose(command.help or ""), f"```text\n{_usage(command, context, title)}\n```"]
    if arguments:
        rows = ([code(_name(each, context)), each.help or ""] for each in arguments)
        blocks.append(table(["argument", "what it is"], rows))
    for heading, group in _groups(shown).items():
        blocks += [] if heading == UNGROUPED else [f"{heading}:"]
        rows = (_option(each, context) for each in group)
        blocks.append(table(["option", "value", "default", "what it does"], rows))
    return blocks


def _groups(options: list[Any]) -> Mapping[str, list[Any]]:
    """Return options by their title in `--help`; options without a title come first."""
    groups: dict[str, list[Any]] = {UNGROUPED: []}
    for option in options:
        groups.setdefault(group_of(option), []).append(option)
    return {title: group for title, group in groups.items() if group}


def _usage(command: Any, context: Any, title: str) -> str:
    pieces = [piece for each in command.params for piece in each.get_usage_pieces(context)]
    takes = ["COMMAND", "[ARGS]..."] if isinstance(command, TyperGroup) else []
    return " ".join([title, "[OPTIONS]", *pieces, *takes])


def _name(argument: Any, context: Any) -> str:
    return " ".join(argument.get_usage_pieces(context))


def _option(option: Any, context: Any) -> list[str]:
    names = ", ".join(map(code, [*option.opts, *option.secondary_opts]))
    repeated = ", repeatable" if option.multiple else ""
    value = "" if option.is_flag else _value(option, context) + repeated
    return [names, value, _default(option), " ".join(_meaning(option))]


def _value(option: Any, context: Any) -> str:
    """Return the values of an option: a type, or its choices with `|` between them."""
    shown = str(option.display_type(context)).strip("<>[]").lower()
    if "|" in shown:
        return code(shown)
    return {"str": "text", "list[str": "text"}.get(shown, shown.removesuffix(" range"))


def _default(option: Any) -> str:
    value = option.default
    if option.required:
        return "required"
    if value is None or callable(value) or value in ((), [], "", False):
        return ""
    return code(getattr(value, "value", value))


def _meaning(option: Any) -> Iterator[str]:
    yield option.help or ""
    if option.envvar:
        names = [option.envvar] if isinstance(option.envvar, str) else option.envvar
        yield f"Also read from {', '.join(map(code, names))}."
