-- Model calls that serve the program around an agent instead of the user.
--
-- They name or summarize the conversation, judge whether a text is safe, suggest the next
-- question, or extract facts to remember. Their outputs are not answers, and their inputs are not
-- the user's.
--
-- Their instructions ask for this, or the last message with the role user does. A call that was
-- offered a tool, or whose input holds a tool's result, is the agent's nevertheless. The same
-- applies to an agent that does nothing else. Some spans name their purpose.
--
-- Reads:
--   dialect_messages
--   helping_spans
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
  UNION
  SELECT model_members.model_call
  FROM model_members
  INNER JOIN helping_spans USING (key)
),

-- If all model calls of an agent do this, it is the agent's own work.
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
