-- Messages in which Google ADK reports another agent's work, or AutoGen a hand-over.
--
-- Earlier versions of Google ADK use parts of their own for this, below `For context:`.
--
-- Reads:
--   form_candidates
-- Needs:
--   form_candidates WHERE direction = 'in' AND (quotes_agent(text) OR text = 'For context:')
-- Columns:
--   key               BIGINT  Model span.
--   message_position  BIGINT  One row for each such message.
-- Order:
--   none
WITH headed AS (
  SELECT DISTINCT
    key,
    message_position
  FROM form_candidates
  WHERE direction = 'in' AND text = 'For context:'
)

SELECT DISTINCT
  form_candidates.key,
  form_candidates.message_position
FROM form_candidates
LEFT JOIN headed USING (key, message_position)
WHERE
  form_candidates.direction = 'in'
  AND (
    quotes_agent(form_candidates.text)
    OR (headed.key IS NOT NULL AND tells_of_agent(form_candidates.text))
  );
