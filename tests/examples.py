"""How many random cases a test tries."""

import os

MANY = 200
"""Of what takes long, in `make chaos`, which says `EXAMPLES=many`."""
FEW = os.environ.get("EXAMPLES") == "few"
"""Whether a tenth of them is enough, as `make check` says."""


def examples(count: int) -> int:
    """Return how many to try of so many."""
    return max(1, count // 10) if FEW else count


def many(count: int) -> int:
    """Return how many to try of what takes long: so many, or `MANY` where that is asked for."""
    return MANY if os.environ.get("EXAMPLES") == "many" else examples(count)
