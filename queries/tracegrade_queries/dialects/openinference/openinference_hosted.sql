-- Tools that the model's provider ran itself, as whole outputs record them.
--
-- The indexed keys name few of these calls, and hold no result of any. Outputs are those of
-- OpenAI's Responses, Anthropic, Google (its Interactions and ADK's responses, too), LiteLLM and
-- LangChain.
--
-- Reads:
--   bucket_spans
--   openinference_items
-- Needs:
--   bucket_spans WHERE attributes['openinference.span.kind'] = 'LLM' AND
--     tells_hosted(attributes['output.value'])
-- Columns:
--   key               BIGINT   Span.
--   direction         VARCHAR  out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  server_tool_call | server_tool_call_response.
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN
-- Order:
--   none
WITH outputs AS (
  SELECT
    key,
    try_cast(attributes['output.value'] AS JSON) AS output
  FROM bucket_spans
  WHERE
    attributes['openinference.span.kind'] = 'LLM' AND tells_hosted(attributes['output.value'])
),

lists AS (
  SELECT
    key,
    json_type(output, '$.output') = 'ARRAY' OR json_type(output, '$[0].output') = 'ARRAY'
      AS is_items,
    coalesce(
      output -> '$.output',
      output -> '$[0].output',
      output -> '$.content.parts',
      output -> '$.content',
      output -> '$.candidates[0].content.parts',
      output -> '$.generations[0][0].message.kwargs.content',
      output -> '$.steps',
      output -> '$.outputs',
      output -> '$[0].content'
    ) AS output_items,
    -- Metadata of the same answer, next to the messages.
    hosted_in_metadata(
      coalesce(
        output -> '$.candidates[0]', output -> '$.generations[0][0].message.kwargs', output
      )
    ) AS metadata_blocks,
    to_json(
      metadata_blocks
      || if(json_type(output_items) = 'ARRAY', cast(output_items AS JSON[]), cast([] AS JSON[]))
    ) AS items
  FROM outputs
),

items AS (
  SELECT
    key,
    coalesce(is_items, FALSE) AS is_items,
    unnest(cast(items AS JSON[])) AS item,
    generate_subscripts(cast(items AS JSON[]), 1) AS position
  FROM lists
  WHERE json_type(items) = 'ARRAY'
),

parts AS (
  SELECT
    key,
    is_items,
    position,
    hosted_part(item) AS part
  FROM items
  WHERE is_hosted(item)
)

SELECT
  key,
  'out' AS direction,
  if(is_items, position - 1, 0) AS message_position,
  -- A message whose text is one value comes after the calls.
  CASE
    WHEN is_items THEN 1
    WHEN
      key IN (
        SELECT openinference_items.key FROM openinference_items
        WHERE openinference_items.field = 'contents' AND openinference_items.direction = 'out'
      )
      THEN position
    ELSE position - position_gap()
  END AS part_position,
  'assistant' AS role,
  part.part_type,
  part.tool_name,
  part.call_id,
  part.arguments,
  result_text(part.result) AS result,
  part.failed
FROM parts;
