"""A small agent's runs and its task file, for a first score before an agent of one's own.

Two releases of an order desk served the same twelve requests. `python -m demo.sample_agent` makes
the runs.
"""

from pathlib import Path
from typing import Final

RUNS: Final = Path(__file__).with_name("runs.jsonl.gz")
"""OTLP/JSON, one run a line, compressed with gzip."""

TASKS: Final = Path(__file__).with_name("tasks.yaml")
