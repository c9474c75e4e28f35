-- Thoughts that no model call told when it ended, but the input of the next one holds.
--
-- They stand in the last run of assistant messages of that input, and belong to the call that
-- requested the tools named there, else to the call before.
--
-- Reads:
--   model_parts
--   model_calls
-- Columns:
--   model_call        BIGINT   The call that thought it.
--   message_position  BIGINT   Their order.
--   part_position     BIGINT
--   text              VARCHAR
-- Order:
--   none
WITH heard_parts AS (
  SELECT *
  FROM model_parts
  WHERE direction = 'in'
),

thinking AS (
  SELECT DISTINCT model_call
  FROM heard_parts
  WHERE part_type = 'reasoning' AND text IS NOT NULL
),

heard AS (
  SELECT heard_parts.*
  FROM heard_parts
  SEMI JOIN thinking USING (model_call)
),

thoughtful AS (
  SELECT DISTINCT model_call
  FROM model_parts
  WHERE direction = 'out' AND part_type = 'reasoning' AND text IS NOT NULL
),

blocks AS (
  SELECT
    model_call,
    max(message_position) FILTER (WHERE role = 'assistant') AS last_position
  FROM heard
  GROUP BY model_call
),

starts AS (
  SELECT
    blocks.model_call,
    blocks.last_position,
    coalesce(max(heard.message_position), -1) AS before_position
  FROM blocks
  LEFT JOIN heard
    ON
      blocks.model_call = heard.model_call
      AND heard.role <> 'assistant'
      AND blocks.last_position > heard.message_position
  GROUP BY blocks.model_call, blocks.last_position
),

recent AS (
  SELECT heard.*
  FROM heard
  INNER JOIN starts USING (model_call)
  WHERE
    heard.role = 'assistant'
    AND heard.message_position > starts.before_position
    AND heard.message_position <= starts.last_position
),

requesters AS (
  SELECT
    recent.model_call,
    arg_max(said.model_call, (said.start_ns, said.model_call)) AS producer
  FROM recent
  INNER JOIN model_parts AS said
    ON
      recent.run = said.run
      AND recent.call_id = said.call_id
      AND said.direction = 'out'
      AND said.part_type = 'tool_call'
      AND recent.start_ns > said.start_ns
  WHERE recent.part_type = 'tool_call'
  GROUP BY recent.model_call
),

predecessors AS (
  SELECT
    model_call,
    lag(model_call) OVER (PARTITION BY run ORDER BY start_ns, span_id) AS producer
  FROM model_calls
),

recalled AS (
  SELECT
    coalesce(requesters.producer, predecessors.producer) AS producer,
    recent.model_call,
    recent.start_ns,
    recent.message_position,
    recent.part_position,
    recent.text
  FROM recent
  INNER JOIN predecessors USING (model_call)
  LEFT JOIN requesters USING (model_call)
  WHERE recent.part_type = 'reasoning' AND recent.text IS NOT NULL
)

SELECT
  recalled.producer AS model_call,
  recalled.message_position,
  recalled.part_position,
  recalled.text
FROM recalled
ANTI JOIN thoughtful ON recalled.producer = thoughtful.model_call
WHERE recalled.producer IS NOT NULL
-- Later inputs may repeat the same block; the first of them tells it.
QUALIFY
  rank() OVER (PARTITION BY recalled.producer ORDER BY recalled.start_ns, recalled.model_call) = 1;
