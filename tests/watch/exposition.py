"""A parser of Prometheus' text format, written from its description."""

import re
from typing import NamedTuple

SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
ESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


class Sample(NamedTuple):
    """One value of a series."""

    name: str
    labels: dict[str, str]
    value: float


def parse(text: str) -> list[Sample]:
    """Return the samples of a text; each has a type before it, and no series is there twice."""
    found: list[Sample] = []
    typed: set[str] = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in typed
            assert kind == "gauge"
            typed.add(name)
        elif not line.startswith("# HELP "):
            found.append(_sample(line))
            assert found[-1].name in typed
    series = [(each.name, tuple(sorted(each.labels.items()))) for each in found]
    assert len(series) == len(set(series))
    assert not text or text.endswith("\n")
    return found


def _sample(line: str) -> Sample:
    match = SAMPLE.fullmatch(line)
    assert match, line
    name, inside, value = match.groups()
    labels, rest = {}, inside or ""
    while rest:
        label = LABEL.match(rest)
        assert label, line
        labels[label[1]] = re.sub(r"\\.", lambda each: ESCAPED[each[0]], label[2])
        rest = rest[label.end() :]
    return Sample(name, labels, float(value))
