-- Runs that replays recorded, and the run among them with most content, which represents all.
--
-- Reads:
--   operations
--   run_copy_ends
--   placed_operations
-- Needs:
--   run_copy_ends
-- Columns:
--   run          BIGINT  One row each, also for the run that represents the others.
--   counted_run  BIGINT  The run with most model and tool spans, the first of several.
-- Order:
--   none
WITH replays AS (
  SELECT
    key AS run,
    last AS first_run
  FROM run_copy_ends
  UNION
  SELECT
    last AS run,
    last AS first_run
  FROM run_copy_ends
),

sizes AS (
  SELECT
    replays.run,
    replays.first_run,
    count(*) FILTER (WHERE operations.operation IN ('model', 'tool')) AS spans
  FROM replays
  INNER JOIN placed_operations USING (run)
  INNER JOIN operations USING (key)
  GROUP BY replays.run, replays.first_run
)

SELECT
  sizes.run,
  first_value(sizes.run) OVER (
    PARTITION BY sizes.first_run
    ORDER BY sizes.spans DESC, agents.start_ns ASC, agents.span_id ASC, sizes.run ASC
  ) AS counted_run
FROM sizes
INNER JOIN operations AS agents ON sizes.run = agents.key;
