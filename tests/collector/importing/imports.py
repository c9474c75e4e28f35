"""Files written, imported into a lake and built: what the tests of all formats share."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import Imported, import_files
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect

Row = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What became of an import."""

    lake: Lake
    imported: Imported
    notes: list[str]

    @cached_property
    def built(self) -> duckdb.DuckDBPyConnection:
        """The lake with what was built of it when it was first asked for."""
        build(self.lake)
        return connect(self.lake)

    def built_in(self, con: duckdb.DuckDBPyConnection) -> "Outcome":
        """Return the same, whose spans others have built."""
        found = Outcome(self.lake, self.imported, self.notes)
        vars(found)["built"] = con
        return found

    def spans(self) -> list[Row]:
        """Return the spans of the lake as they were imported."""
        files = self.lake.newest_files("raw_spans")
        return [row for file in files for row in file.read().to_pylist()]

    def imported_rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return what a query finds in the tables that an import writes."""
        with connect(self.lake) as con:
            return con.sql(sql).fetchall()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return what a query finds in the tables built from the lake."""
        return self.built.sql(sql).fetchall()

    def steps(self) -> list[tuple[Any, ...]]:
        """Return (kind, tool, arguments, text, status) of every step in order."""
        return self.rows(
            "SELECT kind, tool_name, arguments, coalesce(content, result), status FROM steps "
            "ORDER BY trajectory_id, step_index"
        )

    def calls(self) -> list[tuple[Any, ...]]:
        """Return (tool, arguments, status) of every tool call in order."""
        return [
            (tool, args, status) for kind, tool, args, _, status in self.steps() if tool_call(kind)
        ]

    def again(self, *files: Path) -> int:
        """Return how many spans the same files add once more."""
        return import_files(self.lake, files, self.notes.append).added.total()


def tool_call(kind: str) -> bool:
    """Return whether a step of this kind is a call."""
    return kind == "tool_call"


def imported(
    folder: Path,
    *files: Path,
    format_: str = "auto",
    paths: Mapping[str, str] | None = None,
    **options: Any,
) -> Outcome:
    """Import files into a new lake in a folder; `options` as in `ReadOptions`."""
    notes: list[str] = []
    lake, reading = Lake.create(folder / "lake"), ReadOptions(format_, paths or {}, **options)
    return Outcome(lake, import_files(lake, files, notes.append, reading=reading), notes)


def written(folder: Path, value: Any, name: str = "export.json") -> Path:
    """Write a value as a JSON document."""
    path = folder / name
    path.write_text(json.dumps(value))
    return path


def written_lines(folder: Path, values: Sequence[Any], name: str = "export.jsonl") -> Path:
    """Write values as JSON lines; texts as they are."""
    path = folder / name
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    path.write_text("".join(line + "\n" for line in lines))
    return path
