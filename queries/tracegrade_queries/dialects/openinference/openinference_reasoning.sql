-- Reasoning that only the raw response holds.
--
-- The responses are those of Chat Completions, Responses, Anthropic, Bedrock, Gemini and AutoGen's
-- clients.
--
-- Reads:
--   bucket_spans
--   openinference_items
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW openinference_reasoning AS
WITH reasoning AS (
  SELECT key
  FROM openinference_items
  WHERE direction = 'out' AND field = 'contents' AND type = 'reasoning'
),

-- Set apart first, so that no other is read for its thoughts.
unthinking AS MATERIALIZED (
  SELECT
    bucket_spans.key,
    bucket_spans.attributes['output.value'] AS output
  FROM bucket_spans
  ANTI JOIN reasoning USING (key)
  WHERE
    bucket_spans.attributes['openinference.span.kind'] = 'LLM'
    AND starts_with(bucket_spans.attributes['output.value'], '{')
    -- Most hold none.
    AND regexp_matches(
      bucket_spans.attributes['output.value'],
      '"(reasoning(_content|Text)?|thinking|thought|summary)": ?("[^"]|[\[{] ?[^\]])'
    )
),

raw_thoughts AS (
  SELECT
    key,
    try_cast(output AS JSON) AS answer,
    list_filter(
      json_extract_string(
        answer,
        ['$.choices[0].message.reasoning_content', '$.choices[0].message.reasoning', '$.thought']
      ), LAMBDA thought: thought <> ''
    )[:1]
    || (answer ->> '$.output[*].summary[*].text')
    || (answer ->> '$.content[*].thinking')
    || (answer ->> '$.output.message.content[*].reasoningContent.reasoningText.text') AS thoughts
  FROM unthinking
),

raw_reasoning AS (
  SELECT
    key,
    array_to_string(thoughts, chr(10)) AS text
  FROM raw_thoughts
  WHERE len(thoughts) > 0
)

SELECT
  key,
  'out' AS direction,
  0 AS message_position,
  -1 AS part_position,
  'assistant' AS role,
  'reasoning' AS part_type,
  text
FROM raw_reasoning;
