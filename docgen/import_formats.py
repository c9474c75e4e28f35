"""The page of the formats that `tracegrade import` reads."""

import sys
from collections.abc import Mapping
from types import ModuleType

from docgen.pages import code, page, prose
from tracegrade_collector.importing.known_formats import FORMATS, ImportFormat


def pages() -> Mapping[str, str]:
    """Return the page by its path below `docs/`."""
    sections = (f"## {each.name}\n\n{prose(description(each.name))}" for each in FORMATS)
    text = page(
        "Import formats",
        "`tracegrade import FILE --lake LAKE` finds the format of each file by its content: the "
        f"first of {_names()} that fits. `--format NAME` names it instead. Files may be "
        "compressed with gzip or Zstandard. Records that were imported before are not added "
        "again. Fields that a format does not know are counted by reason. A record that cannot be "
        "read is named by file and line; the others are imported, and the command ends with 2. A "
        "JSON document of one object is held in memory and must not exceed 64 MiB; lines, lists, "
        "Parquet and `.eval` archives are read record by record.",
        *sections,
    )
    return {"reference/import-formats.md": text}


def description(name: str) -> str:
    """Return the description of a format: the docstring of the module that reads it."""
    [found] = [each for each in FORMATS if each.name == name]
    return _module(found).__doc__ or ""


def _names() -> str:
    return ", ".join(code(each.name) for each in FORMATS)


def _module(format_: ImportFormat) -> ModuleType:
    """Return the module that reads a format, whose docstring describes it."""
    return sys.modules[format_.read.__module__]
