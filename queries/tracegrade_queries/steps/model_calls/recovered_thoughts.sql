-- Thoughts that the output of a model call lacks, but the next call's input or the answer has.
--
-- They are in the last block of assistant messages of that input, and belong to the call that
-- requested the tools named there, otherwise to the call before. Thoughts with an answer belong to
-- the last call with the same text.
--
-- Reads:
--   dialect_messages
--   model_parts
--   model_calls
--   operations
--   operation_runs
-- Needs:
--   model_parts WHERE direction = 'in' AND part_type = 'reasoning' or dialect_messages WHERE
--     direction = 'out' AND part_type = 'reasoning' AND key IN (SELECT key FROM operations
--     WHERE operation = 'agent')
-- Columns:
--   model_call        BIGINT  The call that thought it.
--   message_position  BIGINT  Their order.
--   part_position     BIGINT
--   text              VARCHAR
-- Order:
--   none
WITH thinking AS (
  SELECT DISTINCT model_call
  FROM model_parts
  WHERE direction = 'in' AND part_type = 'reasoning' AND text IS NOT NULL
),

input_with_thoughts AS (
  SELECT model_parts.*
  FROM model_parts
  SEMI JOIN thinking USING (model_call)
  WHERE model_parts.direction = 'in'
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
),

agent_thoughts AS MATERIALIZED (
  SELECT
    operation_runs.run,
    dialect_messages.key,
    dialect_messages.message_position,
    dialect_messages.part_position,
    dialect_messages.text
  FROM dialect_messages
  INNER JOIN operations USING (key)
  INNER JOIN operation_runs USING (key)
  WHERE
    operations.operation = 'agent'
    AND dialect_messages.direction = 'out'
    AND dialect_messages.part_type = 'reasoning'
    AND dialect_messages.text <> ''
),

agent_answers AS (
  SELECT
    dialect_messages.key,
    dialect_messages.message_position,
    trim(dialect_messages.text) AS text
  FROM dialect_messages
  SEMI JOIN agent_thoughts USING (key, message_position)
  WHERE dialect_messages.direction = 'out' AND dialect_messages.part_type = 'text'
),

-- Nested agents have the same answer.
answered AS (
  SELECT
    agent_thoughts.key,
    agent_thoughts.message_position,
    arg_max(output.model_call, (output.start_ns, output.model_call)) AS producer,
    max(output.start_ns) AS start_ns
  FROM agent_thoughts
  INNER JOIN agent_answers USING (key, message_position)
  INNER JOIN model_parts AS output
    ON agent_thoughts.run = output.run AND agent_answers.text = output.text
  WHERE output.direction = 'out' AND output.part_type = 'text'
  GROUP BY agent_thoughts.key, agent_thoughts.message_position
),

all_recovered AS (
  SELECT
    producer,
    model_call AS source,
    start_ns,
    message_position,
    part_position,
    text
  FROM recovered
  UNION ALL
  SELECT
    answered.producer,
    answered.key AS source,
    answered.start_ns,
    agent_thoughts.message_position,
    agent_thoughts.part_position,
    agent_thoughts.text
  FROM answered
  INNER JOIN agent_thoughts USING (key, message_position)
)

SELECT
  all_recovered.producer AS model_call,
  all_recovered.message_position,
  all_recovered.part_position,
  all_recovered.text
FROM all_recovered
ANTI JOIN thoughtful ON all_recovered.producer = thoughtful.model_call
WHERE all_recovered.producer IS NOT NULL
-- Later inputs may repeat the same block; the first of them is taken.
QUALIFY
  rank() OVER (
    PARTITION BY all_recovered.producer ORDER BY all_recovered.start_ns, all_recovered.source
  ) = 1;
