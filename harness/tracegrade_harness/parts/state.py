"""The state of a part, or of a whole environment: its objects by name."""

from collections.abc import Mapping
from typing import TypeAlias

State: TypeAlias = Mapping[str, str]
"""Object name → digest of its whole content. Names start with the kind and the name of the part:
`files:data/clean/orders.csv`, `sqlite:ledger/runs/17`."""
