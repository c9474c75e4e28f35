-- Model calls without ids in replayed runs; equal calls of several runs count once.
--
-- Reads:
--   found_copy_ends
--   model_records
--   run_copies
-- Needs:
--   run_copies
-- Columns:
--   key   BIGINT  As `record` in model_records; one row each.
--   last  BIGINT  The record of the call that counts.
-- Order:
--   none
WITH numbered AS (
  SELECT
    model_records.*,
    run_copies.counted_run,
    row_number() OVER (
      PARTITION BY
        model_records.run, model_records.failed, model_records.output, model_records.input
      ORDER BY model_records.rank
    ) AS occurrence
  FROM model_records
  INNER JOIN run_copies USING (run)
  ANTI JOIN found_copy_ends ON model_records.record = found_copy_ends.key
  WHERE model_records.output IS NOT NULL AND model_records.input IS NOT NULL
),

paired AS (
  SELECT
    record AS key,
    first_value(record) OVER (
      PARTITION BY counted_run, failed, output, input, occurrence, response_id
      ORDER BY run <> counted_run, rank
    ) AS last
  FROM numbered
)

SELECT
  key,
  last
FROM paired
WHERE key <> last;
