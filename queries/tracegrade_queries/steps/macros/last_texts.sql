-- What a user asked last, and what a model said last, by the key of the span that says so.
--
-- The named relation has the columns of a dialect's messages. The parts of a message of the user
-- are lines. NULL where nothing was said.
CREATE OR REPLACE TEMP MACRO last_texts(RELATION) AS TABLE
  WITH last_parts AS (
    SELECT
      key,
      arg_max_null(text, (message_position, part_position)) FILTER (
        WHERE direction = 'in' AND role = 'user'
      ) AS user_input,
      max(message_position) FILTER (WHERE direction = 'in' AND role = 'user') AS message_position,
      arg_max(text, (message_position, part_position)) FILTER (WHERE direction = 'out') AS answer
    FROM query_table(relation)
    WHERE part_type = 'text'
    GROUP BY key
  ),

  joined_texts AS (
    SELECT
      parts.key,
      string_agg(parts.text, chr(10) ORDER BY parts.part_position) AS text
    FROM query_table(relation) AS parts -- noqa: RF02
    INNER JOIN last_parts USING (key, message_position)
    WHERE parts.direction = 'in' AND parts.role = 'user' AND parts.part_type = 'text'
    GROUP BY parts.key
    HAVING count(*) > 1
  )

  SELECT
    last_parts.key,
    coalesce(joined_texts.text, last_parts.user_input) AS user_input,
    last_parts.answer
  FROM last_parts
  LEFT JOIN joined_texts USING (key);
