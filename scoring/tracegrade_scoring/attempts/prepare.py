"""Creates what every metric reads: the task relations, calls, plans and attempts.

Its own module because each metric's tests start from here. The connection needs `steps`,
`trajectories` and `verdicts`; temporary tables of these names stand before the lake's, which is
how the job scores a part of the lake at a time. A task file may say that calls of a tool are
something else than their names tell, expect a hand-off as a call, or name the tool of an MCP
server without the server (docs/metrics.md, section 0.8); `steps` then says so too.

Makes:
    argument_matches (from patterned_calls): which patterns the arguments of a call match
    calls (from attempt_calls): the tool calls of attempts
    pattern_matches (from patterned_results): which error patterns a result matches
    plans (from attempt_plans): the plans that attempts declared
"""

from typing import Final

import duckdb

from tracegrade_scoring.attempts.criteria import judge_criteria
from tracegrade_scoring.attempts.match_tasks import match_tasks
from tracegrade_scoring.attempts.patterns import matches
from tracegrade_scoring.relations import (
    create_macro,
    create_shared_macro,
    has_rows,
    materialise,
    put,
)
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.relations import register

_KINDS: Final = """
  UPDATE steps SET
    kind = task_tools.kind,
    status = if(task_tools.kind = 'tool_call', coalesce(steps.status, 'unknown'), NULL),
    plan = if(task_tools.kind = 'plan', coalesce(steps.plan, steps.arguments), NULL)
  FROM task_tools
  WHERE
    steps.tool_name = task_tools.tool_name
    AND steps.kind IN ('tool_call', 'plan', 'handoff', 'answer')
    AND steps.kind <> task_tools.kind
"""
"""What calls of a tool are by its name, a task file may say otherwise."""

_OF_SERVERS: Final = """
  UPDATE steps SET tool_name = server_tools.tool_name
  FROM server_tools
  WHERE
    steps.trajectory_id = server_tools.trajectory_id
    AND steps.tool_name = server_tools.made_name
"""
"""A task file names a tool of an MCP server without the server."""

_CALLED: Final = """
  UPDATE steps SET
    kind = 'tool_call',
    tool_name = called_agents.tool_name,
    status = coalesce(steps.status, 'unknown')
  FROM called_agents
  WHERE
    steps.trajectory_id = called_agents.trajectory_id
    AND steps.step_index = called_agents.step_index
"""
"""A hand-off that a task expects is a call, by the name under which it is expected."""


def create_relations(con: duckdb.DuckDBPyConnection, specification: Specification) -> None:
    """Create what every metric reads.

    That is the task relations, `attempt_members`, `attempts_with_unrecorded_calls`, `calls`,
    `plans`, `attempt_tasks`, `argument_patterns` and `attempts`. Their columns stand in the
    headers of the queries of the same names, and for the task relations in `tasks/relations.py`.
    """
    create_macro(con, "matches_expected")
    create_macro(con, "score_of")
    create_macro(con, "names_limit")
    create_shared_macro(con, "result_is_error")
    create_shared_macro(con, "takes_nothing")
    register(con, specification)
    materialise(con, "attempt_members")
    create_macro(con, "plain_tool")
    materialise(con, "named_tools")
    materialise(con, "server_tools")
    if has_rows(con, "server_tools"):
        con.execute(_OF_SERVERS)
    if any(tool.kind for tool in specification.tools.values()):
        con.execute(_KINDS)
    create_macro(con, "named_agent")
    materialise(con, "attempts_with_unrecorded_calls")
    match_tasks(con, specification)
    materialise(con, "called_agents")
    if has_rows(con, "called_agents"):
        con.execute(_CALLED)
    materialise(con, "attempt_order")
    materialise(con, "observed_results")
    materialise(con, "patterned_results")
    put(con, "pattern_matches", matches(con, "patterned_results", "returned"))
    materialise(con, "calls", "attempt_calls")
    materialise(con, "plans", "attempt_plans")
    materialise(con, "patterned_calls")
    put(con, "argument_matches", matches(con, "patterned_calls", "arguments"))
    materialise(con, "argument_patterns")
    materialise(con, "verdict_readings")
    materialise(con, "verdict_opinions")
    materialise(con, "sub_goal_verdicts")
    judge_criteria(con)
    materialise(con, "criterion_results")
    materialise(con, "successes")
    materialise(con, "attempts")
    materialise(con, "own_expectations")
