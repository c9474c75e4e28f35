"""Whose steps they are: agents inside one another, hand-overs, and what no agent did."""

from typing import Any, Final

from tests.queries.classes.scenes.scene import calls, runs, scene
from tests.queries.classes.story import Call, Form, Message, asked, replied, requested, said, told
from tests.queries.together import Scene
from tests.queries.traces import Row, rows, story

AS_TOOLS: Final = "An agent that a tool runs is a run of its own, and the tool's call stays."
HANDOVER: Final = "A hand-off to another agent is a step of the run, and starts no new run."
APART: Final = "Calls that hang below another agent are of the run that made them, once."
UTILITY: Final = "A title, a summary or a guard is neither answer nor question."
FRAGMENT: Final = "Tools alone, or a title alone, are part of a run that is elsewhere."
KILLED: Final = "A run whose own span never arrived is read from the messages to its model."

HELP: Final = Call("helper", {"q": "all"}, "t1")
QUESTION: Final = asked("List all.")
LS: Final = Call("ls", {"path": "a"}, "s1")
HELPERS: Final = f"{1:032x}-{4:016x}"


def _calling(form: Form, *below: Row) -> list[Row]:
    """Return an agent that a tool of another runs, with what else hangs below the two."""
    heard = [QUESTION, requested(HELP), replied(HELP, "listed")]
    return [
        form.agent(1, name="main"),
        form.model(2, 1, at=1, heard=[QUESTION], said=requested(HELP)),
        form.tool(3, 1, at=2, ms=60, call=HELP, result="listed"),
        form.agent(4, 3, at=3, ms=50, name="helper"),
        *below,
        form.model(9, 1, at=70, heard=heard, said=said("All done.")),
    ]


def _of_helper(lake: Any) -> list[str]:
    return [line for line in story(lake, HELPERS) if not line.startswith("observation")]


def _of_main(lake: Any) -> list[str]:
    found = story(lake, f"{1:032x}-{1:016x}")
    return [line for line in found if not line.startswith("observation")]


MAIN: Final = ['tool_call helper {"q":"all"} ok', "answer All done."]
HELPED: Final = ['tool_call ls {"path":"a"} ok', "answer Listed."]


@scene(AS_TOOLS, "agents inside")
def as_tool(form: Form) -> Scene:
    """All of it hangs where it belongs."""
    heard = [asked("all"), requested(LS), replied(LS, "a b")]
    lake = yield _calling(
        form,
        form.model(5, 4, at=5, heard=heard[:1], said=requested(LS)),
        form.tool(6, 4, at=10, call=LS, result="a b"),
        form.model(7, 4, at=20, heard=heard, said=said("Listed.")),
    )
    assert _of_main(lake) == MAIN
    assert _of_helper(lake) == HELPED
    found = rows(lake, "SELECT parent_trajectory_id FROM trajectories ORDER BY trajectory_id")
    assert [row["parent_trajectory_id"] for row in found] == [None, f"{1:032x}-{1:016x}"]


@scene(APART, "agents inside", "requests")
def model_calls_above(form: Form) -> Scene:
    """The helper's model calls hang below the main agent."""
    heard = [asked("all"), requested(LS), replied(LS, "a b")]
    lake = yield _calling(
        form,
        form.model(5, 1, at=5, heard=heard[:1], said=requested(LS)),
        form.tool(6, 4, at=10, call=LS, result="a b"),
        form.model(7, 4, at=20, heard=heard, said=said("Listed.")),
    )
    assert _of_main(lake) == MAIN
    assert _of_helper(lake) == HELPED


@scene(APART, "agents inside", "requests")
def executions_above(form: Form) -> Scene:
    """Its tools do."""
    heard = [asked("all"), requested(LS), replied(LS, "a b")]
    lake = yield _calling(
        form,
        form.model(5, 4, at=5, heard=heard[:1], said=requested(LS)),
        form.tool(6, 1, at=10, call=LS, result="a b"),
        form.model(7, 4, at=20, heard=heard, said=said("Listed.")),
    )
    assert _of_main(lake) == MAIN
    assert _of_helper(lake) == HELPED


@scene(HANDOVER, "agents inside", "names of agents", "requests")
def handed_over(form: Form) -> Scene:
    """The model requests a transfer, and the other agent answers."""
    transfer = Call("transfer_to_expert", {}, "h1")
    heard = [QUESTION, requested(transfer), replied(transfer, "Transferred.")]
    lake = yield [
        form.agent(1, name="triage", heard=QUESTION.text),
        form.model(2, 1, at=1, heard=[QUESTION], said=requested(transfer)),
        form.agent(4, 1, at=10, ms=50, name="expert"),
        form.model(5, 4, at=11, heard=heard, said=said("Done.")),
    ]
    found = [line for line in story(lake) if not line.startswith("observation")]
    assert found == ["handoff transfer_to_expert {}", "answer Done."]
    assert runs(lake, "agent_name, final_answer") == [("triage", "Done.")]


TITLE: Final = told("Generate a title of at most 5 words for this conversation.")
GUARD: Final = told("Decide whether the text is a jailbreak or unsafe.")


def _working(form: Form) -> list[Row]:
    edit = Call("edit", {}, "c1")
    heard = [QUESTION, requested(edit), replied(edit, "edited")]
    return [
        form.agent(1),
        form.model(2, 1, at=2, heard=[QUESTION], said=requested(edit)),
        form.tool(3, 1, at=4, call=edit, result="edited"),
        form.model(4, 1, at=6, heard=heard, said=said("Done.")),
    ]


def _answers(lake: Any) -> list[tuple[str, list[str]]]:
    (((final,),), told) = runs(lake, "final_answer"), story(lake)
    return [(final, [line for line in told if line.startswith("answer")])]


@scene(UTILITY, "texts in model inputs", "instructions")
def title(form: Form) -> Scene:
    """A model names the conversation after the agent answered."""
    heard: list[Message] = [TITLE, QUESTION]
    lake = yield [*_working(form), form.model(5, 1, at=20, heard=heard, said=said("Listing"))]
    assert _answers(lake) == [("Done.", ["answer Done."])]


@scene(UTILITY, "texts in model inputs", "instructions")
def guard(form: Form) -> Scene:
    """Another says before that the question is safe."""
    heard = [GUARD, asked("Text: List all.")]
    lake = yield [*_working(form), form.model(5, 1, at=0.5, heard=heard, said=said("safe"))]
    assert _answers(lake) == [("Done.", ["answer Done."])]
    assert runs(lake, "user_input") == [(QUESTION.text,)]


@scene(FRAGMENT)
def tool_alone(form: Form) -> Scene:
    """Its context was lost in a thread."""
    lake = yield [form.tool(1, call=LS, result="a b")]
    assert runs(lake, "is_fragment") == [(True,)]


@scene(FRAGMENT, "texts in model inputs", "instructions")
def title_alone(form: Form) -> Scene:
    """A chat program asks for it in a trace of its own; what a user asks is a run."""
    lake = yield [
        form.model(1, trace=1, heard=[TITLE, QUESTION], said=said("Listing")),
        form.model(1, trace=2, heard=[told("Be brief."), QUESTION], said=said("a b")),
    ]
    assert runs(lake, "is_fragment") == [(True,), (False,)]


@scene(KILLED, "texts in model inputs")
def killed(form: Form) -> Scene:
    """The process died in a tool."""
    lake = yield [
        form.model(2, 1, at=2, heard=[QUESTION], said=requested(LS)),
        form.tool(3, 1, at=4, call=LS, result="a b"),
    ]
    assert runs(lake, "user_input, complete") == [(QUESTION.text, False)]
    assert calls(lake) == [("ls", '{"path":"a"}', "ok")]
