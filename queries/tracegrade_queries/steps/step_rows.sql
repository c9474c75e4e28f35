-- Steps of all kinds, numbered.
--
-- Reads:
--   spoken_steps
--   user_steps
--   call_steps
--   observation_steps
--   span_steps
--   root_answer_steps
-- Columns:
--   trajectory_id  VARCHAR
--   step_index     INTEGER  Dense from 0 in each trajectory.
--   span_key       BIGINT   Span it is read from.
--   call           VARCHAR  Call that it is; else NULL.
--   observed_call  VARCHAR  Call that it observes; else NULL.
--   model_call     BIGINT   Model call that produced it; else NULL.
--   heard_by       BIGINT   Model call that a message of the user went to; else NULL.
--   kind           VARCHAR
--   role           VARCHAR
--   content        VARCHAR
--   plan           VARCHAR
--   provenance     VARCHAR  span | derived.
-- Order:
--   none
WITH told AS (
  SELECT
    *,
    'assistant' AS role,
    'derived' AS provenance
  FROM spoken_steps
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
  trajectory_id,
  (
    row_number() OVER (
      PARTITION BY trajectory_id
      ORDER BY
        anchor_ns ASC,
        message_position ASC,
        part_position ASC,
        execution_ns ASC,
        process_order ASC,
        order_span_id ASC,
        (observed_call IS NOT NULL) ASC,
        call ASC
    ) - 1
  )::INTEGER AS step_index,
  span_key,
  call,
  observed_call,
  model_call,
  heard_by,
  kind,
  role,
  content,
  plan,
  provenance
FROM told;
