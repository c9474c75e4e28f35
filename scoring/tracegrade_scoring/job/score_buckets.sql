-- The bucket that each trace is scored in.
--
-- A bucket holds traces that are next to each other in the lake: date after date and, within a
-- date, by id, as files are sorted. So each bucket reads few parts of them.
--
-- Reads:
--   traces_to_score
-- Parameters:
--   $bucket_steps  BIGINT  Steps that one bucket aims at.
-- Columns:
--   trace_id    VARCHAR    One row each; traces that are no longer here have none.
--   date        DATE       Date it was first received, UTC.
--   input_hash  VARCHAR    Changes when its records, verdicts or turns do.
--   turns       STRUCT(id VARCHAR, first_turn BIGINT, end_turn BIGINT)[]  Turns of a conversation
--                          that its runs have; NULL if each conversation has one run.
--   left_out    VARCHAR[]  Its trajectories that are left out; NULL if none is.
--   bucket      BIGINT     From 0, without gaps if traces are smaller than a bucket.
-- Order:
--   none
SELECT
  trace_id,
  date,
  input_hash,
  turns,
  left_out,
  (
    sum(steps) OVER (ORDER BY date, trace_id ROWS UNBOUNDED PRECEDING) - steps
  )::BIGINT // $bucket_steps AS bucket
FROM traces_to_score
WHERE date IS NOT NULL;
