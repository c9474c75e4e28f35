"""The `tracegrade` command: finds its subcommands by entry point and turns errors into exit codes.

Each package declares subcommands in the entry-point group `tracegrade.commands`: a function with
typer's annotations, or a `typer.Typer` for a command with its own subcommands. A subcommand is
imported only for its use or its help, and imports its own requirements when it runs. So
`tracegrade run`, and the help of all commands, work without the extras.

Exit codes: 0 done, 1 a check failed, 2 usage or bad input, 3 something outside failed.
"""

import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any, Final

import typer

from tracegrade.errors import BadInput, TracegradeError
from tracegrade.suggestions import did_you_mean
from tracegrade.terminal.option_groups import GroupedCommand
from tracegrade.terminal.visible import echo

GROUP: Final = "tracegrade.commands"
EXTRA_OF_MODULE: Final = {"mcp": "mcp"}
"""Extra with a module that only an option of a command needs."""
EXTRA_OF_PACKAGE: Final = {
    "tracegrade_collector": "collector",
    "tracegrade_explorer": "explorer",
    "tracegrade_explorer.mcp_server": "mcp",
    "tracegrade_harness": "harness",
    "tracegrade_judges": "judge",
}
DEFAULT_EXTRA: Final = "scoring"
"""Extra of all other packages."""
SUMMARY_CHARS: Final = 100
HELP: Final = """Usage: tracegrade COMMAND [ARGS]...

  Collect AI-agent traces over OTLP into a Parquet lake, and score them offline.

Options:
  --verbose  Show the traceback of an error.
  --version  Show the version.
  --help     Show this text, or that of a command.

Commands, each with the extra that it needs, as in pip install 'tracegrade[scoring]':
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its code. Errors are one line on stderr."""
    given, verbose = _without_verbose(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.exit(_run(given))
    except TracegradeError as error:
        sys.exit(_fail(str(error), error.exit_code, verbose=verbose))
    except typer.TyperException as error:
        sys.exit(_explain(error, given))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 - the process edge: one line instead of a traceback
        for argument in filter(_is_no_text, given):  # engines refuse it, each in its own words
            text = f"{argument!a} is not UTF-8; write it in a terminal or script that is"
            sys.exit(_fail(text, BadInput.exit_code, verbose=verbose))
        text = f"{type(error).__name__}: {error}"
        sys.exit(_fail(text, TracegradeError.exit_code, verbose=verbose))


def _without_verbose(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """Return the arguments without `--verbose`, which may be anywhere before a `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    ours = [argument for argument in arguments[:end] if argument != "--verbose"]
    return [*ours, *arguments[end:]], len(ours) < end


def _is_no_text(argument: str) -> bool:
    """Return whether an argument holds bytes that are not UTF-8, which Python escapes."""
    return any("\udc80" <= character <= "\udcff" for character in argument)


def _run(arguments: list[str]) -> int:
    """Run one subcommand and return its exit code."""
    if not arguments or arguments[0] == "--help":
        typer.echo(HELP + _command_list())
        return 0 if arguments else BadInput.exit_code
    if arguments[0] == "--version":
        typer.echo(f"tracegrade {version('tracegrade')}")
        return 0
    name, *rest = arguments
    entry = _find(name)
    try:
        code = _load(entry).main(rest, prog_name=f"tracegrade {name}", standalone_mode=False)
    except ModuleNotFoundError as error:
        raise _missing(entry, error) from error
    return code if isinstance(code, int) else 0


def _missing(entry: EntryPoint, error: ModuleNotFoundError) -> Exception:
    """Return an error that names the extra with a missing module; tracegrade's need none."""
    package = entry.module.split(".")[0]
    if package == "tracegrade" or (error.name or "").startswith("tracegrade"):
        return error
    extra = EXTRA_OF_MODULE.get((error.name or "").split(".")[0]) or extra_of(entry.module)
    return BadInput(
        f"command '{entry.name}' needs module '{error.name}', which is not installed; "
        f"install it with: pip install 'tracegrade[{extra}]'"
    )


def _command_list() -> str:
    return "\n".join(f"  {name:<10}{_summary(name)}{_extra_note(name)}" for name in _names())


def _summary(name: str) -> str:
    """Return what a command does, in the first words of its own help."""
    try:
        return str(_load(_find(name)).get_short_help_str(SUMMARY_CHARS))
    except ModuleNotFoundError:  # commands need no extra to be loaded; who adds one may
        return ""


def _names() -> list[str]:
    return sorted(entry_points(group=GROUP).names)


def _extra_note(name: str) -> str:
    extra = extra_of(_find(name).module)
    return f" [{extra}]" if extra else ""


def extra_of(module: str) -> str:
    """Return the extra that a command's module needs: that of the nearest package; '' for none."""
    package = module.split(".", maxsplit=1)[0]
    parents = [module.rsplit(".", count)[0] for count in range(module.count(".") + 1)]
    found = (EXTRA_OF_PACKAGE[parent] for parent in parents if parent in EXTRA_OF_PACKAGE)
    return "" if package == "tracegrade" else next(found, DEFAULT_EXTRA)


def _find(name: str) -> EntryPoint:
    found = entry_points(group=GROUP, name=name)
    if not found:
        hint = did_you_mean(name, _names()) or f"there are: {', '.join(_names())}"
        msg = f"no command '{name}'; {hint}"
        raise BadInput(msg)
    return next(iter(found))


def _load(entry: EntryPoint) -> Any:
    """Return a subcommand, ready to run."""
    command = entry.load()
    if not isinstance(command, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name=entry.name, cls=GroupedCommand)(command)
        command = app
    return typer.main.get_command(command)


def _explain(error: typer.TyperException, arguments: Sequence[str]) -> int:
    """Report an error in the arguments; a command without required ones shows its help instead."""
    text = error.format_message().strip()
    if text.startswith("Usage:"):
        echo(text, err=True)
        return BadInput.exit_code
    name = _command_of(error) or next(iter(arguments), "")
    return _fail(f"{text.rstrip('.')}; see: tracegrade {name} --help", BadInput.exit_code)


def _command_of(error: typer.TyperException) -> str:
    """Return the name of the command that was given them, behind its group's; '' if unknown."""
    context = getattr(error, "ctx", None)
    return context.command_path.removeprefix("tracegrade ") if context else ""


def _fail(text: str, exit_code: int, *, verbose: bool = False) -> int:
    if verbose:
        echo(traceback.format_exc().rstrip(), err=True)
    line = " ".join(text.split())
    echo(f"tracegrade: {line}", err=True)
    return exit_code
