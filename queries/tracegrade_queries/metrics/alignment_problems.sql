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
--   attempt_id  INTEGER    One row for each attempt with a point and an expectation left.
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
      WHEN pairs.tool_fits AND coalesce(pairs.arguments_fit, FALSE) THEN 0
      WHEN pairs.tool_fits THEN 1
      WHEN tasks.expected_complete = 'true' THEN 3
      ELSE 4
    END AS letter_place
  FROM expectation_pairs AS pairs
  INNER JOIN task_matches USING (attempt_id)
  INNER JOIN tasks USING (task_id)
  ANTI JOIN decision_matches AS taken_points
    ON pairs.attempt_id = taken_points.attempt_id AND pairs.point_index = taken_points.point_index
  ANTI JOIN decision_matches AS taken_positions
    ON pairs.attempt_id = taken_positions.attempt_id AND pairs.position = taken_positions.position
),

-- One number for each pair: sorting numbers costs less than an aggregate with an order.
packed AS (
  SELECT
    attempt_id,
    list_sort(
      list(point_index::BIGINT * 4294967296 + position::BIGINT * 8 + letter_place)
    ) AS pairs
  FROM unnamed
  GROUP BY attempt_id
),

measured AS (
  SELECT
    attempt_id,
    pairs,
    pairs[1] // 4294967296 AS first_point,
    pairs[1] % 4294967296 // 8 AS first_position
  FROM packed
)

SELECT
  attempt_id,
  array_to_string(
    list_transform(
      pairs,
      LAMBDA pair: concat(
        if(
          pair // 4294967296 > first_point AND pair % 4294967296 // 8 = first_position, ',', ''
        ),
        substr('01?3x', (pair % 8)::BIGINT + 1, 1)
      )
    ),
    ''
  ) AS problem,
  list_transform(
    list_filter(pairs, LAMBDA pair: pair % 4294967296 // 8 = first_position),
    LAMBDA pair: (pair // 4294967296)::INTEGER
  ) AS points,
  list_transform(
    list_filter(pairs, LAMBDA pair: pair // 4294967296 = first_point),
    LAMBDA pair: (pair % 4294967296 // 8)::INTEGER
  ) AS positions
FROM measured
ORDER BY attempt_id;
