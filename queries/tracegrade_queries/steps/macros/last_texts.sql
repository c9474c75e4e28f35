-- What a user asked last, and what a model said last, by the key of the span that says so.
--
-- The named relation has the columns of a dialect's messages. NULL where nothing was said.
CREATE OR REPLACE TEMP MACRO last_texts(RELATION) AS TABLE
  SELECT
    key,
    arg_max(text, (message_position, part_position)) FILTER (
      WHERE direction = 'in' AND role = 'user'
    ) AS user_input,
    arg_max(text, (message_position, part_position)) FILTER (WHERE direction = 'out') AS answer
  FROM query_table(relation)
  WHERE part_type = 'text'
  GROUP BY key;
