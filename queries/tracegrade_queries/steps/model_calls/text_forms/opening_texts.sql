-- First user text of each input in which a framework may write in the user's name.
--
-- Reads:
--   form_candidates
-- Needs:
--   form_candidates WHERE direction = 'in' AND role = 'user' AND part_type = 'text' AND
--     (starts_with(text, task_heading()) OR starts_with(text, 'Observation:'))
-- Columns:
--   key               BIGINT   Model span; one row each.
--   message_position  BIGINT   Position of the message that holds the text.
--   text              VARCHAR
-- Order:
--   none
WITH user_texts AS (
  SELECT *
  FROM form_candidates
  WHERE direction = 'in' AND role = 'user' AND part_type = 'text'
),

suspected AS (
  SELECT DISTINCT key
  FROM user_texts
  WHERE starts_with(text, task_heading()) OR starts_with(text, 'Observation:')
)

SELECT
  user_texts.key,
  min(user_texts.message_position) AS message_position,
  arg_min(user_texts.text, (user_texts.message_position, user_texts.part_position)) AS text
FROM user_texts
SEMI JOIN suspected USING (key)
GROUP BY user_texts.key;
