"""The page of saved queries: the question each answers, its parameters and its columns."""

import re
from collections.abc import Iterator, Mapping

from docgen.pages import anchor, code, page, table
from tracegrade_queries.engine.layers import find_query, saved
from tracegrade_queries.engine.sql import header_lines


def pages() -> Mapping[str, str]:
    """Return the page by its path below `docs/`."""
    queries = saved()
    rows = ([f"[`{name}`](#{anchor(name)})", each.summary] for name, each in queries.items())
    text = page(
        "Saved queries",
        "`tracegrade sql --lake LAKE --saved NAME` runs one; `--param name=value` gives a value "
        "that it needs.",
        table(["query", "what it returns"], rows),
        *(block for name in queries for block in _query(name, queries[name].summary)),
    )
    return {"reference/saved-queries.md": text}


def _query(name: str, summary: str) -> Iterator[str]:
    text = find_query(name)
    yield f"## {name}"
    yield summary
    parameters = list(_declared(header_lines(text, "Parameters"), r"\$(\w+) {1,}(.*)"))
    if parameters:
        yield table(["parameter", "what it is"], ([code(n), m] for n, m in parameters))
    columns = _declared(header_lines(text, "Columns"), r"(\S+) {2,}(\S.*)")
    yield table(["column", "type", "what it holds"], map(_column, columns))
    reads = ", ".join(code(line.strip()) for line in header_lines(text, "Reads"))
    order = " ".join(header_lines(text, "Order"))
    yield f"Reads {reads}. Ordered by {code(order)}."


def _declared(lines: list[str], pattern: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of each entry; a line that is indented continues the one before it."""
    entries: list[list[str]] = []
    for line in lines:
        match = re.match(pattern, line)
        if match and not line.startswith(" "):
            entries.append([match[1], match[2]])
        elif entries:
            entries[-1][1] += f" {line.strip()}"
    yield from ((name, text) for name, text in entries)


def _column(entry: tuple[str, str]) -> list[str]:
    name, text = entry
    type_, _, meaning = text.partition("  ")
    return [code(name), type_.strip(), meaning.strip()]
