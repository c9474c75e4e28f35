-- The alignment problem of each attempt: all columns except the attempt and its points.
--
-- Unknown arguments fit nothing. An empty list that is complete is a problem even without calls.
-- If other runs have other turns of the conversation, only expectations of the attempt's own turns
-- count, numbered among themselves. Source: docs/metrics.md, section 1.2.
--
-- Reads:
--   attempts
--   decision_points_of_calls
--   calls
--   calls_fitting_expected
--   own_expectations
--   task_expected
--   tasks
-- Columns:
--   attempt_id  INTEGER    One row for each attempt with a decision point or an expectation, also
--                          if it expects no call.
--   expected    INTEGER    Expectations.
--   complete    BOOLEAN    Their list is complete: any other call is wrong.
--   free_order  BOOLEAN    Their order does not matter.
--   made        INTEGER    Decision points.
--   pairs       STRUCT(point INTEGER, "position" INTEGER, fit VARCHAR)[]
--                          Each point with each expectation that it may meet, both counted from 0;
--                          sorted, empty if there are none. The fit is 'arguments' (the tool fits
--                          as well), 'tool' (it alone), or 'named' (by the span).
--   points      INTEGER[]  The first call of each point, in order; NULL if there are none.
-- Order:
--   attempt_id
WITH pairs AS (
  SELECT
    attempt_id,
    call_index,
    position,
    if(arguments_fit, 'arguments', 'tool') AS fit
  FROM calls_fitting_expected
  UNION ALL
  SELECT
    calls.attempt_id,
    calls.call_index,
    task_expected.position,
    'named' AS fit
  FROM calls
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN task_expected USING (task_id, decision)
),

first_calls AS (
  SELECT
    attempt_id,
    call_index,
    row_number() OVER (PARTITION BY attempt_id ORDER BY call_index) - 1 AS point
  FROM decision_points_of_calls
  WHERE call_index = first_call
),

points AS (
  SELECT
    attempt_id,
    list(call_index ORDER BY call_index) AS points
  FROM first_calls
  GROUP BY attempt_id
),

sorted_pairs AS (
  SELECT
    pairs.attempt_id,
    list_sort(
      list(
        struct_pack(
          point := first_calls.point::INTEGER,
          position := coalesce(
            list_position(own_expectations.positions, pairs.position) - 1, pairs.position
          )::INTEGER,
          fit := pairs.fit
        )
      )
    ) AS pairs
  FROM pairs
  INNER JOIN first_calls USING (attempt_id, call_index)
  LEFT JOIN own_expectations ON pairs.attempt_id = own_expectations.attempt_id
  WHERE coalesce(list_contains(own_expectations.positions, pairs.position), TRUE)
  GROUP BY pairs.attempt_id
),

posed AS (
  SELECT
    attempts.attempt_id,
    coalesce(len(own_expectations.positions), tasks.expected_count, 0)::INTEGER AS expected,
    coalesce(tasks.expected_complete = 'true', FALSE) AS complete,
    NOT coalesce(tasks.sequence_matters, FALSE) AS free_order,
    coalesce(tasks.has_expected, FALSE)
    AND own_expectations.attempt_id IS NULL AS may_expect_none,
    points.points,
    coalesce(sorted_pairs.pairs, []) AS pairs
  FROM attempts
  LEFT JOIN tasks USING (task_id)
  LEFT JOIN points USING (attempt_id)
  LEFT JOIN sorted_pairs USING (attempt_id)
  LEFT JOIN own_expectations ON attempts.attempt_id = own_expectations.attempt_id
)

SELECT
  attempt_id,
  expected,
  complete,
  free_order,
  coalesce(len(points), 0)::INTEGER AS made,
  pairs,
  points
FROM posed
WHERE
  points IS NOT NULL
  OR expected > 0
  OR (may_expect_none AND complete)
ORDER BY attempt_id;
