"""A typer command whose help lists its options in named groups, in plain text.

An option names its group by `rich_help_panel`, which is typer's own word for it. Typer itself
shows groups only in rich's boxes, which wrap and color text that the documents quote.
"""

from typing import Any, Final

from typer.core import TyperCommand

UNGROUPED: Final = "Options"


class GroupedCommand(TyperCommand):
    """A command that lists arguments first, then options by group, in the order of declaration.

    Options without a group are listed first, under "Options"; `--help` is one of these.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section for the arguments and one for each group of options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], UNGROUPED: []}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                sections.setdefault(group_of(parameter), []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def group_of(parameter: Any) -> str:
    """Return the title of a parameter's group in the help."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    return getattr(parameter, "rich_help_panel", None) or UNGROUPED
