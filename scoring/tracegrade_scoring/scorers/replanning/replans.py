"""Decides which changes of a plan are replans.

Its own module because finding the same steps in two plans takes an order of preference, which SQL
expresses badly. Source: docs/metrics.md, section 4.6.
"""

from collections.abc import Sequence

from tracegrade_scoring.attempts.plan_steps import PlanStep, is_finished, is_marked, matches


def is_replan(before: Sequence[PlanStep], after: Sequence[PlanStep], done: Sequence[bool]) -> bool:
    """Return whether steps other than finished ones were added, removed or reordered.

    Args:
        before: A plan.
        after: The next plan.
        done: For each step of `before`, whether a call finished it before the next plan. Counts
            only where neither plan marks its steps.
    """
    marked = is_marked(before) or is_marked(after)
    pairs = matches(before, after)
    finished = {i for i, step in enumerate(before) if (is_finished(step) if marked else done[i])}
    finished |= {i for i, j in pairs.items() if is_finished(after[j])}
    dropped = {pairs[i] for i in finished if i in pairs}
    rest = [i for i in range(len(before)) if i not in finished]
    new_rest = [j for j in range(len(after)) if j not in dropped and not is_finished(after[j])]
    return [pairs.get(i) for i in rest] != new_rest
