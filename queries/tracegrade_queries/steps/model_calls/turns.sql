-- Turns of a run: how many messages the user had sent more than at its first model call.
--
-- Reads:
--   model_calls
--   model_parts
-- Columns:
--   model_call  BIGINT   One row each.
--   turn        INTEGER  From 0; never falls along the run.
--   is_new      BOOLEAN  It is the first call of a turn after the first.
--   user_text   VARCHAR  Last text of the user in its input; NULL if not captured.
-- Order:
--   none
WITH user_messages AS (
  SELECT
    model_call,
    count(DISTINCT message_position) AS message_count,
    arg_max(text, (message_position, part_position)) AS user_text
  FROM model_parts
  WHERE direction = 'in' AND role = 'user' AND part_type = 'text' AND text IS NOT NULL
  GROUP BY model_call
),

counts AS (
  SELECT
    model_calls.model_call,
    model_calls.run,
    model_calls.start_ns,
    user_messages.user_text,
    max(user_messages.message_count) OVER running AS so_far,
    first(user_messages.message_count IGNORE NULLS) OVER running AS at_first
  FROM model_calls
  LEFT JOIN user_messages USING (model_call)
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
