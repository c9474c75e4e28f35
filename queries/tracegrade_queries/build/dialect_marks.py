"""Matches the marks of each dialect with names in spans, to find the dialects that may read them.

The engine would compile a mark again for each name, since its pattern is a value; here each is
compiled once.
"""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_queries.build.dialect_header import Dialect


def marked_names(names: pa.ChunkedArray, known: Iterable[Dialect]) -> pa.Table:
    """Return the names that match a mark of a dialect, with the dialect.

    Args:
        names: Distinct names; NULL matches no mark.
        known: The dialects; one without marks has no rows.

    Returns:
        A row for each dialect and name of its own: dialect, name.
    """
    schema = pa.schema({"dialect": pa.string(), "name": pa.string()})
    found = [
        pa.table([pa.repeat(dialect.name, len(own)), own.combine_chunks()], schema=schema)
        for dialect in known
        if dialect.marks
        for own in [names.filter(pc.match_substring_regex(names, "|".join(dialect.marks)))]
    ]
    return pa.concat_tables([schema.empty_table(), *found])
