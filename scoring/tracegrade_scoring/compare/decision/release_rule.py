"""The rule that a release must meet: the table `[release]` of a TOML file."""

import tomllib
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tracegrade_scoring.errors import BadRule

TABLE: Final = "release"
_Percent = Annotated[str, StringConstraints(pattern=r"^\+\d{1,4}(\.\d+)?%$")]


class ShipRule(BaseModel):
    """Conditions on the candidate, compared with the base; defaults apply without a file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    min_tasks: Annotated[int, Field(ge=1)] = 10
    """Tasks that both must have run, with known success."""
    solved_margin: Annotated[float, Field(ge=0, le=100)] = 5.0
    """By how many percentage points success may be lower."""
    tasks_worse: Annotated[int, Field(ge=0)] = 0
    """Tasks that may succeed less often, by more than chance explains."""
    metrics_worse: Annotated[int, Field(ge=0)] = 0
    """Number of metrics, failure modes and critical sub-goals that may be worse."""
    kills_worse: Annotated[int, Field(ge=0)] = 0
    """Number of metrics of rollback-ability that may be worse."""
    cost_per_solved: _Percent | None = None
    """By how much a solved attempt may cost more, such as +20%; None asks nothing."""

    @property
    def cost_limit(self) -> float | None:
        """Limit of a solved attempt's cost as a multiple of the base's; None for no limit."""
        if self.cost_per_solved is None:
            return None
        return 1 + float(self.cost_per_solved[1:-1]) / 100


DEFAULT_RULE: Final = ShipRule()


def read_release_rule(path: Path) -> ShipRule:
    """Return the rule of a file.

    Raises:
        BadRule: It cannot be read, is no TOML, has no table `[release]`, or a key of the table is
            unknown or has a value that makes no sense; all of that in one line.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8")).get(TABLE)
    except (OSError, ValueError) as error:
        msg = f"cannot read the rule in {path}: {getattr(error, 'strerror', None) or error}"
        raise BadRule(msg) from error
    if not isinstance(table, dict):
        msg = f"{path} has no table [{TABLE}]; write its keys, such as min_tasks = 10, below it"
        raise BadRule(msg)
    try:
        return ShipRule.model_validate(table)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
        )
        known = ", ".join(ShipRule.model_fields)
        msg = f"cannot use [{TABLE}] in {path}: {faults}; known keys: {known}"
        raise BadRule(msg) from error
