"""The arguments of tools: which values they take, and how a client describes them to a model."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

RunId: TypeAlias = Annotated[
    str, Field(pattern=r"^[\w.:-]{1,160}$", description="The run's id, or enough of its beginning")
]
RunFilter: TypeAlias = Annotated[
    str,
    Field(
        max_length=2_000,
        description="As typed in the explorer: agent=support release=1.4.2 outcome=failed "
        "tsa=0..0.5 errors=1.. since=2026-11-01 sort=-steps, each optional; other words are "
        "looked for in the request. Outcomes: succeeded, failed, ~ for unknown",
    ),
]
RunLimit: TypeAlias = Annotated[int, Field(ge=1, le=50, description="Runs at most")]
After: TypeAlias = Annotated[
    str, Field(pattern=r"^[\w.:-]{0,160}$", description="Continue after this run: `after` of next")
]
FirstStep: TypeAlias = Annotated[int, Field(ge=0, le=999_999_999, description="Index of a step")]
StepCount: TypeAlias = Annotated[int, Field(ge=1, le=100, description="Steps at most")]
Texts: TypeAlias = Annotated[
    Literal["short", "full"],
    Field(description="short: 300 characters of each text; full: 20,000, of fewer steps"),
]
StepField: TypeAlias = Annotated[
    Literal["arguments", "result", "content", "prompt"],
    Field(description="Which text; prompt is the input of the model call before the step"),
]
Offset: TypeAlias = Annotated[
    int, Field(ge=0, le=999_999_999, description="First character: `offset` of next")
]
NameInTrace: TypeAlias = Annotated[str, Field(max_length=1_000)]
Detail: TypeAlias = Annotated[
    bool, Field(description="All metrics, failure modes and tasks, not only the changes")
]
ChosenState: TypeAlias = Annotated[
    Literal["", "reopened", "new", "open", "fixed", "muted"],
    Field(description="Only issues of this state"),
]
FirstIssue: TypeAlias = Annotated[
    int, Field(ge=0, le=1_000_000, description="Issues to skip: `first` of next")
]
SearchedText: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=1_000, description="In any case")
]
SearchDate: TypeAlias = Annotated[
    str, Field(pattern=r"^(\d{4}-\d\d-\d\d)?$", description="Continue here: `date` of next")
]
QueryName: TypeAlias = Annotated[str, Field(pattern=r"^[\w-]{1,100}$")]
QueryValues: TypeAlias = Annotated[
    dict[str, str] | None, Field(description="A value for each parameter of the query")
]
Statement: TypeAlias = Annotated[str, Field(min_length=1, max_length=20_000)]
