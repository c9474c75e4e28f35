"""Resources: the meaning of tables, columns and metrics, and the saved queries."""

from collections.abc import Callable
from typing import Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from tracegrade.errors import TracegradeError
from tracegrade.suggestions import did_you_mean
from tracegrade_explorer.mcp_server.frame import Listing, framed, framed_rows, without_nothing
from tracegrade_explorer.mcp_server.lake_answers import LakeAnswers
from tracegrade_explorer.pages.cells import metrics_of
from tracegrade_explorer.pages.sql import sql
from tracegrade_explorer.responses import PageContent, PageRequest

SCHEME: Final = "tracegrade://"
TYPE: Final = "application/json"


def add_resources(server: MCPServer, answers: LakeAnswers) -> None:
    """Add the resources to a server."""
    resources = LakeResources(answers)
    for address, read in (
        ("tables", resources.tables),
        ("tables/{name}", resources.table),
        ("metrics/{name}", resources.metric),
        ("queries", resources.queries),
    ):
        server.resource(SCHEME + address, name=read.__name__, mime_type=TYPE)(read)


class LakeResources:
    """Explanations of the data, for a model."""

    def __init__(self, answers: LakeAnswers) -> None:
        """Describe one lake."""
        self._answers = answers

    async def tables(self) -> str:
        """Tables that SQL may read, with their rows and content."""
        tables = (await self._read(sql))["tables"]
        rows = [{key: each[key] for key in ("name", "rows", "summary")} for each in tables]
        return framed_rows({}, Listing("tables", rows, _all))

    async def table(self, name: str) -> str:
        """One table: its columns, with type and meaning."""
        tables = (await self._read(sql))["tables"]
        found = {each["name"]: each for each in tables}
        return framed(_known(found, name, "table"))

    async def metric(self, name: str) -> str:
        """One metric: its meaning, its count, which way is better."""
        return framed(_known(await self._read(metrics), name, "metric"))

    async def queries(self) -> str:
        """Saved queries, built in and of this lake, with their parameters."""
        rows = [without_nothing(each) for each in (await self._read(sql))["queries"]]
        return framed_rows({}, Listing("queries", rows, _all))

    async def _read(self, make: Callable[[PageRequest], Any]) -> Any:
        try:
            return await self._answers.page(make)
        except TracegradeError as error:
            raise ResourceError(str(error)) from None


def metrics(request: PageRequest) -> PageContent:
    """Return the metrics of a lake by name, users' own among them."""
    data = {
        name: without_nothing({
            "name": name, "label": metric.label, "meaning": metric.meaning,
            "definition": metric.definition, "scale": metric.scale,
            "better": {1: "more", -1: "less"}.get(metric.better, "neither"),
            "counts": metric.unit,
        })
        for name, metric in metrics_of(request).items()
    }  # fmt: skip
    return PageContent("", "", {}, data)


def _known(found: dict[str, Any], name: str, kind: str) -> dict[str, Any]:
    """Return one of these by name.

    Raises:
        ResourceNotFoundError: None has this name.
    """
    if name in found:
        one: dict[str, Any] = found[name]
        return one
    hint = did_you_mean(name, [*found]) or f"there are {len(found)}"
    msg = f"no {kind} has this name; {hint}"
    raise ResourceNotFoundError(msg)


def _all(_count: int) -> None:
    """Return that nothing follows."""
