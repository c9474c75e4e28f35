-- Spans that mark a compacted history, messages that are kept elsewhere, or a named workflow.
--
-- The first is an attribute of the GenAI conventions. References to uploaded messages have the
-- names that opentelemetry-util-genai gives them, since the conventions have none yet.
--
-- Reads:
--   all_spans
--   shapes
-- Needs:
--   shapes WHERE regexp_matches(array_to_string(names, ' '), 'compacted|messages_ref|workflow')
-- Columns:
--   key           BIGINT   One row each.
--   is_compacted  BOOLEAN
--   is_elsewhere  BOOLEAN
--   is_workflow   BOOLEAN
-- Order:
--   none
WITH marking AS (
  SELECT
    shape,
    list_has_any(names, ['gen_ai.input.messages_ref', 'gen_ai.output.messages_ref'])
      AS is_elsewhere
  FROM shapes
  WHERE
    is_elsewhere
    OR list_has_any(names, ['gen_ai.conversation.compacted', 'gen_ai.workflow.name'])
)

SELECT
  all_spans.key,
  coalesce(all_spans.attributes['gen_ai.conversation.compacted'] = 'true', FALSE) AS is_compacted,
  marking.is_elsewhere,
  coalesce(all_spans.attributes['gen_ai.operation.name'] = 'invoke_workflow', FALSE) AS is_workflow
FROM all_spans
INNER JOIN marking USING (shape);
