"""Says on pages with rates that runs were scored by several definitions."""

from tracegrade_explorer.responses import PageRequest
from tracegrade_scoring.rendering.mixed_definitions import Mixed, mixed_by_agent, mixed_sentences
from tracegrade_scoring.rendering.rows import read_rows


def several_definitions(request: PageRequest) -> list[str]:
    """Return a sentence for each agent whose scores cannot be compared; looked up once a state."""

    def made() -> Mixed:
        return mixed_by_agent(read_rows(request.con, "mixed_definitions", releases=None))

    mixed: Mixed = request.snapshot.cached("mixed definitions", made)
    return [*mixed_sentences(mixed)]
