-- Thoughts that are missing from the output of their model call, but are in the next one's input.
--
-- They are in the last block of assistant messages of that input, and belong to the call that
-- requested the tools named there, otherwise to the call before.
--
-- Reads:
--   model_parts
--   model_calls
-- Columns:
--   model_call        BIGINT  The call that thought it.
--   message_position  BIGINT  Their order.
--   part_position     BIGINT
--   text              VARCHAR
-- Order:
--   none
WITH input_parts AS (
  SELECT *
  FROM model_parts
  WHERE direction = 'in'
),

thinking AS (
  SELECT DISTINCT model_call
  FROM input_parts
  WHERE part_type = 'reasoning' AND text IS NOT NULL
),

input_with_thoughts AS (
  SELECT input_parts.*
  FROM input_parts
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
  FROM input_with_thoughts
  GROUP BY model_call
),

starts AS (
  SELECT
    blocks.model_call,
    blocks.last_position,
    coalesce(max(input_with_thoughts.message_position), -1) AS before_position
  FROM blocks
  LEFT JOIN input_with_thoughts
    ON
      blocks.model_call = input_with_thoughts.model_call
      AND input_with_thoughts.role <> 'assistant'
      AND blocks.last_position > input_with_thoughts.message_position
  GROUP BY blocks.model_call, blocks.last_position
),

recent AS (
  SELECT input_with_thoughts.*
  FROM input_with_thoughts
  INNER JOIN starts USING (model_call)
  WHERE
    input_with_thoughts.role = 'assistant'
    AND input_with_thoughts.message_position > starts.before_position
    AND input_with_thoughts.message_position <= starts.last_position
),

requesters AS (
  SELECT
    recent.model_call,
    arg_max(outputs.model_call, (outputs.start_ns, outputs.model_call)) AS producer
  FROM recent
  INNER JOIN model_parts AS outputs
    ON
      recent.run = outputs.run
      AND recent.call_id = outputs.call_id
      AND outputs.direction = 'out'
      AND outputs.part_type = 'tool_call'
      AND recent.start_ns > outputs.start_ns
  WHERE recent.part_type = 'tool_call'
  GROUP BY recent.model_call
),

predecessors AS (
  SELECT
    model_call,
    lag(model_call) OVER (PARTITION BY run ORDER BY start_ns, span_id) AS producer
  FROM model_calls
),

recovered AS (
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
  recovered.producer AS model_call,
  recovered.message_position,
  recovered.part_position,
  recovered.text
FROM recovered
ANTI JOIN thoughtful ON recovered.producer = thoughtful.model_call
WHERE recovered.producer IS NOT NULL
-- Later inputs may repeat the same block; the first of them is taken.
QUALIFY
  rank() OVER (PARTITION BY recovered.producer ORDER BY recovered.start_ns, recovered.model_call)
  = 1;
