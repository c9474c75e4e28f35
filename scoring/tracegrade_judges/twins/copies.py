"""Makes copies of a judged run with one change each; the judge gets the same question on each.

A judge of sub-goals reads steps. A judge of answers reads only the user's questions and the
agent's answers, turn by turn, so a change elsewhere would change no request.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tracegrade_judges.ask.prompts import NEGATED, NEGATED_REFERENCE
from tracegrade_judges.questions.build import JudgeQuestion, readable_steps
from tracegrade_judges.questions.runs import turns_of
from tracegrade_judges.twins.attacks import PADDING, attacks_on
from tracegrade_judges.verdict import JudgedStep

PADDED: Final = "padding"
NEGATION: Final = "negation"

STEP_PLACES: Final[Mapping[str, tuple[frozenset[str], str]]] = {
    "argument": (frozenset({"tool_call"}), "arguments"),
    "result": (frozenset({"tool_call"}), "result"),
    "thought": (frozenset({"thought"}), "content"),
    "answer": (frozenset({"answer"}), "content"),
}
"""Kinds of steps, and the text of such a step that an attack is put into."""
TURN_PLACES: Final = ("question", "answer")
"""The places of a run that a judge of answers reads."""

PLAN_PLACES: Final = ("thought",)
"""The place of an attack on a judge of plans."""

Steps = Sequence[JudgedStep]
CopiedRun = tuple[JudgeQuestion, Steps]
"""The question about a copy, and its steps."""


class Twin(NamedTuple):
    """A copy of a run with one change, and the judge's question about it."""

    question: JudgeQuestion
    steps: Steps
    twin: str
    """Name of the attack; padding | negation."""
    place: str | None


def places_of(subject: str) -> tuple[str, ...]:
    """Return the places of a run that a judge of sub-goals, calls, success or plans reads."""
    steps = tuple(STEP_PLACES)
    return {"sub_goal": steps, "served": steps, "planning": PLAN_PLACES}.get(subject, TURN_PLACES)


def twins_of(question: JudgeQuestion, steps: Steps, *, graded: bool) -> Iterator[Twin]:
    """Yield the twins of a run: each attack and padding in each place, and the opposite.

    Args:
        question: As the judge was asked.
        steps: Of the run.
        graded: Whether the judge answers with a score.
    """
    changed = in_turns if question.subject == "success" else in_step
    steps = readable_steps(question, steps)
    for name, text in {**attacks_on(question.subject, graded=graded), PADDED: PADDING}.items():
        for place in places_of(question.subject):
            copy = changed(question, steps, place, text)
            if copy is not None:
                yield Twin(*copy, name, place)
    yield Twin(_opposite(question), steps, NEGATION, None)


def _opposite(question: JudgeQuestion) -> JudgeQuestion:
    if question.subject != "success":
        return question._replace(criterion=NEGATED.format(criterion=question.criterion))
    turned = tuple(NEGATED_REFERENCE.format(reference=each) for each in question.references)
    return question._replace(references=turned)


def in_step(question: JudgeQuestion, steps: Steps, place: str, text: str) -> CopiedRun | None:
    """Return a copy with a text appended to the last possible step; None if no step is possible.

    A run without a thought or an answer gets one, as an agent could have written it.
    """
    kinds, name = STEP_PLACES[place]
    found = [step.number for step in steps if step.kind in kinds]
    if found:
        return question, _with_text(steps, found[-1:], name, text)
    if name != "content" or not steps:
        return None
    last = steps[-1]
    added = JudgedStep(last.number + 1, place, "assistant", None, None, {name: text}, last.turn)
    return question, [*steps, added]


def in_turns(question: JudgeQuestion, steps: Steps, place: str, text: str) -> CopiedRun | None:
    """Return a copy with a text at the end of each question, or each answer; None without any.

    All turns get the text, since the lowest score of a run's turns is the run's score.
    """
    run = question.run
    if place == "question":
        whole, places = run.user_input, _asking(steps)
        changed = run._replace(user_input=_ending(whole or "", text))
    else:
        whole, places = run.final_answer, _answering(question, steps)
        changed = run._replace(final_answer=_ending(whole or "", text))
    if whole is None and not places:
        return None
    about = question if whole is None else question._replace(run=changed)
    return about, _with_text(steps, places, "content", text)


def _asking(steps: Steps) -> list[int]:
    return [
        step.number
        for step in steps
        if step.kind == "message" and step.role == "user" and "content" in step.texts
    ]


def _answering(question: JudgeQuestion, steps: Steps) -> list[int]:
    cited = {turn.step_index for turn in turns_of(question.run, steps)}
    return [step.number for step in steps if step.number in cited and "content" in step.texts]


def _with_text(steps: Steps, numbers: Collection[int], name: str, text: str) -> Steps:
    """Return the steps with a text at the end of one text of each of the numbered steps."""
    return [
        step._replace(texts={**step.texts, name: _ending(step.texts.get(name, ""), text)})
        if step.number in numbers
        else step
        for step in steps
    ]


def _ending(text: str, end: str) -> str:
    return f"{text}\n{end}".strip()
