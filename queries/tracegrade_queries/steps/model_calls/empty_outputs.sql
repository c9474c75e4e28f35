-- Spans of model calls which record that the model said nothing.
--
-- An empty text stands where an instrumentation that captures no content leaves the attribute out.
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
  WHERE
    list_has_any(
      names, ['gen_ai.output.messages', 'ai.response.text', 'gen_ai.completion.0.content']
    )
),

outputs AS (
  SELECT
    all_spans.key,
    '' IN (
      trim(all_spans.attributes['ai.response.text']),
      trim(all_spans.attributes['gen_ai.completion.0.content'])
    ) AS has_empty_text,
    CASE
      WHEN
        regexp_matches(
          all_spans.attributes['gen_ai.output.messages'], '"parts"\s*:\s*\[\s*\]'
        )
        THEN try_cast(all_spans.attributes['gen_ai.output.messages'] AS JSON)
    END AS messages
  FROM all_spans
  SEMI JOIN recording USING (shape)
)

SELECT key
FROM outputs
WHERE
  has_empty_text
  OR (len(messages -> '$[*].parts') > 0 AND len(messages -> '$[*].parts[*]') = 0);
