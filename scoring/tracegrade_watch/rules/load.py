"""Reads `watch.yaml`: its first error, with its line."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tracegrade.suggestions import did_you_mean
from tracegrade_queries.files.shape import parse_as
from tracegrade_queries.files.yaml_source import Problem, SourceFile, read_file
from tracegrade_scoring.metrics import Metric, Scale
from tracegrade_watch.errors import WatchRefused
from tracegrade_watch.rules.model import KEYS, WatchFile, WatchRule

USAGE_METRICS = ("cost_usd_per_run", "tokens_per_run", "steps_per_run")
"""Facts of runs that `day_above` and `day_below` may watch in addition to metrics."""


class KnownNames(NamedTuple):
    """What the rules of a lake may name."""

    metrics: Mapping[str, Metric]
    dimensions: Collection[str]


def load_rules(path: Path, known: KnownNames) -> WatchFile:
    """Return the rules in a file.

    Raises:
        WatchRefused: It cannot be read, or holds errors; the first is named with its line.
    """
    source = read_file(path, "watch file", "give a YAML file", WatchRefused)
    found, problems = (None, []) if source.problems else parse_as(WatchFile, KEYS, source)
    problems = [*source.problems, *problems]
    if found is not None:
        problems += _name_problems(source, found, known)
    if problems or found is None:
        rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        msg = f"{problems[0]}{rest}"
        raise WatchRefused(msg)
    return found


def check_names(rules: WatchFile, known: KnownNames) -> None:
    """Check the names of rules that the lake stores.

    Raises:
        WatchRefused: A metric or dimension no longer exists.
    """
    for problem in _name_problems(SourceFile("the lake's rules", None, {}, []), rules, known):
        msg = f"{problem.file}: {problem.fact}; {problem.way_out}, with --rules"
        raise WatchRefused(msg)


def _name_problems(source: SourceFile, rules: WatchFile, known: KnownNames) -> Iterator[Problem]:
    ids = [rule.id for rule in rules.watch]
    for place, rule in enumerate(rules.watch):
        if rule.id in ids[:place]:
            fact = f"two rules have the id '{rule.id}'"
            yield source.problem(("watch", place, "id"), fact, "give each its own")
        if rule.metric is not None:
            for fact, way_out in _metric_problems(rule, rule.metric, known.metrics):
                yield source.problem(("watch", place, "metric"), fact, way_out)
        if rule.by is not None and rule.by not in known.dimensions:
            fact = f"runs have no dimension '{rule.by}'"
            yield source.problem(("watch", place, "by"), fact, _dimensions(rule.by, known))


def _metric_problems(
    rule: WatchRule, name: str, metrics: Mapping[str, Metric]
) -> Iterator[tuple[str, str]]:
    is_fact = rule.kind.startswith("day_")
    allowed = [*metrics, *(USAGE_METRICS if is_fact else ())]
    if name not in allowed:
        way_out = did_you_mean(name, allowed) or "`tracegrade metrics list` names all"
        yield f"no metric is named '{name}'", way_out
        return
    if name in metrics and name in USAGE_METRICS:
        yield (
            f"'{name}' names a metric of yours and a fact of runs",
            "give your metric another name",
        )
    if is_fact:
        return
    if not metrics[name].better:
        yield (
            f"neither more nor less of {name} is better, so no change of it is a regression",
            "use day_above or day_below",
        )
    elif rule.drift and metrics[name].scale is not Scale.SHARE:
        yield f"{name} is not between 0 and 1, which drift needs", "use smallest or day_above"


def _dimensions(name: str, known: KnownNames) -> str:
    names: Sequence[str] = sorted(known.dimensions)
    listed = f"known dimensions: {', '.join(names)}" if names else "the lake has no mapping file"
    return did_you_mean(name, names) or f"{listed} (score --dimensions FILE)"
