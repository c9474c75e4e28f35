-- Messages of model calls, as indexed keys tell them.
--
-- Reads:
--   bucket_spans
--   traceloop_keys
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE traceloop_turns AS
WITH message_places AS (
  SELECT
    shape,
    direction,
    message_position,
    min(place) FILTER (WHERE field = 'role') AS role,
    min(place) FILTER (WHERE field = 'content') AS content,
    min(place) FILTER (WHERE field IN ('reasoning', 'reasoning_content')) AS thought,
    min(place) FILTER (WHERE field = 'tool_call_id') AS call_id,
    coalesce(bool_or(field = 'function_call') AND message_position = 0, FALSE) AS lists_calls
  FROM traceloop_keys
  GROUP BY shape, direction, message_position
),

-- One row for each shape: a join with several would copy all values of a span for each message.
places AS (
  SELECT
    shape,
    list(message_places) AS messages
  FROM message_places
  GROUP BY shape
),

messages AS (
  SELECT
    bucket_spans.key,
    map_values(bucket_spans.attributes) AS told,
    bucket_spans.attributes['gen_ai.output.messages'] AS said,
    unnest(places.messages) AS place
  FROM bucket_spans
  INNER JOIN places USING (shape)
)

SELECT
  key,
  place.direction,
  place.message_position,
  coalesce(told[place.role], if(place.direction = 'out', 'assistant', NULL)) AS role,
  -- LiteLLM lists calls so, and tells the text beside them in the conventions' form.
  coalesce(
    told[place.content],
    CASE
      WHEN place.lists_calls AND place.direction = 'out'
        THEN array_to_string(try_cast(said AS JSON) ->> '$[0].parts[*].content', '')
    END
  ) AS content,
  -- Anthropic's content blocks, as they were.
  json_type(
    CASE
      WHEN starts_with(told[place.content], '[{') THEN try_cast(told[place.content] AS JSON)
    END,
    '$[0].type'
  ) IS NOT NULL AS is_blocks,
  told[place.thought] AS thought,
  told[place.call_id] AS call_id
FROM messages;
