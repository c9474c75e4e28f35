"""The query in the editor of the SQL page: a reader's own, or a saved one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tracegrade_explorer.own_queries import own_query
from tracegrade_queries.engine.layers import find_query, saved

VALUE: Final = "p."
"""Before the name of a query's parameter in an address."""
PARAMETER: Final = re.compile(r"\$([a-zA-Z_]\w*)")
QUOTED: Final = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
HEADER: Final = re.compile(r"(?:--[^\n]*\n)+")


@dataclass(frozen=True)
class Draft:
    """A query in the editor."""

    name: str
    """The name of the saved query; '' for a reader's own."""
    summary: str
    comment: str
    """The header of a built-in query."""
    text: str
    by: str
    """The person who saved it; '' if it is not saved."""
    on: str
    """The date; '' if it is not known."""
    values: Mapping[str, str]
    """The values of its parameters, as far as they are given."""

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The value of each parameter, '' for none."""
        return [(name, self.values.get(name, "")) for name in parameters_of(self.text)]

    @property
    def has_values(self) -> bool:
        """Whether each parameter has been given a value."""
        return all(name in self.values for name, _ in self.fields)

    @property
    def is_own(self) -> bool:
        """Whether a person saved it in the lake."""
        return bool(self.name) and self.name not in saved()


def own_draft(pairs: Iterable[tuple[str, str]]) -> Draft:
    """Return the reader's own query of an address or form: `q`, and `p.NAME` for its values."""
    given = dict(pairs)
    return Draft("", "", "", given.get("q", ""), "", "", _values(given))


def saved_draft(lake: str, name: str, pairs: Iterable[tuple[str, str]]) -> Draft | None:
    """Return a saved query, or the reader's own if the form has another text; None if unknown.

    Args:
        lake: Path or URL of the lake.
        name: Of the query.
        pairs: As of `own_draft`.
    """
    own = own_draft(pairs)
    found = _saved_draft(lake, name, own.values)
    return own if found and own.text.strip() not in {"", found.text.strip()} else found


def _saved_draft(lake: str, name: str, values: Mapping[str, str]) -> Draft | None:
    """Return a saved query, the comment before a built-in one apart."""
    if built_in := saved().get(name):
        text = find_query(name)
        header = HEADER.match(text)
        end = header.end() if header else 0
        return Draft(name, built_in.summary, text[:end], text[end:], "built in", "", values)
    own = own_query(lake, name)
    return own and Draft(own.name, "", "", own.text, own.by, own.on, values)


def parameters_of(text: str) -> list[str]:
    """Return the names of a query's parameters in their order, those in texts left out."""
    return list(dict.fromkeys(PARAMETER.findall(QUOTED.sub("", text))))


def _values(given: Mapping[str, str]) -> dict[str, str]:
    return {
        key.removeprefix(VALUE): value for key, value in given.items() if key.startswith(VALUE)
    }
