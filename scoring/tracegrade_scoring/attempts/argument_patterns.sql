-- The patterns of its task's sub-goals that the arguments of a call match.
--
-- Reads:
--   argument_matches
-- Columns:
--   attempt_id  INTEGER    The root trajectory.
--   call_index  INTEGER    The call; one row for each attempt_id and call_index.
--   patterns    VARCHAR[]  At least one.
-- Order:
--   none
SELECT
  attempt_id,
  call_index,
  list(pattern) AS patterns
FROM argument_matches
WHERE fits
GROUP BY attempt_id, call_index;
