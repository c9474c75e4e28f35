"""The mapping file: the attributes that name a run's release, agent, task and other dimensions.

Each has a list of sources. The first with a value counts; a run without any keeps what it has
without the file. Example: `{version: 1, dimensions: {arm: [{root: experiment.arm}]}}`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import pyarrow as pa
import re2
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from tracegrade_lake.columns import BOOLEAN, INTEGER, MAP, TEXT
from tracegrade_queries.engine.relations import table

MOST_DIMENSIONS: Final = 8
MOST_SOURCES: Final = 16
"""Sources of one list."""

MAX_NAME_CHARS: Final = 256
MAX_PATTERN_CHARS: Final = 500

RELEASE, AGENT, TASK = "release", "agent", "task"
"""Dimensions with a column of their own."""

SECRET: Final = re.compile(
    r"(?i)(^|[._-])(authorization|cookie|token|password|secret|api[_-]?key|credentials?)$"
)
"""Ends of the names of attributes that are never labels; also in `resource_labels.sql`."""

AttributeName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]


class AttributeSource(BaseModel):
    """One source of a dimension: an attribute, or the model."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    attribute: AttributeName | None = None
    """Name of an attribute, wherever it is: of the root span, of other agent spans, of the
    resource, of other spans."""
    root: AttributeName | None = None
    """Name of an attribute of the root span."""
    span: AttributeName | None = None
    """Name of an attribute of any span."""
    resource: AttributeName | None = None
    """Name of an attribute of the resource."""
    computed: Literal["model"] | None = Field(default=None, alias="from")
    """model: the model with the most tokens."""
    where: Annotated[dict[str, str], Field(max_length=4)] = Field(default_factory=dict)
    """Values that other attributes of the same span must have."""
    pattern: Annotated[str, Field(max_length=MAX_PATTERN_CHARS)] | None = None
    """RE2; the value is its first group, or else all that it matches."""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"attribute": value} if isinstance(value, str) else value

    @field_validator("pattern")
    @classmethod
    def _is_pattern(cls, value: str | None) -> str | None:
        try:
            if value is not None:
                re2.compile(value, _quiet())
        except re2.error as error:
            msg = f"'{value}' is not valid RE2: {_words(error)}; correct the pattern"
            raise ValueError(msg) from error
        return value

    @model_validator(mode="after")
    def _has_one_source(self) -> "AttributeSource":
        given = [self.attribute, self.root, self.span, self.resource, self.computed]
        if sum(each is not None for each in given) != 1:
            msg = "it has not one source; give one of attribute, root, span, resource, from"
            raise ValueError(msg)
        if self.where and self.span is None:
            msg = "only a span has conditions; give span together with where"
            raise ValueError(msg)
        if SECRET.search(self.name or ""):
            msg = (
                f"'{self.name}' may hold a secret, so it is never a label; name another attribute"
            )
            raise ValueError(msg)
        return self

    @property
    def name(self) -> str | None:
        """The name of the attribute; None for the model."""
        return self.attribute or self.root or self.span or self.resource

    @property
    def label(self) -> str | None:
        """The name under which spans' values are kept."""
        conditions = "".join(f"[{name}={self.where[name]}]" for name in sorted(self.where))
        return self.name and self.name + conditions

    @property
    def of_spans(self) -> bool:
        """Whether an attribute of a span may be its value."""
        return bool(self.attribute or self.root or self.span)

    def labels(self) -> Sequence[str | None]:
        """Return the labels that may hold its value, the first first; None is the model."""
        label = self.label
        root, others = f"root:{label}", (f"agent:{label}", f"other:{label}")
        if self.attribute:
            return (root, others[0], self.attribute, others[1])
        if self.span:
            return (root, *others)
        return (root,) if self.root else (self.resource,)

    def extracting(self) -> str | None:
        """Return the pattern with a first group; None without one."""
        if self.pattern is None or re2.compile(self.pattern, _quiet()).groups:
            return self.pattern
        return f"({self.pattern})"


def _quiet() -> Any:
    """Return RE2's options without its log lines on stderr."""
    options = re2.Options()
    options.log_errors = False
    return options


def _words(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Sources = Annotated[
    list[AttributeSource],
    BeforeValidator(_as_list),
    Field(max_length=MOST_SOURCES),
]
DimensionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class DimensionMapping(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    version: Literal[1]
    release: Sources = Field(default_factory=list)
    agent: Sources = Field(default_factory=list)
    task: Sources = Field(default_factory=list)
    dimensions: Annotated[dict[DimensionName, Sources], Field(max_length=MOST_DIMENSIONS)] = Field(
        default_factory=dict
    )

    def sources(self) -> Iterator[tuple[str, AttributeSource]]:
        """Yield each dimension with its sources, in their order."""
        named = {RELEASE: [*self.release, *DEFAULT_RELEASE], AGENT: self.agent, TASK: self.task}
        for name, sources in {**named, **self.dimensions}.items():
            for source in sources:
                yield name, source

    def span_names(self) -> set[str]:
        """Return the names of the attributes of spans that it reads."""
        names = {s.name for _, s in self.sources() if s.of_spans and s.name}
        return names.union(*(s.where for _, s in self.sources()))


DEFAULT_RELEASE: Final = (
    AttributeSource(resource="service.version"),
    AttributeSource(attribute="gen_ai.agent.version"),
    AttributeSource(attribute="langfuse.release"),
    AttributeSource(
        resource="container.image.tags", pattern=r'(?:^|[":])([\w][\w.-]*)"?(?:,|\]|$)'
    ),
    AttributeSource(resource="vcs.ref.head.revision"),
)
"""Sources of the release without a file, and after those of a file."""

NO_MAPPING: Final = DimensionMapping(version=1)
"""Reads the release alone."""

_LABEL_RUNGS: Final = pa.schema({"label": TEXT, "name": TEXT, "conditions": MAP})
_DIMENSION_RUNGS: Final = pa.schema(
    {
        "dimension": TEXT,
        "position": INTEGER,
        "label": TEXT,
        "pattern": TEXT,
        "mixed_label": TEXT,
        "is_model": BOOLEAN,
    }
)


def label_rungs(mapping: DimensionMapping) -> pa.Table:
    """Return the attributes that a build keeps for a mapping, as the relation `label_rungs`.

    Columns: `label`, `name`, and `conditions` on other attributes of the span.
    """
    found = {
        source.label: (source.label, source.name, sorted(source.where.items()))
        for _, source in mapping.sources()
        if source.name
    }
    return table(_LABEL_RUNGS, found.values())


def dimension_rungs(mapping: DimensionMapping) -> pa.Table:
    """Return the labels that may hold a dimension's value, as the relation `dimension_rungs`."""
    rows = [
        (name, label, source.extracting(), source.label and f"mixed:{source.label}")
        for name, source in mapping.sources()
        for label in source.labels()
    ]
    return table(
        _DIMENSION_RUNGS,
        [
            (name, position, label, pattern, mixed, label is None)
            for position, (name, label, pattern, mixed) in enumerate(rows)
        ],
    )


KEYS: Final[Mapping[str, type[BaseModel]]] = {
    name: AttributeSource for name in (RELEASE, AGENT, TASK, "dimensions")
}
"""The class of the mappings under each key of a file."""
