-- The last text of the user and the last text of the model, by the key of their span.
--
-- The named relation has the columns of a dialect's messages. The parts of a user's message become
-- lines. NULL if there is no text.
CREATE OR REPLACE TEMP MACRO last_texts(RELATION) AS TABLE
  -- Some of these relations are views.
  WITH texts AS MATERIALIZED (
    SELECT
      key,
      direction,
      message_position,
      part_position,
      text
    FROM query_table(relation)
    WHERE
      part_type = 'text'
      -- An output that repeats what the model was sent holds no answer of it.
      AND if(
        direction = 'out', coalesce(role, '') NOT IN ('system', 'tool', 'user'), role = 'user'
      )
  ),

  last_parts AS (
    SELECT
      key,
      arg_max_null(text, pair_order(message_position, part_position))
      FILTER (WHERE direction = 'in')
        AS user_input,
      max(message_position) FILTER (WHERE direction = 'in') AS message_position,
      arg_max(text, pair_order(message_position, part_position))
      FILTER (WHERE direction = 'out') AS answer
    FROM texts
    GROUP BY key
  ),

  -- Few messages have several parts: only these are joined.
  several AS (
    SELECT
      texts.key,
      texts.message_position
    FROM texts
    SEMI JOIN last_parts USING (key, message_position)
    WHERE texts.direction = 'in'
    GROUP BY texts.key, texts.message_position
    HAVING count(*) > 1
  ),

  joined_texts AS (
    SELECT
      texts.key,
      string_agg(texts.text, chr(10) ORDER BY texts.part_position) AS text
    FROM texts
    SEMI JOIN several USING (key, message_position)
    WHERE texts.direction = 'in'
    GROUP BY texts.key
  )

  SELECT
    last_parts.key,
    coalesce(joined_texts.text, last_parts.user_input) AS user_input,
    last_parts.answer
  FROM last_parts
  LEFT JOIN joined_texts USING (key);
