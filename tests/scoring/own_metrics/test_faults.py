"""What a metric does to the process that it runs in harms nothing else."""

from pathlib import Path

import pyarrow as pa
import pytest

from tracegrade_queries.engine.no_writes import landlock_version
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.metrics import Kind
from tracegrade_scoring.own_metrics import run_apart
from tracegrade_scoring.own_metrics.run_apart import MetricAnswer, run_metrics

MODULE = """
import os, pathlib, signal, sys, threading, time
import pyarrow as pa
from tracegrade_scoring.own_metrics.python_metric import metric

@metric("mine", version="1", meaning="What it is.", reads=["attempts"], kind="count")
def mine(tables):
    ids = tables["attempts"]["attempt_id"]
    answer = pa.table({"attempt_id": ids, "numerator": [1.0] * len(ids)})
"""
ROWS = {"attempts": pa.table({"attempt_id": ["a", "b"]})}


def answer_of(folder: Path, body: str, secs: float = 30, name: str = "acme_fault") -> MetricAnswer:
    """Return what a function with this body answers."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (folder / f"{name}.py").write_text(MODULE + lines)
    metric = OwnMetric(
        name="mine", version="1", low=None, high=None, better="none", kind=Kind.COUNT, unit="runs",
        label="Mine", meaning="What it is.", reads=("attempts",), python=f"{name}:mine", origin="",
    )  # fmt: skip
    return run_metrics([metric], ROWS, secs)["mine"]


@pytest.fixture(autouse=True)
def _found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))


FAILING = {
    "raises": ("raise ValueError('no')", "ValueError: no"),
    "ends": ("sys.exit(3)", "SystemExit: 3"),
    "ends at once": ("os._exit(0)", "its process ended by itself with 0, before it answered"),
    "is ended": ("os.abort()", "its process was ended by signal 6, as for want of memory"),
    "takes memory": ("bytearray(1 << 35)", "it needs more memory than it may have"),
    "no table": ("return None", "it returns NoneType; let it return a pyarrow.Table"),
    "no column": ("return answer.drop_columns(['numerator'])", "it returns no column numerator;"),
    "one twice": (
        "return answer.append_column('numerator', answer['numerator'])",
        "it returns a column twice; name each once",
    ),
    "no numbers": (
        "return pa.table({'attempt_id': ids, 'numerator': ['x', 'y']})", "ArrowInvalid:",
    ),
    "no evidence": (
        "return answer.append_column('evidence', pa.array([1, 2]))", "TypeError:",
    ),
}  # fmt: skip
"""Bodies, and how what is said of them begins."""


@pytest.mark.parametrize(("body", "said"), FAILING.values(), ids=FAILING)
def test_failure_is_said_in_a_line(tmp_path: Path, body: str, said: str) -> None:
    """The process that asked goes on."""
    found = answer_of(tmp_path, body)
    assert isinstance(found, str)
    assert found.startswith(said)
    assert "\n" not in found


ENDLESS = {
    "busy": "while True: pass",
    "without its alarm": "signal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
    "deaf": "signal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: time.sleep(1)",
}


@pytest.mark.parametrize("body", ENDLESS.values(), ids=ENDLESS)
def test_endless_function_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    """From outside, where it has done away with its own end."""
    monkeypatch.setattr(run_apart, "_TO_START_SECS", 4.0)
    assert answer_of(tmp_path, body, 0.5) == "it took longer than 0.5 s in one bucket"


HARMLESS = {
    "prints": "print('{}', flush=True); os.write(1, b'x'); os.system('echo y')",
    "reads": "assert sys.stdin.read() == ''",
    "copies itself": "os.fork()",
    "leaves a copy": "if not os.fork(): time.sleep(1000)",
    "leaves a thread": "threading.Thread(target=time.sleep, args=(1000,)).start()",
    "leaves an end": "import atexit; atexit.register(time.sleep, 1000)",
}


@pytest.mark.parametrize("body", HARMLESS.values(), ids=HARMLESS)
def test_answer_is_the_functions(tmp_path: Path, body: str) -> None:
    """Whatever else it has said or started, which ends with it."""
    found = answer_of(tmp_path, f"{body}\nreturn answer")
    assert isinstance(found, pa.Table)
    assert found["numerator"].to_pylist() == [1, 1]


@pytest.mark.parametrize(
    "body",
    [
        "pathlib.Path(r'{file}').write_text('x')",
        "pathlib.Path(r'{file}').unlink()",
        "pathlib.Path(r'{file}').rename(r'{file}2')",
        "assert not os.system(\"echo x > '{file}'\")",
    ],
)
@pytest.mark.skipif(not landlock_version(), reason="the kernel cannot forbid writing")
def test_function_writes_no_file(tmp_path: Path, body: str) -> None:
    """Nor does what it starts: the files of a lake stay as they are."""
    file = tmp_path / "lake" / "part.parquet"
    file.parent.mkdir()
    file.write_text("rows")
    found = answer_of(tmp_path, f"{body.format(file=file)}\nreturn answer")

    assert isinstance(found, str)
    assert file.read_text() == "rows"
    assert [*file.parent.iterdir()] == [file]
