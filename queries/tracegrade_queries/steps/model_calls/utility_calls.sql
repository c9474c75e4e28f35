-- Model calls that serve the program around an agent: they name or sum up the conversation, say
-- whether a text is safe, suggest what to ask next, or keep what is to be remembered. What they
-- say is no answer, and what they hear is not the user's.
--
-- Their instructions ask for that, or the last message in the user's place does; one that a tool
-- was offered to, or that tells a result of one, is the agent's all the same. So are those of an
-- agent that does nothing else.
--
-- Reads:
--   dialect_messages
--   model_calls
--   model_members
--   model_parts
--   run_ids
-- Needs:
--   model_calls
-- Columns:
--   model_call  BIGINT  One row each.
-- Order:
--   none
WITH inputs AS (
  SELECT
    model_calls.model_call,
    dialect_messages.role,
    dialect_messages.message_position,
    dialect_messages.text
  FROM dialect_messages
  INNER JOIN model_members USING (key)
  INNER JOIN model_calls USING (model_call)
  WHERE
    coalesce(model_calls.offered_tools, '[]') = '[]'
    AND dialect_messages.direction = 'in'
    AND dialect_messages.role IN ('system', 'developer', 'user')
),

-- Many calls have the same instructions.
texts AS (
  SELECT DISTINCT text[1:500] AS text
  FROM inputs
  WHERE role <> 'user'
),

asking AS (
  SELECT text
  FROM texts
  WHERE instructs_to_serve(text)
),

instructed AS (
  SELECT inputs.model_call
  FROM inputs
  INNER JOIN asking ON inputs.text[1:500] = asking.text
  WHERE inputs.role <> 'user'
),

last_messages AS (
  SELECT
    model_call,
    max(message_position) AS message_position
  FROM inputs
  WHERE role = 'user'
  GROUP BY model_call
),

using_tools AS (
  SELECT model_call
  FROM model_parts
  WHERE
    part_type = 'tool_call_response'
    OR (direction = 'out' AND part_type IN ('tool_call', 'server_tool_call'))
),

serving AS (
  SELECT instructed.model_call
  FROM instructed
  ANTI JOIN using_tools USING (model_call)
  UNION
  SELECT inputs.model_call
  FROM inputs
  SEMI JOIN last_messages USING (model_call, message_position)
  ANTI JOIN using_tools USING (model_call)
  WHERE inputs.role = 'user' AND asks_to_serve(inputs.text)
),

-- What an agent does in all its model calls is its work.
working AS (
  SELECT model_calls.run
  FROM model_calls
  INNER JOIN run_ids USING (run)
  LEFT JOIN serving USING (model_call)
  WHERE run_ids.root IS NOT NULL
  GROUP BY model_calls.run
  HAVING bool_and(serving.model_call IS NOT NULL)
)

SELECT serving.model_call
FROM serving
INNER JOIN model_calls USING (model_call)
ANTI JOIN working USING (run);
