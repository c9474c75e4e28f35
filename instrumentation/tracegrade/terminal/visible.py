"""Makes texts from traces harmless to display: characters that act on a screen are spelled out."""

import sys
import unicodedata
from typing import Final

import typer

_JOINERS: Final = "\u200c\u200d"
"""Characters that join two signs into one in emoji and in scripts such as Persian and Hindi."""


def echo(text: object, *, err: bool = False) -> None:
    """Print a text for people, in which nothing acts on their terminal."""
    typer.echo(visible_text(str(text)), err=err)


def echo_output(output: bytes) -> None:
    """Print on stderr what another program wrote; nothing if that was nothing."""
    if output:
        echo(output.decode(errors="replace").removesuffix("\n"), err=True)


def echo_for_programs(text: str) -> None:
    """Print a text unchanged for a program; to a terminal, print it as `echo` does."""
    typer.echo(visible_text(text) if sys.stdout.isatty() else text)


def visible(text: str) -> str:
    r"""Return a text with every character that acts instead of showing spelled out, as `\x1b`.

    These are controls (terminal escapes, line ends), format characters (right-to-left overrides,
    zero-width ones except a joiner between two non-ASCII signs), lone surrogates, private and
    unassigned ones, and spaces other than ' ', since they would make names look alike.
    """
    return _visible(text)


def visible_text(text: str) -> str:
    """Return a text of several lines in which all but its line ends is visible.

    Spaces of any width are: French and Japanese are written with others than ' '.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_visible(line, spaces="Zs") for line in lines)


def _visible(text: str, spaces: str = "") -> str:
    """Return a text spelled out, but for spaces of a category."""
    if text.isprintable():
        return text
    return "".join(
        sign
        if sign.isprintable() or unicodedata.category(sign) == spaces or _joins(text, position)
        else _spelled(sign)
        for position, sign in enumerate(text)
    )


def _joins(text: str, position: int) -> bool:
    """Return whether a joiner is at this position, between two non-ASCII signs."""
    neighbors = text[position - 1 : position] + text[position + 1 : position + 2]
    joined = len(neighbors) == 2 and neighbors.isprintable() and min(neighbors) > "\x7f"
    return text[position] in _JOINERS and joined


def _spelled(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
