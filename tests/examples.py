"""How many random cases a test tries."""

import os

FEW = os.environ.get("EXAMPLES") == "few"
"""Whether a tenth of them is enough, as `make check` says."""


def examples(count: int) -> int:
    """Return how many to try of so many."""
    return max(1, count // 10) if FEW else count
