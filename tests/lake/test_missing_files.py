"""Reading files that were removed, as an erasure does to a reader of an object store."""

import subprocess
import sys

from tests.citations import ROOT
from tests.waiting import PATIENCE_SECS


def test_reads_of_missing_files_end_with_an_error_each_time() -> None:
    """The scanner of pyarrow itself waits forever after about eighty of them."""
    program = [sys.executable, "-m", "tests.lake.missing_files", "500"]

    found = subprocess.run(
        program, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECS, check=True
    )

    assert found.stdout == "500\n"
