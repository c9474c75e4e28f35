"""Options that several commands have."""

from typing import Annotated

import typer

LakeOption = Annotated[
    str, typer.Option(envvar="TRACEGRADE_LAKE", help="Folder or URL.", metavar="LAKE")
]

LevelOption = Annotated[
    float, typer.Option(min=0.5, max=0.999, help="Share of intervals that hold the true value.")
]
