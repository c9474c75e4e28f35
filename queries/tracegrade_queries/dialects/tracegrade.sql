-- Spans of tracegrade itself: the tracegrade.* attributes, which extend the GenAI conventions.
--
-- A run, a tool call and an answer are GenAI spans and are read as such (otel_genai.sql). The rows
-- here add the fields that the conventions lack. The context (task, trial, sub-goal, decision) is
-- also copied onto spans of other instrumentation, so every span that carries it has a row.
--
-- Rank:
--   10
-- Marks:
--   ^tracegrade\.
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW tracegrade_operations AS
-- A tool's marks name cuts and redactions in its arguments and its result; the only text of
-- another step is its content. An agent's messages are not steps of their own.
WITH marked_spans AS (
  SELECT
    *,
    CASE
      WHEN attributes['tracegrade.step.kind'] IN ('plan', 'thought', 'observation', 'answer')
        THEN '.'
      ELSE '(arguments|input\.value)"'
    END AS own_content,
    '(result|output\.value)"' AS own_result,
    -- Imports make such a span from each tool reply in a chat log.
    coalesce(
      scope_name = 'tracegrade.import' AND attributes['gen_ai.operation.name'] = 'execute_tool',
      FALSE
    ) AS is_logged_reply
  FROM bucket_spans
  WHERE
    is_logged_reply
    OR list_has_any(
      map_keys(attributes),
      [
        'tracegrade.step.kind',
        'tracegrade.step.index',
        'tracegrade.sub_goal.id',
        'tracegrade.decision.id',
        'tracegrade.task.id',
        'tracegrade.task.category',
        'tracegrade.trial',
        'tracegrade.retries',
        'tracegrade.run.mode',
        'tracegrade.outcome',
        'tracegrade.injection',
        'tracegrade.kill_point',
        'tracegrade.redacted',
        'tracegrade.synthetic_time',
        'tracegrade.tool.cost',
        'tracegrade.tool.effect',
        'tracegrade.truncated'
      ]
    )
)

SELECT
  key,
  CASE
    WHEN attributes['tracegrade.step.kind'] = 'tool_call' THEN 'tool'
    WHEN attributes['tracegrade.step.kind'] IS NOT NULL THEN attributes['tracegrade.step.kind']
    WHEN scope_name = 'tracegrade' AND attributes['gen_ai.operation.name'] = 'invoke_agent'
      THEN 'agent'
    ELSE 'other'
  END AS operation,
  coalesce(
    attributes['tracegrade.thought.content'], attributes['tracegrade.observation.content']
  ) AS content,
  attributes['tracegrade.plan'] AS plan,
  attributes['tracegrade.run.user_input'] AS user_input,
  attributes['tracegrade.tool.effect'] AS effect,
  try_cast(attributes['tracegrade.tool.cost'] AS DOUBLE) AS cost,
  is_logged_reply AS from_log,
  linked_span_id,
  try_cast(attributes['tracegrade.step.index'] AS BIGINT) AS process_order,
  attributes['tracegrade.sub_goal.id'] AS sub_goal,
  attributes['tracegrade.decision.id'] AS decision,
  attributes['tracegrade.task.id'] AS task_id,
  attributes['tracegrade.task.category'] AS task_category,
  try_cast(attributes['tracegrade.trial'] AS INTEGER) AS trial,
  try_cast(attributes['tracegrade.retries'] AS INTEGER) AS retries,
  attributes['tracegrade.run.mode'] AS run_mode,
  attributes['tracegrade.outcome'] AS outcome,
  -- Only spans of the harness may state a kill point: an agent could hide its failures otherwise.
  -- Before the first release the attribute was `tracegrade.injection`.
  CASE
    WHEN scope_name = 'tracegrade.harness'
      THEN coalesce(attributes['tracegrade.kill_point'], attributes['tracegrade.injection'])
  END AS kill_point,
  list_filter(
    [
      CASE
        WHEN regexp_matches(attributes['tracegrade.truncated'], own_content) THEN 'truncated'
      END,
      CASE
        WHEN regexp_matches(attributes['tracegrade.truncated'], own_result) THEN 'result_truncated'
      END,
      CASE WHEN regexp_matches(attributes['tracegrade.redacted'], own_content) THEN 'redacted' END,
      CASE
        WHEN regexp_matches(attributes['tracegrade.redacted'], own_result) THEN 'result_redacted'
      END,
      CASE WHEN attributes['tracegrade.synthetic_time'] = 'true' THEN 'synthetic_time' END
    ],
    LAMBDA flag: flag IS NOT NULL
  ) AS flags
FROM marked_spans;

-- Tracegrade's instrumentation records no model calls; messages on its spans are read as GenAI's.
CREATE OR REPLACE TEMP VIEW tracegrade_messages AS
SELECT NULL::BIGINT AS key
WHERE FALSE;
