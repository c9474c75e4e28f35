-- What is left to align in each attempt, as a text in which equal problems are equal.
--
-- One letter per pair: 0 tool and arguments fit, 1 the tool alone, 3 another tool (only where the
-- list of expected calls is complete), x cannot be paired. Unknown arguments fit nothing. Letters
-- of one decision point stand together in the order of expectations; points are parted by commas,
-- in their order. Source: metrics.md, section 1.
--
-- Reads:
--   decision_matches
--   expectation_pairs
--   task_matches
--   tasks
-- Columns:
--   attempt_id  VARCHAR    One row for each attempt with a point and an expectation left.
--   problem     VARCHAR    E.g. '03,31'.
--   points      INTEGER[]  The decision points left, in order: those between the commas.
--   positions   INTEGER[]  The expectations left, in order: those of the letters.
-- Order:
--   attempt_id
WITH unnamed AS (
  SELECT
    pairs.attempt_id,
    pairs.point_index,
    pairs.position,
    CASE
      WHEN pairs.tool_fits AND coalesce(pairs.arguments_fit, FALSE) THEN '0'
      WHEN pairs.tool_fits THEN '1'
      WHEN tasks.expected_complete = 'true' THEN '3'
      ELSE 'x'
    END AS letter
  FROM expectation_pairs AS pairs
  INNER JOIN task_matches USING (attempt_id)
  INNER JOIN tasks USING (task_id)
  ANTI JOIN decision_matches AS taken_points
    ON pairs.attempt_id = taken_points.attempt_id AND pairs.point_index = taken_points.point_index
  ANTI JOIN decision_matches AS taken_positions
    ON pairs.attempt_id = taken_positions.attempt_id AND pairs.position = taken_positions.position
),

points AS (
  SELECT
    attempt_id,
    point_index,
    string_agg(letter, '' ORDER BY position) AS letters,
    list(position ORDER BY position) AS positions
  FROM unnamed
  GROUP BY attempt_id, point_index
)

SELECT
  attempt_id,
  string_agg(letters, ',' ORDER BY point_index) AS problem,
  list(point_index ORDER BY point_index) AS points,
  any_value(positions) AS positions
FROM points
GROUP BY attempt_id
ORDER BY attempt_id;
