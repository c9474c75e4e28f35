"""The page of tables: every table and view of a lake, with its columns."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from tracegrade_lake.columns import Struct
from tracegrade_queries.engine.comments import Described, Relation, relations

INTRODUCTION: Final = """\
# Tables

Every table and view of a lake, and what each column holds. `make docs` writes this page from the
declarations of the tables. A connection shows the same texts as comments:

```
tracegrade sql "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'steps'"
```

Types are those of DuckDB; structs (`EVENT`, `SCORE`, …) are described [at the end](#structs).
Metrics are defined in [metrics.md](metrics.md), words in the [glossary](glossary.md).
"""


def pages() -> Mapping[str, str]:
    """Return the page by its path below `docs/`."""
    found = list(relations())
    contents = "".join(f"- [{each.name}](#{each.name}): {each.summary}\n" for each in found)
    structs = "\n".join(f"### {each.name}\n\n{_struct(each)}" for each in _structs(found))
    sections = [INTRODUCTION, contents, *map(_section, found), f"## Structs\n\n{structs}"]
    return {"tables.md": "\n".join(sections)}


def _section(relation: Relation) -> str:
    columns = (
        f"Columns are those of [{relation.like}](#{relation.like}).\n"
        if relation.like
        else _table("column", relation.columns)
    )
    return f"## {relation.name}\n\n{relation.summary}\n\n{columns}"


def _struct(struct: Struct) -> str:
    return f"A value is {struct.grain}.\n\n{_table('field', map(Described.of, struct.fields))}"


def _table(what: str, columns: Iterable[Described]) -> str:
    rows = "".join(f"| `{c.name}` | {c.type} | {_cell(c.meaning)} |\n" for c in columns)
    return f"| {what} | type | what it holds |\n|---|---|---|\n{rows}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _structs(found: Iterable[Relation]) -> Iterator[Struct]:
    """Yield each struct once, in the order of the page."""
    structs = (column.struct for relation in found for column in relation.columns)
    yield from dict.fromkeys(struct for struct in structs if struct)
