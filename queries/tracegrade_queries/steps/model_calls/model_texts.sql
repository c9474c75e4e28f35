-- Texts that models said to the user: messages, and the answer of each turn.
--
-- The last text of a turn's last model call is its answer, under three conditions. The call
-- requests no tool, it ran inside the agent's span, and it did not serve the program around the
-- agent. If an agent's span holds all its calls, their last text is the answer.
--
-- Reads:
--   model_calls
--   model_parts
--   operations
--   turns
--   utility_calls
-- Needs:
--   model_parts WHERE direction = 'out' AND part_type = 'text'
-- Columns:
--   model_call        BIGINT
--   message_position  BIGINT
--   part_position     BIGINT
--   text              VARCHAR
--   kind              VARCHAR  plan (of a plan span) | answer | message.
-- Order:
--   none
WITH ending_with_text AS (
  SELECT model_parts.model_call
  FROM model_parts
  INNER JOIN operations ON model_parts.model_call = operations.key
  WHERE operations.tells_calls AND model_parts.direction = 'out'
  GROUP BY model_parts.model_call
  HAVING
    arg_max(
      model_parts.part_type, (model_parts.message_position, model_parts.part_position)
    ) = 'text'
),

requesting AS (
  SELECT DISTINCT model_parts.model_call
  FROM model_parts
  ANTI JOIN ending_with_text USING (model_call)
  WHERE model_parts.direction = 'out' AND model_parts.part_type = 'tool_call'
),

ends AS (
  SELECT
    model_calls.model_call,
    model_calls.below_plan,
    requesting.model_call IS NULL
    AND NOT model_calls.below_plan
    AND NOT model_calls.outside_agent
    AND utility_calls.model_call IS NULL
    AND row_number() OVER (
      PARTITION BY
        model_calls.run,
        turns.turn,
        model_calls.outside_agent,
        utility_calls.model_call IS NULL
      ORDER BY model_calls.start_ns DESC, model_calls.model_call DESC
    ) = 1 AS ends_turn
  FROM model_calls
  INNER JOIN turns USING (model_call)
  LEFT JOIN requesting USING (model_call)
  LEFT JOIN utility_calls ON model_calls.model_call = utility_calls.model_call
)

SELECT
  model_parts.model_call,
  model_parts.message_position,
  model_parts.part_position,
  model_parts.text,
  CASE
    WHEN ends.below_plan THEN 'plan'
    WHEN
      ends.ends_turn
      AND row_number() OVER (
        PARTITION BY model_parts.model_call
        ORDER BY model_parts.message_position DESC, model_parts.part_position DESC
      ) = 1
      THEN 'answer'
    ELSE 'message'
  END AS kind
FROM model_parts
INNER JOIN ends USING (model_call)
WHERE
  model_parts.direction = 'out'
  AND model_parts.part_type = 'text'
  AND model_parts.text IS NOT NULL;
