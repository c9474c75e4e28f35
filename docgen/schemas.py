"""The files that users write: JSON Schemas of suites, task, judge and watch files, and pages."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from docgen.pages import anchor, cell, code, page, prose, table
from tracegrade_harness.loading.schema import suite_schema_text
from tracegrade_judges.judge_file.schema import judge_schema_text
from tracegrade_scoring.tasks.schema import tasks_schema_text
from tracegrade_watch.rules.schema import watch_schema_text

Schema = Mapping[str, Any]
_IN_ROWS: Final = 2
"""The depth to which a type is written in its row."""


def pages() -> Mapping[str, str]:
    """Return the pages and the published schemas by their paths, seen from `docs/`."""
    return {
        "../harness/suite.schema.json": suite_schema_text(),
        "../scoring/tasks.schema.json": tasks_schema_text(),
        "../scoring/judges.schema.json": judge_schema_text(),
        "../scoring/watch.schema.json": watch_schema_text(),
        "reference/suite.md": _page(
            "Keys of a suite",
            "`tracegrade harness check SUITE` checks a suite, `tracegrade harness schema` prints "
            "this as a JSON Schema for editors.",
            suite_schema_text(),
        ),
        "reference/task-file.md": _page(
            "Keys of a task file",
            "`tracegrade tasks check FILE` checks one, `tracegrade tasks schema` prints this as a "
            "JSON Schema for editors. [The definitions](../metrics.md) say what each means for "
            "scores.",
            tasks_schema_text(),
        ),
        "reference/judge-file.md": _page(
            "Keys of a judge file",
            "`tracegrade judge check FILE` checks one, `tracegrade judge schema` prints this as a "
            "JSON Schema for editors.",
            judge_schema_text(),
        ),
        "reference/watch-file.md": _page(
            "Keys of a watch file",
            "`tracegrade watch --rules FILE` reads one, `tracegrade watch schema` prints this as "
            "a JSON Schema for editors. [The guide](../guides/watch.md) has examples.",
            watch_schema_text(),
        ),
    }


def _page(title: str, introduction: str, text: str) -> str:
    schema: Schema = json.loads(text)
    definitions: Mapping[str, Schema] = schema.get("$defs", {})
    sections = (
        block
        for name, definition in sorted(definitions.items())
        if "properties" in definition
        for block in (f"## {name}", *_blocks(definition, definitions))
    )
    return page(title, introduction, *_blocks(schema, definitions), *sections)


def _blocks(schema: Schema, definitions: Mapping[str, Schema]) -> Iterator[str]:
    """Yield an object's description, and a table of its keys."""
    yield prose(schema.get("description", ""))
    required = schema.get("required", ())
    rows = (
        [
            code(name),
            _type(each, definitions),
            "required" if name in required else _default(each),
            cell(each.get("description", "")),
        ]
        for name, each in schema.get("properties", {}).items()
    )
    yield table(["key", "value", "default", "what it says"], rows)


def _default(schema: Schema) -> str:
    value = schema.get("default")
    if isinstance(value, bool):
        return code(str(value).lower())
    return "" if value in (None, "") or isinstance(value, list | dict) else code(value)


def _type(schema: Schema, definitions: Mapping[str, Schema], depth: int = 0) -> str:
    """Return the possible values in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        named = definitions[name]
        if "properties" in named:
            return f"[{name}](#{anchor(name)})"
        return _type(named, definitions, depth)
    kinds = schema.get("anyOf") or schema.get("oneOf")
    if kinds:
        shown = (_type(each, definitions, depth) for each in kinds if each != {"type": "null"})
        return " or ".join(dict.fromkeys(shown))
    if "const" in schema:
        return code(schema["const"])
    if "enum" in schema:
        return ", ".join(map(code, schema["enum"]))
    return _of_type(schema, definitions, depth)


def _of_type(schema: Schema, definitions: Mapping[str, Schema], depth: int) -> str:
    kind = schema.get("type", "any value")
    if isinstance(kind, list):
        named = (each for each in kind if each != "null")
        return " or ".join(
            _of_type({**schema, "type": each}, definitions, depth) for each in named
        )
    inner = schema.get("items") or schema.get("additionalProperties")
    if kind in {"array", "object"} and isinstance(inner, Mapping) and inner and depth < _IN_ROWS:
        what = "list of" if kind == "array" else "mapping to"
        return f"{what} {_type(inner, definitions, depth + 1)}"
    return {"array": "list", "object": "mapping", "string": "text"}.get(kind, str(kind))
