-- Spans that mark a compacted history, or messages that are kept elsewhere.
--
-- The first is an attribute of the GenAI conventions. References to uploaded messages have the
-- names that opentelemetry-util-genai gives them, since the conventions have none yet.
--
-- Reads:
--   all_spans
--   shapes
-- Needs:
--   shapes WHERE regexp_matches(array_to_string(names, ' '), 'compacted|messages_ref')
-- Columns:
--   key           BIGINT   One row each.
--   is_compacted  BOOLEAN
--   is_elsewhere  BOOLEAN
-- Order:
--   none
WITH marking AS (
  SELECT
    shape,
    list_has_any(names, ['gen_ai.input.messages_ref', 'gen_ai.output.messages_ref'])
      AS is_elsewhere
  FROM shapes
  WHERE is_elsewhere OR list_contains(names, 'gen_ai.conversation.compacted')
)

SELECT
  all_spans.key,
  coalesce(all_spans.attributes['gen_ai.conversation.compacted'] = 'true', FALSE) AS is_compacted,
  marking.is_elsewhere
FROM all_spans
INNER JOIN marking USING (shape);
