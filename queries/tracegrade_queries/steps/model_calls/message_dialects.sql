-- Which dialect tells what each model span received and sent.
--
-- Where several read the messages of one span, it is the one that finds most parts, the strongest
-- among equals.
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
--   precedence  INTEGER  Of the dialect, as dialect_messages has it.
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
