-- Arguments of cascade_candidates, and the results of those that may have led to other failures.
--
-- Reads:
--   cascade_candidates
-- As:
--   view
-- Columns:
--   attempt_id  INTEGER  The root trajectory.
--   call_index  INTEGER  The call.
--   returned    BOOLEAN  The text is the call's result; one row for each of the three.
--   text        VARCHAR  In lower case; NULL if not captured as a whole.
-- Order:
--   none
SELECT
  attempt_id,
  call_index,
  FALSE AS returned,
  lower(arguments) AS text
FROM cascade_candidates
UNION ALL
SELECT
  attempt_id,
  call_index,
  TRUE AS returned,
  lower(result) AS text
FROM cascade_candidates
WHERE may_lead;
