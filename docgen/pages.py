"""Markdown that several generated pages have in common."""

import re
from collections.abc import Iterable, Sequence


def page(title: str, *blocks: str) -> str:
    """Return a page: its title, then blocks with an empty line between them."""
    return "\n\n".join([f"# {title}", *(block.strip("\n") for block in blocks if block)]) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; its cells may hold Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)


def cell(text: str) -> str:
    """Return a text as a cell of a table: on one line, with `|` escaped."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def code(text: object) -> str:
    """Return a value as code, and nothing for an empty one; it may hold a backtick."""
    shown = str(text)
    if "`" in shown:
        return f"`` {shown} ``"
    return f"`{shown}`" if shown else ""


def anchor(heading: str) -> str:
    """Return the fragment that a site gives a heading."""
    letters = re.sub(r"[^\w\- ]", "", heading.lower())
    return re.sub(r"\s+", "-", letters.strip())


def prose(text: str) -> str:
    """Return a docstring as paragraphs: one line each, without its indentation."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
