"""Reads the header of a file with a metric in SQL: what the metric says about itself."""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from pydantic import ValidationError

from tracegrade_scoring.metric_definition import OwnMetric


class MetricFault(NamedTuple):
    """A fault that keeps a metric from being used."""

    origin: str
    """The file or distribution."""
    code: str
    """Code of the kind of fault."""
    message: str
    """Fact and way out."""

    def __str__(self) -> str:
        """Return it on one line."""
        return f"{self.origin}: {self.code}: {self.message}"


ReadMetric: TypeAlias = OwnMetric | MetricFault

_KEYS: Final = ("Metric", "Version", "Range", "Better", "Kind", "Unit", "Label", "Reads")
_NEEDED: Final = ("Metric", "Version", "Range", "Better", "Kind", "Reads")
_PART: Final = re.compile(rf"({'|'.join(_KEYS)}): *(.+)")
_NUMBER: Final = r"-?\d+(?:\.\d+)?"
_RANGE: Final = re.compile(rf"({_NUMBER})?\.\.({_NUMBER})?")
_EXAMPLE: Final = (
    "write `-- Metric: NAME   Version: 1   Range: 0..1   Better: less|none|more   "
    "Kind: share|count|ratio|task_mean   Unit: UNIT` and `-- Reads: RELATION, ...` below a "
    "first line that says what it measures"
)


def read_metric(path: Path) -> ReadMetric:
    """Return the metric that a file of SQL defines, or the fault in its header."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return MetricFault(str(path), "not_readable", f"{error}; give a readable file in UTF-8")
    return metric_of(text, str(path))


def metric_of(text: str, origin: str) -> ReadMetric:
    """Return the metric of a text of SQL, or the fault in its header.

    Args:
        text: Comment lines, then one SELECT.
        origin: The file or distribution, for messages.
    """
    header = list(takewhile(lambda line: line.startswith("--"), text.lstrip().splitlines()))
    lines = [line.removeprefix("--").strip() for line in header]
    values = dict(_parts(lines))
    if missing := [key for key in _NEEDED if key not in values]:
        return MetricFault(
            origin, "bad_header", f"it does not say {', '.join(missing)}; {_EXAMPLE}"
        )
    bounds = _RANGE.fullmatch(values["Range"].strip())
    if bounds is None:
        fact = f"'{values['Range']}' is not a range; write 0..1, 0.. or .."
        return MetricFault(origin, "bad_header", fact)
    meaning = " ".join(takewhile(lambda line: not _PART.match(line), lines)).strip()
    if not meaning:
        return MetricFault(
            origin, "bad_header", f"its first line does not say what it is; {_EXAMPLE}"
        )
    query = "\n".join(text.lstrip().splitlines()[len(header) :]).strip().removesuffix(";")
    return _metric(values, bounds, {"meaning": meaning, "sql": query}, origin)


def _parts(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield keys and values; several of a line have two or more spaces between them."""
    for line in lines:
        for part in re.split(r"\s{2,}", line):
            if found := _PART.fullmatch(part):
                yield found[1], found[2]


def _metric(
    values: Mapping[str, str], bounds: re.Match[str], rest: Mapping[str, str], origin: str
) -> ReadMetric:
    low, high = (None if bound is None else float(bound) for bound in bounds.groups())
    stated = {key: values[key.capitalize()] for key in ("version", "better", "kind")}
    others = {
        key: values[key.capitalize()] for key in ("unit", "label") if key.capitalize() in values
    }
    reads = sorted(each.strip() for each in values["Reads"].split(","))
    fields = {**stated, **others, **rest, "name": values["Metric"], "low": low, "high": high}
    return metric_from({**fields, "reads": reads}, origin, _EXAMPLE)


def metric_from(fields: Mapping[str, object], origin: str, way_out: str) -> ReadMetric:
    """Return the metric with these fields, or the fault in the first invalid one.

    Args:
        fields: Fields of a definition; without unit they are runs, without label its name.
        origin: The file or distribution, for messages.
        way_out: Way out for a message.
    """
    defaults = {"unit": "runs", "label": words_of(str(fields["name"])), "origin": origin}
    try:
        return OwnMetric.model_validate({**defaults, **fields})
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]).capitalize()
        code = "bad_name" if key == "Name" else "bad_header"
        fact = f"'{first['input']}' cannot be its {key}: {first['msg']}; {way_out}"
        return MetricFault(origin, code, fact)


def words_of(name: str) -> str:
    """Return the name of a metric as words: `late_refunds` as `Late refunds`."""
    return name.replace("_", " ").capitalize()
