-- Messages of model calls from indexed keys.
--
-- Reads:
--   bucket_spans
--   traceloop_keys
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW traceloop_turn_positions AS
SELECT
  shape,
  direction,
  message_position,
  min(position) FILTER (WHERE field = 'role') AS role,
  min(position) FILTER (WHERE field = 'content') AS content,
  min(position) FILTER (WHERE field IN ('reasoning', 'reasoning_content')) AS thought,
  min(position) FILTER (WHERE field = 'tool_call_id') AS call_id,
  coalesce(bool_or(field = 'function_call') AND message_position = 0, FALSE) AS lists_calls
FROM traceloop_keys
GROUP BY shape, direction, message_position;

CREATE OR REPLACE TEMP TABLE traceloop_turns AS
WITH messages AS (
  SELECT
    key,
    values,
    attributes['gen_ai.output.messages'] AS output_messages,
    unnest(position_rows) AS positions
  FROM indexed_values('bucket_spans', 'traceloop_turn_positions')
)

SELECT
  key,
  positions.direction,
  positions.message_position,
  coalesce(values[positions.role], if(positions.direction = 'out', 'assistant', NULL)) AS role,
  -- LiteLLM lists calls in this way, and writes the text in the conventions' form.
  coalesce(
    values[positions.content],
    CASE
      WHEN positions.lists_calls AND positions.direction = 'out'
        THEN array_to_string(try_cast(output_messages AS JSON) ->> '$[0].parts[*].content', '')
    END
  ) AS content,
  -- Anthropic's content blocks, unchanged.
  json_type(
    CASE
      WHEN starts_with(values[positions.content], '[{')
        THEN try_cast(values[positions.content] AS JSON)
    END,
    '$[0].type'
  ) IS NOT NULL AS is_blocks,
  values[positions.thought] AS thought,
  values[positions.call_id] AS call_id
FROM messages;
