"""`/conversations/ID`: the runs of one conversation, turn by turn."""

from typing import Final

from tracegrade_explorer import links
from tracegrade_explorer.errors import PageMissing
from tracegrade_explorer.filters.grammar import Filter
from tracegrade_explorer.pages.cells import MARKS
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.snapshots.snapshot import read
from tracegrade_scoring.rendering import words

ROWS: Final = 500


def conversation(request: PageRequest) -> PageResponse:
    """Return the turns of a conversation."""
    name = request.path["id"]
    rows = read(request.con, "conversation_runs", conversation_id=name, rows=ROWS)
    if not rows:
        msg = f"no run belongs to a conversation '{name}'; /runs lists those that there are"
        raise PageMissing(msg)
    within = Filter(names={"conversation": (name,)}, descending=True)
    view = {
        "name": words.name(name),
        "turns": [
            {**row, "href": links.run(row["trajectory_id"], within), "mark": MARKS[row["outcome"]]}
            for row in rows
        ],
        "more": rows[0]["total"] - len(rows),
        "runs_href": links.runs(within),
    }
    title = f"Conversation {words.name(name)}"
    return PageContent("conversation", title, view, {"runs": rows}, [*rows[0]], rows)
