-- The dialect that reads the input and the output of each model span.
--
-- If several dialects read the messages of one span, the one with most parts is chosen; among
-- equals, the one with the strongest precedence.
--
-- Reads:
--   dialect_messages
--   operations
--   operation_runs
-- Needs:
--   operations WHERE operation = 'model' OR tells_calls
-- Columns:
--   key         BIGINT   Model span.
--   direction   VARCHAR  in | out; one row each, where there are parts.
--   precedence  INTEGER  Precedence of the dialect, as in dialect_messages.
-- Order:
--   none
WITH model_spans AS (
  SELECT operations.key
  FROM operations
  SEMI JOIN operation_runs USING (key)
  WHERE operations.operation = 'model' OR operations.tells_calls
),

counts AS (
  SELECT
    key,
    direction,
    precedence,
    count(*) AS part_count
  FROM dialect_messages
  WHERE
    key IN (FROM model_spans)
    AND part_type IN (
      'text', 'reasoning', 'tool_call', 'tool_call_response',
      'server_tool_call', 'server_tool_call_response'
    )
  GROUP BY key, direction, precedence
)

SELECT
  key,
  direction,
  arg_max(precedence, pair_order(part_count, -precedence)) AS precedence
FROM counts
GROUP BY key, direction;
