-- The turn of each call of an attempt with expectations, and whether tool correctness grades it.
--
-- Calls that change nothing are left out if only the list of writes is complete. Turns are the
-- root's turns, numbered after those of earlier runs of its conversation. A sub-agent's calls
-- belong to the turn in which they were made. Source: docs/metrics.md, section 2.1.
--
-- Reads:
--   attempts
--   calls
--   own_expectations
--   task_expected
--   tasks
-- Needs:
--   tasks WHERE has_expected
-- Columns:
--   attempt_id  INTEGER  An attempt whose task states expectations.
--   call_index  INTEGER  One row for each attempt_id and call_index.
--   turn        INTEGER  -1 where no expectation is given by turn.
--   graded      BOOLEAN  False if it is left out.
-- Order:
--   none
WITH by_turn AS (
  SELECT DISTINCT task_id
  FROM task_expected
  WHERE turn IS NOT NULL
),

expecting AS (
  SELECT
    attempts.attempt_id,
    tasks.expected_complete = 'writes' AS writes_only,
    by_turn.task_id IS NOT NULL AS by_turn
  FROM attempts
  INNER JOIN tasks USING (task_id)
  LEFT JOIN by_turn USING (task_id)
  WHERE tasks.has_expected
)

SELECT
  calls.attempt_id,
  calls.call_index,
  -1 AS turn,
  NOT expecting.writes_only OR calls.may_change AS graded
FROM calls
INNER JOIN expecting USING (attempt_id)
WHERE NOT expecting.by_turn
UNION ALL
SELECT
  calls.attempt_id,
  calls.call_index,
  coalesce(
    max(if(calls.trajectory_id = calls.attempt_id, calls.turn, NULL)) OVER (
      PARTITION BY calls.attempt_id
      ORDER BY calls.call_index
    ),
    0
  )
  + coalesce(own_expectations.first_turn, 0)::INTEGER AS turn,
  NOT expecting.writes_only OR calls.may_change AS graded
FROM calls
INNER JOIN expecting USING (attempt_id)
LEFT JOIN own_expectations ON calls.attempt_id = own_expectations.attempt_id
WHERE expecting.by_turn;
