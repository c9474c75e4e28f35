-- Turns of a run: user messages at each model call beyond those at its first call.
--
-- Calls that plan, run outside the agent's span, or serve the program around it receive no user
-- messages.
--
-- Reads:
--   model_calls
--   model_parts
--   utility_calls
-- Needs:
--   model_calls
-- Columns:
--   model_call  BIGINT   One row each.
--   turn        INTEGER  From 0; never falls along the run.
--   is_new      BOOLEAN  It is the first call of a turn after the first.
--   user_text   VARCHAR  Last message of the user in its input, its parts as lines; NULL if not
--                        captured.
-- Order:
--   none
WITH user_parts AS NOT MATERIALIZED (
  SELECT
    model_parts.model_call,
    model_parts.message_position,
    model_parts.part_position,
    model_parts.text
  FROM model_parts
  WHERE direction = 'in' AND role = 'user' AND part_type = 'text'
),

outside_turns AS (
  SELECT model_call
  FROM model_calls
  WHERE outside_agent OR below_plan
  UNION
  SELECT model_call
  FROM utility_calls
),

user_messages AS (
  SELECT
    user_parts.model_call,
    count(DISTINCT user_parts.message_position) AS message_count,
    count(*) AS part_count,
    max(user_parts.message_position) AS last_message,
    arg_max_null(
      user_parts.text, pair_order(user_parts.message_position, user_parts.part_position)
    ) AS last_part
  FROM user_parts
  ANTI JOIN outside_turns USING (model_call)
  GROUP BY user_parts.model_call
),

-- Few messages have several parts: only these are joined.
joined_texts AS (
  SELECT
    user_parts.model_call,
    string_agg(user_parts.text, chr(10) ORDER BY user_parts.part_position) AS text
  FROM user_parts
  INNER JOIN user_messages
    ON
      user_parts.model_call = user_messages.model_call
      AND user_parts.message_position = user_messages.last_message
      AND user_messages.part_count > user_messages.message_count
  GROUP BY user_parts.model_call
),

counts AS (
  SELECT
    model_calls.model_call,
    model_calls.run,
    model_calls.start_ns,
    coalesce(joined_texts.text, user_messages.last_part) AS user_text,
    max(user_messages.message_count) OVER running AS so_far,
    first(user_messages.message_count IGNORE NULLS) OVER running AS at_first
  FROM model_calls
  LEFT JOIN user_messages USING (model_call)
  LEFT JOIN joined_texts USING (model_call)
  WINDOW running AS (
    PARTITION BY model_calls.run ORDER BY model_calls.start_ns, model_calls.model_call
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  )
),

numbered AS (
  SELECT
    *,
    coalesce(so_far - at_first, 0) AS turn
  FROM counts
)

SELECT
  model_call,
  turn::INTEGER AS turn,
  turn > lag(turn, 1, 0) OVER (PARTITION BY run ORDER BY start_ns, model_call) AS is_new,
  user_text
FROM numbered;
