"""The rows are the same for every locale, time zone and number of cores."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]

CAPTURES = ("langgraph_traceloop", "openai-agents_openinference_responses__toolerror")
"""Of two dialects; one where a call fails."""


def digests(cores: int, **environment: str) -> str:
    """Return the digests of the captures' rows, as made in such a place."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.row_digests", "--cores", str(cores), *CAPTURES],
        env={**os.environ, **environment},
        cwd=PROJECT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.mark.slow
def test_rows_are_the_same_wherever_they_are_made() -> None:
    """Two machines that share nothing but the code and the spans."""
    here = digests(1, TZ="UTC", LC_ALL="C.UTF-8", PYTHONHASHSEED="1")
    there = {"TZ": "Asia/Tokyo", "LC_ALL": "tr_TR.ISO-8859-9", "PYTHONUTF8": "0"}
    far = digests(8, **there, PYTHONHASHSEED="2", PYTHONINTMAXSTRDIGITS="640")

    assert here == far
    assert "captures trajectory_scores" in here
