"""The `tracegrade` command: finds its subcommands by entry point and turns errors into exit codes.

Subcommands are declared by each package in the entry-point group `tracegrade.commands`, as a
function with typer's annotations or as a `typer.Typer` for a command with subcommands of its own.
One is imported only when it is used, so that `tracegrade run` works without the extras.

Exit codes: 0 done, 1 a check failed, 2 usage or bad input, 3 something outside failed.
"""

import sys
import traceback
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

import click
import typer

from tracegrade.errors import BadInput, TracegradeError

GROUP = "tracegrade.commands"
EXTRA_OF_PACKAGE = {"tracegrade_collector": "collector"}  # every other package needs the next one
DEFAULT_EXTRA = "scoring"


class Commands(click.Group):
    """The subcommands, each loaded when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all declared subcommands, sorted."""
        return sorted(entry_points(group=GROUP).names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one subcommand, or None if no package declares it.

        Raises:
            BadInput: Its package needs an extra that is not installed.
        """
        found = entry_points(group=GROUP, name=cmd_name)
        return _load(next(iter(found))) if found else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing what they need."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _extra_note(name)) for name in self.list_commands(ctx)])


def _extra_note(name: str) -> str:
    (entry,) = entry_points(group=GROUP, name=name)
    package = entry.module.split(".")[0]
    return "" if package == "tracegrade" else f"extra: {_extra_of(package)}"


def _extra_of(package: str) -> str:
    return EXTRA_OF_PACKAGE.get(package, DEFAULT_EXTRA)


def _load(entry: EntryPoint) -> click.Command:
    try:
        command = entry.load()
    except ModuleNotFoundError as error:
        package = entry.module.split(".")[0]
        if (error.name or "").startswith("tracegrade"):
            raise
        extra = _extra_of(package)
        msg = (
            f"command '{entry.name}' needs module '{error.name}', which is not installed; "
            f"install it with: pip install 'tracegrade[{extra}]'"
        )
        raise BadInput(msg) from error
    if not isinstance(command, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name=entry.name)(command)
        command = app
    loaded = typer.main.get_command(command)
    loaded.name = entry.name
    return cast(click.Command, loaded)  # it acts as one, though typer brings a click of its own


@click.group(cls=Commands)
@click.version_option(package_name="tracegrade")
@click.option("--verbose", is_flag=True, help="Show the traceback of an error.")
def tracegrade(verbose: bool) -> None:
    """Collect AI-agent traces over OTLP into a Parquet lake, and score them offline."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit with its code. Errors are one line on stderr."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        sys.exit(tracegrade.main(given, prog_name="tracegrade", standalone_mode=False) or 0)
    except TracegradeError as error:
        sys.exit(_fail(str(error), error.exit_code, given))
    except (click.exceptions.Exit, typer.Exit) as error:
        sys.exit(error.exit_code)
    except (click.ClickException, typer.TyperException) as error:
        sys.exit(_show(error))
    except (KeyboardInterrupt, click.Abort, typer.Abort):
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 - the process edge: one line instead of a traceback
        sys.exit(_fail(f"{type(error).__name__}: {error}", TracegradeError.exit_code, given))


def _show(error: Any) -> int:
    error.show()
    exit_code: int = error.exit_code
    return exit_code


def _fail(text: str, exit_code: int, given: list[str]) -> int:
    if "--verbose" in given:
        traceback.print_exc()
    line = " ".join(text.split())
    click.echo(f"tracegrade: {line}", err=True)
    return exit_code
