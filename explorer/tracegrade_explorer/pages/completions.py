"""`/completions.json`: completions for the filter of a list."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from tracegrade_explorer.errors import PageMissing
from tracegrade_explorer.filters.grammar import (
    LEVELS,
    NAMED,
    NO,
    NUMBERS,
    SETTINGS,
    STARTED,
    UNKNOWN,
    YES,
    Filter,
    name_text,
    number_text,
)
from tracegrade_explorer.filters.typed import TypedWord, typed_words, written
from tracegrade_explorer.pages.cells import metrics_of
from tracegrade_explorer.pages.facets import facet_rows
from tracegrade_explorer.pages.runs import LABELS, label_of
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.snapshots.snapshot import Row, read_cached, read_matching
from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering import words
from tracegrade_scoring.run_states import RunState

OWN: Final = ("typed",)
CHOICES: Final = 12
NAMES: Final = 1_000
"""Names of a facet among which one may be looked for, those of most runs."""
CHOSEN: Final = {
    "level": LEVELS,
    "counted": (YES, NO),
    "complete": (YES, NO),
    "state": (*RunState,),
    "sort": (STARTED, *NUMBERS),
}
"""Keys that take one of a few words."""
HINTS: Final = {
    "since": "started at or after, UTC",
    "until": "started before, UTC",
    "received": "first and last date, as 2026-11-01..2026-11-07",
    "request": "a text in the request",
    "level": "sub-agents' runs too",
    "counted": "runs that count in rates",
    "complete": "runs with an end",
    "state": "running, silent, cut off, ended and not scored, or scored",
    "sort": "- before it: largest first",
    "cols": "columns of numbers, as duration_ms,tokens,cost_usd",
}
"""Hints for settings."""


class Completion(NamedTuple):
    """One possible completion."""

    text: str
    """In place of the word that is being typed."""
    hint: str


def completions(request: PageRequest) -> PageResponse:
    """Return what may be typed next: a key, or the most frequent values of one.

    Raises:
        PageMissing: It is asked for as a page.
    """
    own, run_filter = request.split(*OWN)
    if request.form != "json":
        msg = "what can be typed next is there for programs alone, as /completions.json"
        raise PageMissing(msg)
    word = _last_word(own.get("typed", ""))
    found = [*_choices(request, run_filter, word)][:CHOICES]
    data = {"from": word.start, "choices": [choice._asdict() for choice in found]}
    return PageContent("", "", {}, data)


def _last_word(text: str) -> TypedWord:
    """Return the word that is being typed; an empty one behind a space."""
    found = typed_words(text)
    if found and found[-1].end == len(text):
        return found[-1]
    return TypedWord(len(text), len(text), "", "")


def _choices(request: PageRequest, run_filter: Filter, word: TypedWord) -> Iterator[Completion]:
    metrics = metrics_of(request)
    if not word.key:
        yield from _keys(word.value, metrics, request.snapshot.dimensions)
    elif word.key in NAMED or word.key in request.snapshot.dimensions:
        yield from _names(request, run_filter, word)
    elif word.key in NUMBERS or word.key in metrics:
        yield from _ranges(request, run_filter, word.key)
    elif word.key in CHOSEN:
        yield from (
            Completion(f"{written(word.key, value)} ", _label(value, metrics))
            for value in _matching(_chosen(word.key, metrics), word.value)
        )


def _chosen(key: str, metrics: Mapping[str, Metric]) -> Iterable[str]:
    """Return the values of a key; a list may be sorted by any metric of the lake."""
    return dict.fromkeys((*CHOSEN[key], *metrics)) if key == "sort" else CHOSEN[key]


def _keys(
    begun: str, metrics: Mapping[str, Metric], dimensions: Iterable[str]
) -> Iterator[Completion]:
    """Yield the keys that begin so; before others those that are most used."""
    keys = dict.fromkeys((*NAMED, *dimensions, *NUMBERS, *metrics, *SETTINGS))
    labels = {key: f"{key} {_label(key, metrics)}" for key in keys if key != "after"}
    found = _matching(labels.values(), begun)
    by_label = {label: key for key, label in labels.items()}
    yield from (
        Completion(f"{by_label[label]}=", _label(by_label[label], metrics)) for label in found
    )


def _label(key: str, metrics: Mapping[str, Metric]) -> str:
    if key in HINTS:
        return HINTS[key]
    return label_of(key, metrics) if key in LABELS or key in metrics else ""


def _names(request: PageRequest, run_filter: Filter, word: TypedWord) -> Iterator[Completion]:
    """Yield the names that the runs of the filter have, those of most runs first."""
    others = {key: names for key, names in run_filter.names.items() if key != word.key}
    rows = _rows(request, run_filter.replaced(names=others), word)
    runs = {row["name"]: row["runs"] for row in rows}
    for name in _matching((name for name in runs if name is not None), word.value):
        yield Completion(f"{written(word.key, name_text(name))} ", words.count(runs[name], "run"))
    if None in runs and word.value in ("", UNKNOWN):
        hint = f"not known, {words.count(runs[None], 'run')}"
        yield Completion(f"{written(word.key, UNKNOWN)} ", hint)


def _rows(request: PageRequest, run_filter: Filter, word: TypedWord) -> list[Row]:
    if word.key == "conversation":
        looked_for = {"names": CHOICES, "part": word.value}
        return read_matching(request.con, "conversation_names", run_filter, parameters=looked_for)
    rows = facet_rows(request, request.con, run_filter, NAMES)
    return [row for row in rows if row["facet"] == word.key]


def _matching(texts: Iterable[str], begun: str) -> list[str]:
    """Return the texts that contain another in any case; first those that begin with it."""
    part = begun.lower()
    found = [text for text in texts if part in text.lower()]
    return sorted(found, key=lambda text: not text.lower().startswith(part))


def _ranges(request: PageRequest, run_filter: Filter, key: str) -> Iterator[Completion]:
    """Yield ranges of a number: all of its values, and none."""
    (ends,) = read_cached(request.snapshot, request.con, "measured_ends", run_filter, measured=key)
    if ends["low"] is not None:
        low, high = number_text(ends["low"]), number_text(ends["high"])
        yield Completion(f"{key}={low}..{high}", "from the least to the largest")
        yield Completion(f"{key}=..{high}", "at most")
        yield Completion(f"{key}={low}..", "at least")
    yield Completion(f"{key}={UNKNOWN} ", "without a value")
