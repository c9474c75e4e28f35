-- Edges from runs that a workflow's replay recorded again to the earlier run.
--
-- The earlier run is of the same agent in their trace, and made one of their model calls.
--
-- Reads:
--   found_copy_ends
--   model_records
--   run_starts
-- Needs:
--   found_copy_ends
-- Ends:
--   run_copy_ends
-- Columns:
--   key   BIGINT  One row each.
--   next  BIGINT  The first of those runs to start.
-- Order:
--   none
WITH shared AS (
  SELECT DISTINCT
    copies.run,
    originals.run AS other
  FROM found_copy_ends
  INNER JOIN model_records AS copies ON found_copy_ends.key = copies.record
  INNER JOIN model_records AS originals ON found_copy_ends.last = originals.record
  WHERE copies.run <> originals.run
),

agents AS (
  SELECT
    *,
    row_number() OVER (ORDER BY start_ns, span_id, key) AS rank
  FROM run_starts
),

pairs AS (
  SELECT
    if(one.rank > two.rank, one.key, two.key) AS key,
    if(one.rank > two.rank, two.key, one.key) AS next,
    least(one.rank, two.rank) AS rank
  FROM shared
  INNER JOIN agents AS one ON shared.run = one.key
  INNER JOIN agents AS two
    ON
      shared.other = two.key
      AND one.scope_name = two.scope_name
      AND one.agent_name IS NOT DISTINCT FROM two.agent_name
)

SELECT
  key,
  arg_min(next, rank) AS next
FROM pairs
GROUP BY key;
