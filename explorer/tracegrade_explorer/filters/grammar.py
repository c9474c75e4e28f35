"""Parses filters from page addresses and writes them back; pure, and exact in both directions.

`agent=support&release=1.4.2&tsa=0..0.5&sort=-tsa`: a name repeats for "or", `~` is an unknown
name, and a name that begins with `~` has one more before it. A range includes its two ends, which
may be left out. A run without a value is in no range; `~` selects it. Metrics of users' own are
keys of ranges in the lakes that have their scores.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from tracegrade.suggestions import did_you_mean
from tracegrade_explorer.errors import BadFilter
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.rendering.times import WAYS, parse_time
from tracegrade_scoring.run_states import RunState

TEXTS: Final[Mapping[str, str]] = {
    "agent": "agent_name",
    "release": "release",
    "task": "task_id",
    "category": "task_category",
    "run_mode": "run_mode",
    "outcome": "outcome",
    "conversation": "conversation_id",
    "reason": "reason",
}
"""Keys of names, each with its column of the index."""
LISTS: Final[Mapping[str, str]] = {
    "failure": "failures", "dialect": "dialects", "model": "models", "tool": "tools",
}  # fmt: skip
"""Keys of names that a run may have several times, or not at all."""
NUMBERS: Final[Mapping[str, str]] = {
    "steps": "step_count",
    "calls": "tool_call_count",
    "errors": "error_count",
    "tokens": "tokens",
    "cost_usd": "cost_usd",
    "duration_ms": "duration_ms",
    "findings": "finding_count",
    **{name: name for name in METRICS},
}
"""Keys of ranges, each with its column of the index; metrics have their own names, and those of
users' own no column."""
_POSITIONS: Final = {key: position for position, key in enumerate(NUMBERS)}
NAMED: Final = {**TEXTS, **LISTS}
_PLACES: Final = {key: place for place, key in enumerate(NAMED)}
LEVELS: Final = ("root", "sub_agent", "all")
YES, NO = "yes", "no"
STARTED: Final = "started"
"""The order of a list unless another is asked for: newest first."""
SETTINGS: Final = (
    "since", "until", "received", "request", "level", "counted", "complete", "state", "sort",
    "after", "cols",
)  # fmt: skip
FORMER: Final[Mapping[str, str]] = {"asked": "request"}
"""Keys that addresses had before, and may have for good: links are shared."""
KEYS: Final = (*NAMED, *NUMBERS, *SETTINGS)
UNKNOWN: Final = "~"
MOST_VALUES: Final = 100
"""In one address; it has 8 kB at most."""
COLUMNS: Final = ("tsa", "step_efficiency", "sub_goal_completion")
"""Numbers of a list unless others are asked for."""
MOST_COLUMNS: Final = 8


class Range(NamedTuple):
    """From one number to another, both included; None where an end is open."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Filter:
    """A choice of runs, an order and a start; equal filters have equal addresses."""

    names: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    """By key of `NAMED` or dimension of the lake, sorted; None is a name that is not known, of
    lists an empty one."""
    ranges: Mapping[str, Range | None] = field(default_factory=dict)
    """By key of `NUMBERS` or metric of users' own; None asks for runs without a value."""
    since: datetime | None = None
    """UTC; runs whose start is not known are neither before nor after."""
    until: datetime | None = None
    """UTC, itself excluded."""
    received: tuple[date, date] | None = None
    """First and last date on which the trace was first received, UTC."""
    request: str = ""
    """A text in the beginning of the request, in any case."""
    level: str = "root"
    counted: bool | None = None
    """Whether a run counts in rates. Three kinds of runs do not count: killed on purpose, sent in
    addition to the run of their trial, or replaced by a later run of it. None selects both.
    """
    sort: str = STARTED
    """A key of `NUMBERS`, the name of a metric of users' own, or `started`."""
    descending: bool = False
    """Largest first; of `started`, oldest first."""
    after: str | None = None
    """Id of the run after which a list begins: it outlives a scoring run, as no number would."""
    columns: tuple[str, ...] = COLUMNS
    complete: bool | None = None
    """Whether its end has come; None asks for both."""
    state: RunState | None = None
    """What it is at the time of the request; None asks for all."""

    def narrowed(self, key: str, value: str | None) -> "Filter":
        """Return the filter with one more name of that key, from the beginning of its list."""
        names = {*self.names.get(key, ()), value}
        return self.replaced(names={**self.names, key: _sorted(names)})

    def without(self, key: str, value: str | None = None) -> "Filter":
        """Return the filter without a range, or without one name of a key."""
        if key in self.names:
            left = tuple(name for name in self.names.get(key, ()) if name != value)
            names = {**self.names, key: left} if left else {**self.names}
            if not left:
                names.pop(key, None)
            return self.replaced(names=names)
        return self.replaced(ranges={k: each for k, each in self.ranges.items() if k != key})

    def within(self, key: str, low: float | None, high: float | None) -> "Filter":
        """Return the filter with this range of a number in place of another one."""
        return self.replaced(ranges={**self.ranges, key: Range(low, high)})

    def sorted_by(self, key: str) -> "Filter":
        """Return the filter ordered by that number; the other way round if it is already."""
        return self.replaced(
            sort=key, descending=not self.descending if self.sort == key else key != STARTED
        )

    def beginning_after(self, trajectory_id: str | None) -> "Filter":
        """Return the filter whose list begins after that run."""
        return replace(self, after=trajectory_id)

    def replaced(self, **changes: object) -> "Filter":
        """Return the filter with changes, from the beginning of its list."""
        return replace(self, **{"after": None, **changes})  # type: ignore[arg-type]

    @cached_property
    def query(self) -> str:
        """The part of an address behind the question mark; '' if every run is meant."""
        return urlencode(to_pairs(self))

    @cached_property
    def runs_alone(self) -> "Filter":
        """The choice and order of runs, without the choice of columns."""
        return replace(self, after=None, columns=COLUMNS)

    @property
    def conditions_alone(self) -> "Filter":
        """The choice of runs, without an order."""
        return replace(self.runs_alone, sort=STARTED, descending=False)


def parse_filter(
    pairs: Iterable[tuple[str, str]],
    own: Collection[str] = (),
    zone: tzinfo = UTC,
    dimensions: Collection[str] = (),
) -> Filter:
    """Return the filter in the parameters of an address.

    Args:
        pairs: The parameters.
        own: Names of the lake's metrics of users' own.
        zone: Where the days of the reader begin.
        dimensions: Dimensions of the lake's mapping file.

    Raises:
        BadFilter: A key is not known, or a value does not fit its key.
    """
    given = list(pairs)
    if len(given) > MOST_VALUES:
        msg = f"a filter of {len(given)} values; leave out some, {MOST_VALUES} are the most"
        raise BadFilter(msg)
    names: dict[str, set[str | None]] = {}
    ranges: dict[str, Range | None] = {}
    settings: dict[str, str] = {}
    for key, value in given:
        if key in NAMED or key in dimensions:
            names.setdefault(key, set()).add(_name(value))
        elif key in NUMBERS or key in own:
            ranges[key] = _range(key, value)
        elif (now := FORMER.get(key, key)) in SETTINGS:
            settings[now] = value
        else:
            raise BadFilter(_unknown("filter", key, (*KEYS, *own, *dimensions)))
    return Filter(
        {key: _sorted(names[key]) for key in _named_in_order(names)},
        {key: ranges[key] for key in _in_order(ranges)},
        **_settings(settings, own, zone),  # type: ignore[arg-type]
    )


def parse_query(text: str) -> Filter:
    """Return the filter in the part of an address after the question mark.

    Raises:
        BadFilter: As `parse_filter`.
    """
    return parse_filter(parse_qsl(text, keep_blank_values=True))


def to_pairs(run_filter: Filter) -> list[tuple[str, str]]:
    """Return the parameters of an address, in a fixed order, without defaults."""
    return [*_pairs(run_filter)]


def number_text(value: float) -> str:
    """Return a number as an address writes it, exactly."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _pairs(run_filter: Filter) -> Iterator[tuple[str, str]]:
    for key in _named_in_order(run_filter.names):
        yield from ((key, name_text(name)) for name in run_filter.names[key])
    yield from ((key, _range_text(run_filter.ranges[key])) for key in _in_order(run_filter.ranges))
    order = f"{'-' if run_filter.descending else ''}{run_filter.sort}"
    settings = {
        "since": run_filter.since and run_filter.since.isoformat(),
        "until": run_filter.until and run_filter.until.isoformat(),
        "received": run_filter.received and _dates_text(*run_filter.received),
        "request": run_filter.request,
        "level": "" if run_filter.level == LEVELS[0] else run_filter.level,
        "counted": {True: YES, False: NO, None: ""}[run_filter.counted],
        "complete": {True: YES, False: NO, None: ""}[run_filter.complete],
        "state": run_filter.state,
        "sort": "" if order == STARTED else order,
        "after": run_filter.after,
        "cols": "" if run_filter.columns == COLUMNS else ",".join(run_filter.columns),
    }
    yield from ((key, text) for key, text in settings.items() if text)


def _named_in_order(names: Iterable[str]) -> list[str]:
    """Return keys of names in the order of `NAMED`, dimensions last, by name."""
    return sorted(names, key=lambda key: (_PLACES.get(key, len(NAMED)), key))


def _in_order(ranges: Iterable[str]) -> list[str]:
    """Return keys of ranges in the order of `NUMBERS`, users' own metrics last, by name."""
    return sorted(ranges, key=lambda key: (_POSITIONS.get(key, len(NUMBERS)), key))


def _sorted(names: Iterable[str | None]) -> tuple[str | None, ...]:
    return tuple(sorted(set(names), key=lambda name: (name is not None, name or "")))


def _name(text: str) -> str | None:
    if text == UNKNOWN:
        return None
    return text[1:] if text.startswith(UNKNOWN) else text


def name_text(name: str | None) -> str:
    """Return a name as an address writes it; None is an unknown name."""
    if name is None:
        return UNKNOWN
    return UNKNOWN + name if name.startswith(UNKNOWN) else name


def _range(key: str, text: str) -> Range | None:
    if text == UNKNOWN:
        return None
    low, dots, high = text.partition("..")
    if not dots:
        value = _number(key, text)
        return Range(value, value)
    found = Range(_number(key, low) if low else None, _number(key, high) if high else None)
    if found.low is not None and found.high is not None and found.low > found.high:
        msg = f"{key}={text} ends before it begins; write the lower end first"
        raise BadFilter(msg)
    return found


def _range_text(given: Range | None) -> str:
    if given is None:
        return UNKNOWN
    if given.low is not None and given.low == given.high:
        return number_text(given.low)
    return "..".join("" if end is None else number_text(end) for end in given)


def _number(key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        msg = f"{key}={text} is not a range; write {key}=0..0.5, {key}=2.., {key}=~ or one number"
        raise BadFilter(msg)
    return value + 0.0  # no negative zero, which would be another address


def _settings(given: Mapping[str, str], own: Collection[str], zone: tzinfo) -> dict[str, object]:
    """Return the fields of a filter that are set; an empty text from a form sets none."""
    read: dict[str, Callable[[str], object]] = {
        "since": lambda text: _time("since", text, zone),
        "until": lambda text: _time("until", text, zone),
        "received": _dates,
        "request": str,
        "level": lambda text: _one_of("level", text, LEVELS),
        "counted": lambda text: _one_of("counted", text, (YES, NO)) == YES,
        "complete": lambda text: _one_of("complete", text, (YES, NO)) == YES,
        "state": lambda text: RunState(_one_of("state", text, [*RunState])),
        "after": str,
    }
    found = {key: read[key](given[key]) for key in read if given.get(key)}
    if given.get("sort"):
        key = given["sort"].removeprefix("-")
        found["sort"] = _one_of("sort", key, (STARTED, *NUMBERS, *own))
        found["descending"] = given["sort"].startswith("-")
    if given.get("cols"):
        found["columns"] = _columns(given["cols"].split(","), (*NUMBERS, *own))
    return found


def _columns(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    if len(names) > MOST_COLUMNS:
        msg = f"cols names {len(names)} columns; {MOST_COLUMNS} are the most"
        raise BadFilter(msg)
    return tuple(dict.fromkeys(_one_of("cols", name, known) for name in names))


def _time(key: str, text: str, zone: tzinfo) -> datetime:
    if (time := parse_time(text, zone=zone)) is None:
        msg = f"{key}={text} is not a time; write {WAYS}"
        raise BadFilter(msg)
    return time


def _dates(text: str) -> tuple[date, date]:
    first, _, last = text.partition("..")
    try:
        dates = date.fromisoformat(first), date.fromisoformat(last or first)
    except ValueError:
        dates = date.max, date.min
    if dates[0] > dates[1]:
        msg = f"received={text} is not a date; write 2026-11-21, or 2026-11-01..2026-11-21"
        raise BadFilter(msg)
    return dates


def _dates_text(first: date, last: date) -> str:
    return f"{first}" if first == last else f"{first}..{last}"


def _one_of(key: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise BadFilter(_unknown(key, value, known))
    return value


def _unknown(what: str, value: str, known: Sequence[str]) -> str:
    hint = did_you_mean(value, known) or f"known: {', '.join(known)}"
    return f"{what} '{value[:80]}' is not known; {hint}"
