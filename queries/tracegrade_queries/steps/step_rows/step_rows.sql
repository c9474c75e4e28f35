-- Steps of all kinds, numbered.
--
-- Reads:
--   message_steps
--   user_steps
--   call_steps
--   observation_steps
--   shared_observation_steps
--   span_steps
--   root_answer_steps
--   turns
-- Columns:
--   run            BIGINT
--   step_index     INTEGER  Dense from 0 in each trajectory.
--   turn           INTEGER  From 0; never falls along the run.
--   span_key       BIGINT   Span that it is read from.
--   call           BIGINT   Call that it is; else NULL.
--   observed_call  BIGINT   Call that it observes; else NULL.
--   model_call     BIGINT   Model call that produced it; else NULL.
--   kind           VARCHAR
--   role           VARCHAR
--   content        VARCHAR
--   plan           VARCHAR
--   provenance     VARCHAR  span | derived.
-- Order:
--   none
WITH all_steps AS (
  SELECT
    *,
    'assistant' AS role,
    'derived' AS provenance
  FROM message_steps
  UNION ALL BY NAME
  SELECT
    *,
    'user' AS role,
    'derived' AS provenance
  FROM user_steps
  UNION ALL BY NAME
  SELECT
    *,
    'assistant' AS role,
    CASE WHEN execution IS NULL THEN 'derived' ELSE 'span' END AS provenance
  FROM call_steps
  UNION ALL BY NAME
  SELECT
    *,
    'tool' AS role,
    CASE WHEN derived THEN 'derived' ELSE 'span' END AS provenance
  FROM observation_steps
  UNION ALL BY NAME
  SELECT
    *,
    'environment' AS role,
    'derived' AS provenance
  FROM shared_observation_steps
  UNION ALL BY NAME
  SELECT
    *,
    CASE kind WHEN 'observation' THEN 'environment' ELSE 'assistant' END AS role,
    'span' AS provenance
  FROM span_steps
  UNION ALL BY NAME
  SELECT
    *,
    'assistant' AS role,
    'derived' AS provenance
  FROM root_answer_steps
)

SELECT
  all_steps.run,
  (row_number() OVER in_order - 1)::INTEGER AS step_index,
  -- A step that no model call produced belongs to the turn of the last model call before it.
  coalesce(last(turns.turn IGNORE NULLS) OVER in_order, 0) AS turn,
  all_steps.span_key,
  all_steps.call,
  all_steps.observed_call,
  all_steps.model_call,
  all_steps.kind,
  all_steps.role,
  all_steps.content,
  all_steps.plan,
  all_steps.provenance
FROM all_steps
LEFT JOIN turns ON coalesce(all_steps.model_call, all_steps.input_of) = turns.model_call
WINDOW in_order AS (
  PARTITION BY all_steps.run
  ORDER BY
    all_steps.anchor_ns ASC,
    all_steps.message_position ASC,
    all_steps.part_position ASC,
    all_steps.execution_ns ASC,
    all_steps.process_order ASC,
    all_steps.order_span_id ASC,
    (all_steps.observed_call IS NOT NULL) ASC,
    all_steps.call ASC
  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
);
