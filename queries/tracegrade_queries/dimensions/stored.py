"""The mapping that a lake keeps, for builds that are given none."""

import json
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pydantic import ValidationError

from tracegrade_lake import Column, Lake, Table
from tracegrade_lake.columns import INTEGER, TEXT
from tracegrade_queries.dimensions.mapping import NO_MAPPING, DimensionMapping
from tracegrade_queries.errors import DimensionsInvalid

DIMENSION_DEFINITIONS: Final = Table(
    name="dimension_definitions",
    grain="one dimension of the mapping file, or an attribute that is a label of every run",
    columns=(
        Column(
            "kind",
            TEXT,
            "release | agent | task | dimension | kept_attribute | unfinished (the runs are not "
            "all labeled by it yet).",
        ),
        Column("name", TEXT, "Name of the dimension or attribute; '' for the others."),
        Column("position", INTEGER, "Position in the file, counted from 0."),
        Column("definition", TEXT, "JSON list of its sources; NULL for the last two kinds."),
    ),
    partition_by=(),
)
"""The mapping that a lake's runs were labeled by last; without rows if there is none."""

KEPT, UNFINISHED = "kept_attribute", "unfinished"


class StoredMapping(NamedTuple):
    """The mapping of a lake, and how far its runs follow it."""

    mapping: DimensionMapping | None = None
    """None without a file."""
    span_attributes: frozenset[str] = frozenset(NO_MAPPING.span_names())
    """Attributes of spans that all runs have in their labels, if they have them."""
    unfinished: bool = False
    """Some runs may be labeled by another mapping."""


def stored_mapping(lake: Lake) -> StoredMapping:
    """Return the mapping that the lake keeps.

    Raises:
        DimensionsInvalid: Another version wrote it.
    """
    rows = _rows(lake)
    span_attributes = frozenset(row["name"] for row in rows if row["kind"] == KEPT)
    unfinished = any(row["kind"] == UNFINISHED for row in rows)
    return StoredMapping(
        _mapping(lake, [row for row in rows if row["definition"] is not None]),
        span_attributes if rows else StoredMapping().span_attributes,
        unfinished,
    )


def _mapping(lake: Lake, rows: list[dict[str, Any]]) -> DimensionMapping | None:
    values: dict[str, Any] = {"version": 1, "dimensions": {}}
    for row in rows:
        definition = json.loads(row["definition"])
        if row["kind"] == "dimension":
            values["dimensions"][row["name"]] = definition
        else:
            values[row["kind"]] = definition
    try:
        return DimensionMapping.model_validate(values) if rows else None
    except ValidationError as error:
        msg = (
            f"the mapping that the lake at {lake.location} keeps is of another version; give it "
            "again with --dimensions, or drop it with --forget-dimensions"
        )
        raise DimensionsInvalid(msg) from error


def store_mapping(lake: Lake, stored: StoredMapping) -> None:
    """Let this be the mapping of a lake; nothing is written if it is, or if there is none."""
    rows = _definitions(stored.mapping) if stored.mapping else []
    if stored != StoredMapping():
        rows += [
            _row(KEPT, name, place, None)
            for place, name in enumerate(sorted(stored.span_attributes))
        ]
    if stored.unfinished:
        rows.append(_row(UNFINISHED, "", 0, None))
    if rows != _rows(lake):
        schema = DIMENSION_DEFINITIONS.arrow()
        lake.replace(DIMENSION_DEFINITIONS, pa.Table.from_pylist(rows, schema))


def _definitions(mapping: DimensionMapping) -> list[dict[str, Any]]:
    values = mapping.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    named = [(kind, "", values[kind]) for kind in ("release", "agent", "task") if kind in values]
    others = [("dimension", *each) for each in values.get("dimensions", {}).items()]
    found = [*named, *others] or [("release", "", [])]
    return [
        _row(kind, name, place, json.dumps(definition, ensure_ascii=False))
        for place, (kind, name, definition) in enumerate(found)
    ]


def _row(kind: str, name: str, position: int, definition: str | None) -> dict[str, Any]:
    return {"kind": kind, "name": name, "position": position, "definition": definition}


def _rows(lake: Lake) -> list[dict[str, Any]]:
    dataset = lake.dataset(DIMENSION_DEFINITIONS.name)
    rows = dataset.to_table().to_pylist() if dataset else []
    return sorted(rows, key=lambda row: (_ORDER.get(row["kind"], 0), row["position"]))


_ORDER: Final = {KEPT: 1, UNFINISHED: 2}
