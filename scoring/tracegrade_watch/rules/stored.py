"""The rules that a lake stores, for runs of `watch` that are given none."""

import json
from typing import Any, Final

import pyarrow as pa
import yaml
from pydantic import ValidationError

from tracegrade_lake import Column, Lake, Table
from tracegrade_lake.columns import INTEGER, TEXT
from tracegrade_lake.tables import rows_of
from tracegrade_watch.errors import WatchRefused
from tracegrade_watch.rules.model import WatchFile, WatchRule

WATCH_RULES: Final = Table(
    name="watch_rules",
    grain="one rule that the lake was watched by last, or another part of the file",
    columns=(
        Column("part", TEXT, "Part of the file: defaults | explorer | notify | watch."),
        Column("id", TEXT, "Id of the rule; '' for the other parts."),
        Column("position", INTEGER, "Position among the rules, counted from 0."),
        Column("definition", TEXT, "JSON, with the keys that the file gives."),
    ),
    partition_by=(),
)

WATCH: Final = "watch"
"""The part of the rules."""
OTHER_PARTS: Final = ("defaults", "explorer", "notify")


def stored_rules(lake: Lake) -> WatchFile | None:
    """Return the rules that the lake stores; None if it has none.

    Raises:
        WatchRefused: Another version wrote them.
    """
    rows = _rows(lake)
    if not rows:
        return None
    parts = {row["part"]: json.loads(row["definition"]) for row in rows}
    watched = [json.loads(row["definition"]) for row in rows if row["part"] == WATCH]
    values = {**parts, "version": 1, WATCH: watched}
    try:
        return WatchFile.model_validate(values)
    except ValidationError as error:
        msg = (
            f"the rules that the lake at {lake.location} stores are of another version; give them "
            "again with --rules"
        )
        raise WatchRefused(msg) from error


def store_rules(lake: Lake, rules: WatchFile) -> None:
    """Let the lake store the rules for later runs; nothing is written if it does."""
    values = rules.model_dump(mode="json", exclude_unset=True)
    rows = [_row(part, "", 0, values[part]) for part in OTHER_PARTS if part in values]
    rows += [_row(WATCH, each["id"], place, each) for place, each in enumerate(values[WATCH])]
    if rows != _rows(lake):
        lake.replace(WATCH_RULES, pa.Table.from_pylist(rows, WATCH_RULES.arrow()))


def _rows(lake: Lake) -> list[dict[str, Any]]:
    rows = rows_of(lake, WATCH_RULES).to_pylist()
    return sorted(rows, key=lambda row: (row["part"], row["position"]))


def _row(part: str, rule: str, position: int, definition: Any) -> dict[str, Any]:
    text = json.dumps(definition, ensure_ascii=False)
    return {"part": part, "id": rule, "position": position, "definition": text}


def rule_line(rule: WatchRule) -> str:
    """Return a rule on one line, as the file may have it."""
    values = _whole(rule.model_dump(mode="json", exclude_unset=True))
    text = yaml.safe_dump(values, default_flow_style=True, sort_keys=False, width=10_000)
    return " ".join(text.split())


def _whole(value: Any) -> Any:
    """Return a value whose whole numbers have no fraction."""
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value
