-- Model calls that are their whole trace, and that another trace of the bucket records, too.
--
-- Without a span around them, two instrumentations of a client each begin a trace. Both records
-- have one response id and overlap in time; the one with more content counts.
--
-- Reads:
--   dialect_messages
--   operations
--   response_ids
-- Needs:
--   response_ids
--   operations WHERE operation = 'model' AND parent_span_id IS NULL
-- Columns:
--   key  BIGINT  One row each.
-- Order:
--   none
WITH shared AS (
  SELECT response_ids.response_id
  FROM response_ids
  INNER JOIN operations USING (key)
  WHERE operations.operation = 'model'
  GROUP BY response_ids.response_id
  HAVING
    min(operations.trace_id) <> max(operations.trace_id)
    AND min(operations.scope_name) <> max(operations.scope_name)
),

records AS (
  SELECT
    operations.key,
    operations.trace_id,
    operations.scope_name,
    operations.start_ns,
    operations.end_ns,
    response_ids.response_id,
    operations.parent_span_id IS NULL AS is_top
  FROM operations
  INNER JOIN response_ids USING (key)
  SEMI JOIN shared ON response_ids.response_id = shared.response_id
  WHERE operations.operation = 'model'
),

sizes AS (
  SELECT
    operations.trace_id,
    count(*) AS operations
  FROM operations
  SEMI JOIN records USING (trace_id)
  GROUP BY operations.trace_id
),

telling AS (
  SELECT
    dialect_messages.key,
    count(*) AS parts
  FROM dialect_messages
  SEMI JOIN records USING (key)
  GROUP BY dialect_messages.key
),

ranked AS (
  SELECT
    records.*,
    records.is_top AND sizes.operations = 1 AS is_alone,
    row_number() OVER (
      ORDER BY
        sizes.operations > 1 DESC, coalesce(telling.parts, 0) DESC, records.start_ns ASC,
        records.key ASC
    ) AS rank
  FROM records
  INNER JOIN sizes USING (trace_id)
  LEFT JOIN telling USING (key)
)

SELECT DISTINCT copies.key
FROM ranked AS copies
INNER JOIN ranked AS originals
  ON
    copies.response_id = originals.response_id
    AND copies.trace_id <> originals.trace_id
    AND copies.scope_name <> originals.scope_name
    AND copies.rank > originals.rank
WHERE
  copies.is_alone
  AND (
    share_half_their_time(copies.start_ns, copies.end_ns, originals.start_ns, originals.end_ns)
    OR (copies.start_ns >= originals.start_ns AND copies.end_ns <= originals.end_ns)
    OR (copies.start_ns <= originals.start_ns AND copies.end_ns >= originals.end_ns)
  );
