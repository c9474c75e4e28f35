-- Spans of model calls which record that the model said nothing.
--
-- Reads:
--   all_spans
--   shapes
-- Columns:
--   key  BIGINT  One row each.
-- Order:
--   none
WITH recording AS (
  SELECT shape
  FROM shapes
  WHERE list_contains(names, 'gen_ai.output.messages')
),

outputs AS (
  SELECT
    all_spans.key,
    try_cast(all_spans.attributes['gen_ai.output.messages'] AS JSON) AS messages
  FROM all_spans
  SEMI JOIN recording USING (shape)
  WHERE
    regexp_matches(all_spans.attributes['gen_ai.output.messages'], '"parts"\s*:\s*\[\s*\]')
)

SELECT key
FROM outputs
WHERE
  len(messages -> '$[*].parts') > 0
  AND len(messages -> '$[*].parts[*]') = 0;
