"""Lakes as an earlier version wrote them: columns that were renamed bear their former names.

Files are rewritten in place, with what the log says of columns and sizes, so that all that is
noted of files and versions stays true.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_lake import Lake, Table
from tracegrade_queries.engine.layers import BUILT, higher_layers


def with_former_names(lake: Lake) -> set[str]:
    """Let columns of a local lake bear their former names; return the tables that have some."""
    tables = [table for layer in (BUILT, *higher_layers()) for table in layer.tables]
    older = [table for table in tables if table.former_names() and lake.version(table.name)]
    for table in older:
        _rewrite(lake.root / table.name, table)
    return {table.name for table in older}


def _rewrite(folder: Path, table: Table) -> None:
    names = {name: former for former, name in table.former_names().items()}
    for path in folder.rglob("*.parquet"):
        with pq.ParquetFile(path) as file:
            rows = file.read()
        renamed = [names.get(name, name) for name in rows.column_names]
        pq.write_table(pa.table(rows.columns, names=renamed), path)
    for path in (folder / "_delta_log").glob("*.json"):
        entries = [json.loads(line) for line in path.read_text().splitlines()]
        for entry in entries:
            _rename(entry, names, folder)
        path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))


def _rename(entry: dict[str, Any], names: dict[str, str], folder: Path) -> None:
    if "metaData" in entry:
        schema = json.loads(entry["metaData"]["schemaString"])
        for field in schema["fields"]:
            field["name"] = names.get(field["name"], field["name"])
        entry["metaData"]["schemaString"] = json.dumps(schema)
    if "add" in entry and (path := folder / entry["add"]["path"]).exists():
        entry["add"]["size"] = path.stat().st_size
