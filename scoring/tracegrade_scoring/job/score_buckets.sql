-- Which bucket each trace is scored in.
--
-- A bucket holds traces that stand together in the lake: of one date after the other and, in a
-- date, by id, which is how files are sorted. So each bucket reads few parts of them.
--
-- Reads:
--   traces_to_score
-- Parameters:
--   $bucket_steps  BIGINT  Steps that one bucket aims at.
-- Columns:
--   trace_id    VARCHAR    One row each; traces that are no longer here have none.
--   date        DATE       Date it was first received, UTC.
--   input_hash  VARCHAR    Changes when its records, verdicts or turns do.
--   turns       STRUCT(id VARCHAR, first_turn BIGINT, end_turn BIGINT)[]  Which turns of a
--                          conversation its runs have; NULL if none has others beside it.
--   left_out    VARCHAR[]  Its trajectories that are left out; NULL if none is.
--   bucket      BIGINT     From 0, without gaps for traces of less than a bucket.
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
