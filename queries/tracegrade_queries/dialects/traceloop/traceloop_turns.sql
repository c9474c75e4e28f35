-- Messages of model calls, as indexed keys tell them.
--
-- Reads:
--   bucket_spans
--   traceloop_keys
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE traceloop_turns AS
WITH places AS (
  SELECT
    shape,
    direction,
    message_position,
    min(place) FILTER (WHERE field = 'role') AS role,
    min(place) FILTER (WHERE field = 'content') AS content,
    min(place) FILTER (WHERE field IN ('reasoning', 'reasoning_content')) AS thought,
    min(place) FILTER (WHERE field = 'tool_call_id') AS call_id
  FROM traceloop_keys
  GROUP BY shape, direction, message_position
),

spans AS NOT MATERIALIZED (
  SELECT
    key,
    shape,
    map_values(attributes) AS told
  FROM bucket_spans
)

SELECT
  spans.key,
  places.direction,
  places.message_position,
  coalesce(spans.told[places.role], if(places.direction = 'out', 'assistant', NULL)) AS role,
  spans.told[places.content] AS content,
  -- Anthropic's content blocks, as they were.
  json_type(
    CASE
      WHEN starts_with(spans.told[places.content], '[{')
        THEN try_cast(spans.told[places.content] AS JSON)
    END,
    '$[0].type'
  ) IS NOT NULL AS is_blocks,
  spans.told[places.thought] AS thought,
  spans.told[places.call_id] AS call_id
FROM spans
INNER JOIN places USING (shape);
