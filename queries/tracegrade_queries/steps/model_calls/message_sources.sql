-- Model spans, and whether the messages of their model call are taken from them.
--
-- If several spans record one call, the span with most parts of a direction is taken. Among
-- equals, the one with most thoughts in its texts is taken, then the one with the longest texts:
-- for a stream, some spans record only the last piece.
--
-- Reads:
--   message_parts
--   model_members
--   model_calls
--   operations
-- Needs:
--   model_members
-- Columns:
--   key           BIGINT   Model span; one row each.
--   model_call    BIGINT
--   run           BIGINT
--   start_ns      BIGINT   Start of the model call.
--   gives_input   BOOLEAN  Its input is that of the call.
--   gives_output  BOOLEAN  Its output is that of the call.
-- Order:
--   none
WITH shared AS (
  SELECT model_call
  FROM model_members
  GROUP BY model_call
  HAVING count(*) > 1
),

counts AS (
  SELECT
    model_members.model_call,
    model_members.key,
    count(*) FILTER (WHERE message_parts.direction = 'in') AS input_parts,
    count(*) FILTER (WHERE message_parts.direction = 'out') AS output_parts,
    count(*) FILTER (
      WHERE message_parts.direction = 'in' AND message_parts.part_type = 'reasoning'
    ) AS input_thoughts,
    count(*) FILTER (
      WHERE message_parts.direction = 'out' AND message_parts.part_type = 'reasoning'
    ) AS output_thoughts,
    sum(length(message_parts.text)) FILTER (WHERE message_parts.direction = 'out')
      AS output_length
  FROM model_members
  SEMI JOIN shared USING (model_call)
  INNER JOIN message_parts USING (key)
  GROUP BY model_members.model_call, model_members.key
),

ranked AS (
  SELECT
    counts.key,
    row_number() OVER (
      PARTITION BY counts.model_call
      ORDER BY
        counts.input_parts DESC,
        counts.input_thoughts DESC,
        operations.start_ns ASC,
        operations.span_id DESC
    ) = 1 AS gives_input,
    row_number() OVER (
      PARTITION BY counts.model_call
      ORDER BY
        counts.output_parts DESC,
        counts.output_thoughts DESC,
        counts.output_length DESC NULLS LAST,
        operations.start_ns ASC,
        operations.span_id DESC
    ) = 1 AS gives_output
  FROM counts
  INNER JOIN operations USING (key)
)

SELECT
  model_members.key,
  model_members.model_call,
  model_calls.run,
  model_calls.start_ns,
  shared.model_call IS NULL OR coalesce(ranked.gives_input, FALSE) AS gives_input,
  shared.model_call IS NULL OR coalesce(ranked.gives_output, FALSE) AS gives_output
FROM model_members
INNER JOIN model_calls USING (model_call)
LEFT JOIN shared USING (model_call)
LEFT JOIN ranked USING (key);
