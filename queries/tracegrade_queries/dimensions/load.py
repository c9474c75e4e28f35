"""Reads mapping files: their first error, with its line."""

from collections.abc import Collection, Iterator
from pathlib import Path

from tracegrade_queries.dimensions.mapping import KEYS, DimensionMapping
from tracegrade_queries.errors import DimensionsInvalid
from tracegrade_queries.files.shape import parse_as
from tracegrade_queries.files.yaml_source import Problem, SourceFile, read_file


def load_mapping(path: Path, taken: Collection[str] = ()) -> DimensionMapping:
    """Return the mapping in a file.

    Args:
        path: The file.
        taken: Names that a dimension may not have.

    Raises:
        DimensionsInvalid: It cannot be read, or holds errors; the first is named with its line.
    """
    source = read_file(path, "mapping file", "give a YAML file", DimensionsInvalid)
    found, problems = (None, []) if source.problems else parse_as(DimensionMapping, KEYS, source)
    problems = [*source.problems, *problems, *_taken_names(source, found, taken)]
    if problems or found is None:
        rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        msg = f"{problems[0]}{rest}"
        raise DimensionsInvalid(msg)
    return found


def _taken_names(
    source: SourceFile, found: DimensionMapping | None, taken: Collection[str]
) -> Iterator[Problem]:
    for name in found.dimensions if found else ():
        if name in taken:
            fact = f"'{name}' is the name of a column or filter of runs"
            yield source.problem(("dimensions", name), fact, "choose another name")
