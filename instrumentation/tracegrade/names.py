"""The names in tracegrade's spans: span names, attribute keys and their values, in one place.

OpenTelemetry's GenAI conventions (semantic-conventions-genai, state of November 2026) come first;
`tracegrade.*` is only for names that they lack. The SQL that reads these spans spells the same
names.
"""

from typing import Final

# Span names start with the operation, as the GenAI conventions ask: `execute_tool search_orders`.
INVOKE_AGENT: Final = "invoke_agent"
PLAN: Final = "plan"
EXECUTE_TOOL: Final = "execute_tool"
THOUGHT: Final = "thought"
OBSERVATION: Final = "observation"
ANSWER: Final = "answer"

# OpenTelemetry GenAI conventions.
OPERATION_NAME: Final = "gen_ai.operation.name"
AGENT_NAME: Final = "gen_ai.agent.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
TOOL_DEFINITIONS: Final = "gen_ai.tool.definitions"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT: Final = "gen_ai.tool.call.result"
ERROR_TYPE: Final = "error.type"
EXCEPTION_TYPE: Final = "exception.type"
EXCEPTION_MESSAGE: Final = "exception.message"
EXCEPTION_STACKTRACE: Final = "exception.stacktrace"
SERVICE_NAME: Final = "service.name"
SERVICE_VERSION: Final = "service.version"
ENVIRONMENT: Final = "deployment.environment.name"

# Ours.
STEP_KIND: Final = "tracegrade.step.kind"
STEP_INDEX: Final = "tracegrade.step.index"
STEP_MONOTONIC_NS: Final = "tracegrade.step.monotonic_ns"
THOUGHT_CONTENT: Final = "tracegrade.thought.content"
OBSERVATION_CONTENT: Final = "tracegrade.observation.content"
PLAN_STEPS: Final = "tracegrade.plan"
SUB_GOAL_ID: Final = "tracegrade.sub_goal.id"
DECISION_ID: Final = "tracegrade.decision.id"
TOOL_EFFECT: Final = "tracegrade.tool.effect"
TOOL_COST: Final = "tracegrade.tool.cost"
TASK_ID: Final = "tracegrade.task.id"
TASK_CATEGORY: Final = "tracegrade.task.category"
TRIAL: Final = "tracegrade.trial"
RETRIES: Final = "tracegrade.retries"  # how often the trial was restarted
RUN_MODE: Final = "tracegrade.run.mode"
OUTCOME: Final = "tracegrade.outcome"
RUN_USER_INPUT: Final = "tracegrade.run.user_input"  # the user's request, on the run's first spans
KILL_POINT: Final = "tracegrade.kill_point"  # the boundary at which the run was killed
KILL_POINT_BEFORE: Final = "tracegrade.injection"  # its name before; read for one release
TRUNCATED: Final = "tracegrade.truncated"  # keys of this span whose text was cut
REDACTED: Final = "tracegrade.redacted"  # keys of this span in which a secret was replaced
IMPORT_FORMAT: Final = "tracegrade.import.format"  # of the file that an imported run was read from
IMPORT_PLACE: Final = "tracegrade.import.place"  # that file's name, and the line
SYNTHETIC_TIME: Final = "tracegrade.synthetic_time"  # the source has no time for this span
