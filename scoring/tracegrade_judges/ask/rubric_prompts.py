"""The prompts of judges with a user's own rubric: its text, how to answer, and what to cite.

As in `prompts.py`, they hold nothing of a trace. The rubric comes from the judge file.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

from tracegrade_judges.ask.prompts import ACTIONS, ANY_STEP, DATA
from tracegrade_judges.judge_file.model import Rubric
from tracegrade_judges.judge_file.rubric_places import ANSWER_PARTS, filled

_CRITERION: Final = """
Read what you need with the tools, then call `verdict` once, and nothing else with it:
{asked}
- evidence_steps: the indexes of the steps that show it. {citing}
- quote: text of one of these steps that decides, copied exactly, at most a few lines.
- reason: one or two sentences.
"""
_ANSWER: Final = """
Call `verdict` once:
{asked}
- quote: text of the agent's answer that decides, copied exactly.
- reason: one or two sentences.
"""
_YES_OR_NO: Final = (
    '- met: "yes" only if what is recorded meets these instructions; "no" if it does not; '
    '"cannot_tell" if what would decide was not recorded.'
)
_SCORE: Final = (
    "- score: from 0 (not at all) to 1 (in all), as these instructions say; null if what would "
    "decide was not recorded."
)
_CITING: Final = {
    "planning": "With a yes or a high score, a plan or a thought is among them.",
    "served": "With a yes or a high score, the call itself is among them.",
}


def rubric_instructions(
    rubric: Rubric,
    subject: str,
    values: Mapping[str, str],
    nonce: str,
    *,
    context: str = "",
    cites_action: bool = False,
) -> str:
    """Return the instructions of a judge with a rubric of its own.

    Args:
        rubric: The rubric, checked.
        subject: What the judge decides on.
        values: Texts of the task file for the rubric's places.
        nonce: Encloses what is quoted.
        context: Other facts of the task file about the question.
        cites_action: Whether a yes on a sub-goal needs a step that shows an action.
    """
    headings = {name: f'the text below "{text}"' for name, text in ANSWER_PARTS.items()}
    text = filled(rubric.text.strip(), {**headings, **values})
    parts = (text, context.strip(), DATA.format(nonce=nonce).strip())
    return (
        "\n\n".join(part for part in parts if part)
        + "\n"
        + _answering(rubric, subject, cites_action=cites_action)
    )


def rubric_prompt_version(rubric: Rubric) -> str:
    """Return what changes if a rubric changes, or what tracegrade adds to every rubric."""
    added = (DATA, _CRITERION, _ANSWER, _YES_OR_NO, _SCORE, ACTIONS, ANY_STEP, *_CITING.values())
    return hashlib.sha256("".join((rubric.digest, *added)).encode()).hexdigest()[:12]


def _answering(rubric: Rubric, subject: str, *, cites_action: bool) -> str:
    asked = _SCORE if rubric.graded else _YES_OR_NO
    if subject == "success":
        return _ANSWER.format(asked=asked)
    citing = _CITING.get(subject, ACTIONS if cites_action else ANY_STEP)
    return _CRITERION.format(asked=asked, citing=citing)
