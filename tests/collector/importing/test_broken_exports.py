"""No export is so broken that its import stops: what is wrong becomes a fault or a count."""

import copy
import random
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing import (
    test_inspect,
    test_jaeger,
    test_langfuse,
    test_langsmith,
    test_phoenix,
    test_tempo,
)
from tests.collector.importing.forms import peers, test_honeycomb, test_tau2
from tests.collector.importing.imports import written

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.known_formats import FORMATS, Sample, read_file

EXPORTS = {
    **{name: write(peers.PLAIN) for name, write in peers.WRITERS.items()},
    "honeycomb": test_honeycomb.events("t"),
    "inspect": {"eval": test_inspect.EVAL, "plan": {}, "samples": [test_inspect.sample()]},
    "jaeger": {"data": [test_jaeger.trace(*test_jaeger.weather())]},
    "langfuse": {"trace": {"id": "1"}, "observations": test_langfuse.observations()},
    "langsmith": {"runs": test_langsmith.runs()},
    "phoenix": test_phoenix.frame(),
    "tau2": test_tau2.results(test_tau2.simulation()),
    "tempo": {"batches": [test_tempo.batch(base64=True, old=True)]},
}
STRANGE: list[Any] = [
    None,
    True,
    -1,
    1.5,
    1e300,
    10**30,
    "",
    "x",
    "\ud800",
    [],
    {},
    [1],
    [[]],
    {"a": [None]},
]


def broken(value: Any, source: random.Random) -> Any:
    """Return the value with something strange in place of some of its parts."""
    value = copy.deepcopy(value)
    for _ in range(source.choice([1, 3, 20])):
        at = value
        while isinstance(at, dict | list) and at:
            key = source.choice(list(at)) if isinstance(at, dict) else source.randrange(len(at))
            if not at[key] or not isinstance(at[key], dict | list) or source.random() < 0.2:
                at[key] = copy.deepcopy(source.choice(STRANGE))
                break
            at = at[key]
    return value


@pytest.mark.parametrize("name", EXPORTS)
def test_broken_exports_never_stop_an_import(tmp_path: Path, name: str) -> None:
    """Each is read to its end as its own format, and every format can tell whether it fits."""
    source = random.Random(name)  # noqa: S311 - no secret
    for _ in range(150):
        value = broken(EXPORTS[name], source)
        parts = list(read_file(written(tmp_path, value), ReadOptions(name)))
        assert all(part.fault or part.request for part in parts)
        for record in value if isinstance(value, list) else [value]:
            for format_ in FORMATS:
                format_.fits(Sample(b"{", record, {}))
