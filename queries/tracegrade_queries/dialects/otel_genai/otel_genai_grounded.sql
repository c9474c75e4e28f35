-- Tools that Google ran for an answer, from attributes outside the messages.
--
-- ADK counts the queries of a search and the sources found, and names both if content is captured.
-- Vercel's AI SDK writes the provider's metadata if it is configured to.
--
-- Reads:
--   bucket_spans
--   shapes
-- Needs:
--   shapes WHERE list_has_any(names, ['adk.experimental.grounding.query_count',
--     'ai.response.providerMetadata'])
-- Columns:
--   key               BIGINT   Span.
--   direction         VARCHAR  out.
--   message_position  INTEGER
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  server_tool_call.
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN
-- Order:
--   none
WITH telling AS (
  SELECT shape
  FROM shapes
  WHERE
    list_has_any(names, ['adk.experimental.grounding.query_count', 'ai.response.providerMetadata'])
),

spans AS (
  SELECT
    key,
    attributes,
    json_object(
      'type', 'server_tool_call',
      'name', 'google_search',
      'args', CASE
        WHEN attributes['adk.experimental.grounding.web_search_queries'] IS NOT NULL
          THEN json_object(
            'queries',
            try_cast(attributes['adk.experimental.grounding.web_search_queries'] AS JSON)
          )
      END,
      'output', try_cast(attributes['adk.experimental.grounding.source_uris'] AS JSON),
      'status', 'completed'
    ) AS search,
    CASE
      WHEN attributes['ai.operationId'] IS NULL
        THEN grounding_blocks(google_metadata(attributes['ai.response.providerMetadata']))
    END AS grounding
  FROM bucket_spans
  WHERE shape IN (SELECT telling.shape FROM telling)
),

blocks AS (
  SELECT
    key,
    search AS block,
    0 AS position
  FROM spans
  WHERE
    try_cast(attributes['adk.experimental.grounding.query_count'] AS BIGINT) > 0
    OR try_cast(attributes['adk.experimental.grounding.chunk_count'] AS BIGINT) > 0
  UNION ALL
  SELECT
    key,
    unnest(grounding) AS block,
    generate_subscripts(grounding, 1) AS position
  FROM spans
),

parts AS (
  SELECT
    key,
    position,
    hosted_part(block) AS part
  FROM blocks
)

SELECT
  key,
  'out' AS direction,
  0 AS message_position,
  position AS part_position,
  'assistant' AS role,
  part.part_type,
  part.tool_name,
  part.call_id,
  part.arguments,
  result_text(part.result) AS result,
  part.failed
FROM parts;
