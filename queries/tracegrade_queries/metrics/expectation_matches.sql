-- Which decision point stands for which expectation: by name, else by alignment.
--
-- Reads:
--   alignment_problems
--   alignments
--   decision_matches
-- Columns:
--   attempt_id   INTEGER  One row for each attempt_id and position that is met.
--   point_index  INTEGER  The decision point.
--   position     INTEGER  The expectation.
-- Order:
--   attempt_id, position
SELECT
  attempt_id,
  point_index,
  position
FROM decision_matches
UNION ALL
SELECT
  problems.attempt_id,
  problems.points[alignments.point + 1] AS point_index,
  problems.positions[alignments.expectation + 1] AS position
FROM alignment_problems AS problems
INNER JOIN alignments USING (problem)
ORDER BY attempt_id, position;
