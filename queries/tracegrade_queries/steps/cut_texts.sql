-- Attributes that hold JSON which starts and does not end: the exporter cut them.
--
-- Results are left out: a cut text is what was captured of them.
--
-- Reads:
--   bucket_spans
-- Columns:
--   key   BIGINT   Of the span in bucket_spans.
--   name  VARCHAR  Of the attribute.
--   text  VARCHAR
-- Order:
--   none
WITH entries AS (
  SELECT
    key,
    unnest(
      list_filter(
        map_entries(attributes),
        LAMBDA entry:
        entry.value[1] IN ('[', '{')
        AND entry.value[-1] NOT IN (']', '}')
        AND regexp_matches(
          entry.key,
          '(messages|arguments|args|definitions|prompt|completion|llm_request|llm_response'
          '|request_data|response_data|events|toolCalls|entity\.input)$'
        )
      )
    ) AS entry
  FROM bucket_spans
)

SELECT
  key,
  entry.key AS name,
  entry.value AS text
FROM entries;
