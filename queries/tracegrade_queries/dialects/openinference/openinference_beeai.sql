-- Outputs of models of BeeAI's agents in JavaScript, whose keys hold texts in pieces and no calls.
--
-- Every event is a span there, named by its path: the span of a success holds the whole output.
--
-- Reads:
--   bucket_spans
-- Needs:
--   bucket_spans WHERE scope_name = '@arizeai/openinference-instrumentation-beeai'
-- Columns:
--   key      BIGINT  One row for each model call that answered.
--   message  JSON    Its text as one, and its calls.
-- Order:
--   none
WITH outputs AS (
  SELECT
    key,
    try_cast(attributes['output.value'] AS JSON) AS output
  FROM bucket_spans
  WHERE
    scope_name = '@arizeai/openinference-instrumentation-beeai'
    AND attributes['openinference.span.kind'] = 'LLM'
    AND ends_with(attributes['target'], '.chat.success')
)

SELECT
  key,
  json_object(
    'role', 'assistant',
    'content',
    list_concat(
      [
        json_object(
          'type', 'text', 'text', array_to_string(output ->> '$[*].content[*].text', '')
        )
      ],
      list_filter(
        json_extract(output, '$[*].content[*]'),
        LAMBDA block: block ->> '$.type' = 'tool-call'
      )
    )
  ) AS message
FROM outputs
WHERE json_type(output) = 'ARRAY';
