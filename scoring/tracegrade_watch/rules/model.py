"""The format of `watch.yaml`: what is watched, and the limits of each rule."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

MOST_RULES: Final = 200

RuleId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$")]
_RunMode = Literal["production", "live", "mocked"]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

KIND_KEYS: Final = (
    *("smallest", "drift", "day_above", "day_below"),
    *("failure_mode", "issue", "silence_hours", "unscored_minutes"),
)
"""Keys of which each rule has one: the kind of the rule."""
_OF_METRICS: Final = frozenset(("smallest", "drift", "day_above", "day_below"))
_WITH_RUNS: Final = frozenset(("failure_mode", "issue", "day_above", "day_below"))
_OF_LAKE: Final = frozenset(("unscored_minutes",))


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WatchDefaults(_Strict):
    """Values of rules that do not give their own."""

    agent: str | None = Field(default=None, description="Agent; all agents without it.")
    run_mode: _RunMode | None = Field(
        default=None, description="Run mode of the runs; each mode by itself without it."
    )
    alpha: Annotated[float, Field(gt=0, le=0.5)] = Field(
        default=0.05,
        description="Probability that any `smallest` rule ever fires for a release without a "
        "change; all of them share it.",
    )
    min_days: Annotated[int, Field(ge=5, le=365)] = Field(
        default=5, description="Days with runs that a release needs before it is compared."
    )


class DriftLimits(_Strict):
    """How a drift inside a release is found."""

    reference_days: Annotated[int, Field(ge=5, le=365)] = Field(
        default=14, description="First days of a release, with which the later ones are compared."
    )
    alarms_per_year: Annotated[float, Field(gt=0, le=12)] = Field(
        default=1, description="False alarms that are acceptable on average."
    )


class WatchRule(_Strict):
    """One rule; it has one of the keys that say what it watches."""

    id: RuleId = Field(description="Name of the rule in alerts and outputs.")
    metric: str | None = Field(default=None, description="Metric that the rule watches.")
    smallest: Positive | None = Field(
        default=None,
        description="Fires if the newest release is worse than the one before; this is the "
        "smallest change that matters, in units of the metric.",
    )
    drift: DriftLimits | None = Field(
        default=None, description="Fires if the newest release gets worse than in its first days."
    )
    day_above: float | None = Field(
        default=None, description="Fires if the mean of the newest day is above this number."
    )
    day_below: float | None = Field(
        default=None, description="Fires if the mean of the newest day is below this number."
    )
    failure_mode: Literal["any_new"] | None = Field(
        default=None,
        description="Fires if the newest release shows a failure mode that no release before did.",
    )
    issue: Literal["reopened", "new"] | None = Field(
        default=None, description="Fires for each issue in this state."
    )
    silence_hours: Positive | None = Field(
        default=None, description="Fires if no run was received for so many hours."
    )
    unscored_minutes: Positive | None = Field(
        default=None, description="Fires if a received run waits for its scores for so long."
    )
    by: str | None = Field(
        default=None,
        description="Dimension of the mapping file; each of its values is watched by itself.",
    )
    runs: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Runs that must show a failure mode (3) or an issue (1), or that a day needs "
        "for `day_above` and `day_below` (10).",
    )
    agent: str | None = Field(default=None, description="As under `defaults`.")
    run_mode: _RunMode | None = Field(default=None, description="As under `defaults`.")

    @property
    def kind(self) -> str:
        """The key that says what the rule watches."""
        return next(key for key in KIND_KEYS if getattr(self, key) is not None)

    @model_validator(mode="after")
    def _has_one_kind(self) -> Self:
        kinds = [key for key in KIND_KEYS if getattr(self, key) is not None]
        if len(kinds) != 1:
            names = " and ".join(kinds) or "none"
            msg = f"the rule has {names} of the keys that say what it watches; give one of these: "
            raise ValueError(msg + ", ".join(KIND_KEYS))
        self._check_keys(kinds[0])
        return self

    def _check_keys(self, kind: str) -> None:
        if (self.metric is None) == (kind in _OF_METRICS):
            verb = "needs" if self.metric is None else "has"
            msg = f"a rule with {kind} {verb} a metric; "
            raise ValueError(msg + ("add one" if self.metric is None else "leave it out"))
        for key, kinds in (("by", _OF_METRICS), ("runs", _WITH_RUNS)):
            if getattr(self, key) is not None and kind not in kinds:
                msg = f"a rule with {kind} has no '{key}'; leave it out"
                raise ValueError(msg)
        if kind in _OF_LAKE and (self.agent is not None or self.run_mode is not None):
            msg = f"{kind} is about the whole lake; leave out agent and run_mode"
            raise ValueError(msg)


class WatchFile(_Strict):
    """The rules of a lake."""

    version: Literal[1] = Field(description="Version of the format.")
    defaults: WatchDefaults = WatchDefaults()
    watch: Annotated[tuple[WatchRule, ...], Field(max_length=MOST_RULES, strict=False)] = Field(
        description="The rules."
    )
    explorer: Annotated[str, Field(pattern=r'^https?://[^\s|<>"]{1,500}$')] | None = Field(
        default=None, description="Address of `tracegrade ui`, to which messages link."
    )
    notify: Annotated[tuple[dict[str, Any], ...], Field(max_length=20, strict=False)] = Field(
        default=(), description="Destinations of alerts; docs/guides/watch.md lists them."
    )

    def of(self, rule: WatchRule) -> WatchRule:
        """Return a rule with the defaults for the agent and run mode that it does not give.

        They do not count as keys that the file gives.
        """
        if rule.kind in _OF_LAKE:
            return rule
        given = {
            key: getattr(self.defaults, key)
            for key in ("agent", "run_mode")
            if getattr(rule, key) is None and getattr(self.defaults, key) is not None
        }
        return WatchRule.model_construct(rule.model_fields_set, **{**dict(rule), **given})


KEYS: Final[dict[str, type[BaseModel]]] = {
    "defaults": WatchDefaults,
    "watch": WatchRule,
    "drift": DriftLimits,
}
"""The class of the mappings under each key."""
