"""A run as one HTML file that needs nothing else: no script, no network, no font."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Final, NamedTuple

from jinja2 import Template

from tracegrade_scoring.rendering.kill_pages import KillLine
from tracegrade_scoring.rendering.page import RunPage, no_page, page_style, page_template
from tracegrade_scoring.tasks.model import Task
from tracegrade_scoring.timeline.cards.read import NO_CARDS, RunCards
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.plan.plan_card import plan_card, run_calls
from tracegrade_scoring.timeline.plan.plans import plan_changes
from tracegrade_scoring.timeline.view import (
    LOOSE_TITLE,
    SUB_AGENTS_TITLE,
    failed_steps,
    timeline_view,
)

STYLES: Final = ("page.css", "plan/plan.css", "cards/cards.css")
LONG: Final = 400
"""A text with more characters is folded away; a page opens it without a script."""


class PageLinks(NamedTuple):
    """Where the page of a run leads to."""

    home: str = ""
    """Address of the page that names it; '' without one."""
    kills: Sequence[KillLine] = ()
    """Its own kill, or the kills that repeat it."""


NO_LINKS: Final = PageLinks()


def run_styles() -> list[str]:
    """Return the style sheets of a run's page, besides that of all pages."""
    own = files("tracegrade_scoring.timeline")
    return [(own / name).read_text("utf-8") for name in STYLES]


def run_template(run_page: RunPage = no_page) -> Template:
    """Return what pages of runs are made with: once for many of them.

    Args:
        run_page: Says where other runs have their pages.
    """
    return page_template("tracegrade_scoring.timeline", run_page)


def render_html(
    timeline: Timeline,
    links: PageLinks = NO_LINKS,
    template: Template | None = None,
    task: Task | None = None,
    cards: RunCards = NO_CARDS,
) -> str:
    """Return the run as the text of one HTML file.

    Args:
        timeline: The run.
        links: Where the page leads to.
        template: Of `run_template`; None for one page alone.
        task: Its task's definition; None if it is not known.
        cards: Its wrong decisions and its agents.
    """
    view = timeline_view(timeline)
    changes = plan_changes(timeline.plans)
    calls = run_calls(timeline, failed_steps(view), task)
    return (template or run_template()).render(
        cards=cards,
        changes=changes,
        home=links.home,
        kills=links.kills,
        lake=timeline.lake,
        long=LONG,
        loose_title=LOOSE_TITLE,
        plan=plan_card(timeline, changes, calls, "#s{}".format),
        sub_agents_title=SUB_AGENTS_TITLE,
        style=page_style(*run_styles()),
        view=view,
    )
