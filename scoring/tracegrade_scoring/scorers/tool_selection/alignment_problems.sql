-- What is to be aligned in each attempt, as a text in which equal problems are equal.
--
-- First the number of expectations, with '!' where their list is complete and '~' where their
-- order does not matter, then that of decision points, then each point beside an expectation that
-- it may stand for, in order: point:position/0 where tool and arguments fit, /1 where the tool
-- alone does, /n where the span names it. Unknown arguments fit nothing. An empty list that is
-- complete is a problem without calls too. Where other runs have other turns of the conversation,
-- expectations of the attempt's own turns alone count, and go by their places among these.
-- Source: docs/metrics.md, section 1.2.
--
-- Reads:
--   attempts
--   call_points
--   calls
--   fitting_pairs
--   own_expectations
--   task_expected
--   tasks
-- Columns:
--   attempt_id  INTEGER    One row for each attempt with a decision point or an expectation, be it
--                          that no call is made.
--   problem     VARCHAR    E.g. '2!~ 3 0:0/1 2:0/0'.
--   points      INTEGER[]  The first call of each point, in order; NULL if there are none.
-- Order:
--   attempt_id
WITH pairs AS (
  SELECT
    attempt_id,
    call_index,
    position,
    if(arguments_fit, 0, 1) AS letter_place
  FROM fitting_pairs
  UNION ALL
  SELECT
    calls.attempt_id,
    calls.call_index,
    task_expected.position,
    2 AS letter_place
  FROM calls
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN task_expected USING (task_id, decision)
),

first_calls AS (
  SELECT
    attempt_id,
    list_sort(list(call_index)) AS points
  FROM call_points
  WHERE call_index = first_call
  GROUP BY attempt_id
),

-- There are fewer of these than of first calls.
later_calls AS (
  SELECT
    attempt_id,
    call_index
  FROM call_points
  WHERE call_index <> first_call
),

-- One number for each pair: sorting numbers costs less than an aggregate with an order.
first_pairs AS (
  SELECT
    pairs.attempt_id,
    pairs.call_index::BIGINT * 4294967296
    + coalesce(list_position(own_expectations.positions, pairs.position) - 1, pairs.position)
    * 4
    + pairs.letter_place AS pair
  FROM pairs
  LEFT JOIN own_expectations USING (attempt_id)
  ANTI JOIN later_calls
    ON pairs.attempt_id = later_calls.attempt_id AND pairs.call_index = later_calls.call_index
  WHERE coalesce(list_contains(own_expectations.positions, pairs.position), TRUE)
),

sorted_pairs AS (
  SELECT
    attempt_id,
    list_sort(list(pair)) AS pairs
  FROM first_pairs
  GROUP BY attempt_id
),

posed AS (
  SELECT
    attempts.attempt_id,
    coalesce(len(own_expectations.positions), tasks.expected_count, 0) AS expected,
    if(tasks.expected_complete = 'true', '!', '') AS complete,
    if(tasks.sequence_matters, '', '~') AS free_order,
    coalesce(tasks.has_expected AND tasks.expected_complete = 'true', FALSE)
    AND own_expectations.attempt_id IS NULL AS expects_no_others,
    first_calls.points,
    sorted_pairs.pairs
  FROM attempts
  LEFT JOIN tasks USING (task_id)
  LEFT JOIN first_calls USING (attempt_id)
  LEFT JOIN sorted_pairs USING (attempt_id)
  LEFT JOIN own_expectations ON attempts.attempt_id = own_expectations.attempt_id
)

SELECT
  attempt_id,
  concat_ws(
    ' ',
    concat(expected, complete, free_order),
    coalesce(len(points), 0),
    array_to_string(
      list_transform(
        pairs,
        LAMBDA pair: concat(
          list_position(points, (pair // 4294967296)::INTEGER) - 1,
          ':',
          pair % 4294967296 // 4,
          '/',
          substr('01n', (pair % 4)::BIGINT + 1, 1)
        )
      ),
      ' '
    )
  ) AS problem,
  points
FROM posed
WHERE
  points IS NOT NULL
  OR expected > 0
  OR expects_no_others
ORDER BY attempt_id;
