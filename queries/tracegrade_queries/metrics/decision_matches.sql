-- Expectations that a decision point names itself: the first point of that name takes it.
--
-- Reads:
--   expectation_pairs
-- Columns:
--   attempt_id   INTEGER  One row for each attempt_id and position that is named.
--   point_index  INTEGER  The decision point.
--   position     INTEGER  The expectation.
-- Order:
--   attempt_id, position
SELECT
  attempt_id,
  min(point_index) AS point_index,
  position
FROM expectation_pairs
WHERE same_decision
GROUP BY attempt_id, position
ORDER BY attempt_id, position;
