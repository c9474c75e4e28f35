-- Calls that failed or were not what their task expects, of attempts in which two failed.
--
-- Source: [Harness], "Failure-mode taxonomy"; docs/metrics.md, section 9.4.
--
-- Reads:
--   call_sub_goals
--   calls
--   decision_rows
--   sub_goal_examples
-- Needs:
--   calls WHERE failed GROUP BY attempt_id HAVING count(*) >= 2
-- Columns:
--   attempt_id       INTEGER  The root trajectory.
--   call_index       INTEGER  One row for each attempt_id and call_index.
--   failed           BOOLEAN  Never NULL.
--   may_lead         BOOLEAN  Two more calls failed after it.
--   result_missing   BOOLEAN  Its result was not captured as a whole.
--   content_missing  BOOLEAN  Its arguments were not.
--   result           VARCHAR  NULL where it is missing.
--   arguments        VARCHAR  NULL where they are missing.
--   sub_goal         VARCHAR  That it serves in the chosen variant; NULL if none.
-- Order:
--   none
WITH failures AS (
  SELECT
    attempt_id,
    list(call_index ORDER BY call_index DESC)[2] AS second_last
  FROM calls
  WHERE failed
  GROUP BY attempt_id
  HAVING count(*) >= 2
),

mismatches AS (
  SELECT
    trajectory_id AS attempt_id,
    call_index
  FROM decision_rows
  WHERE
    list_has_any(failed_criteria, ['a', 'b'])
    AND NOT missed
)

SELECT
  calls.attempt_id,
  calls.call_index,
  calls.failed,
  calls.call_index < failures.second_last
  AND (calls.failed OR mismatches.attempt_id IS NOT NULL) AS may_lead,
  calls.result_missing,
  calls.content_missing,
  if(calls.result_missing, NULL, calls.result) AS result,
  if(calls.content_missing, NULL, calls.arguments) AS arguments,
  call_sub_goals.sub_goal
FROM calls
INNER JOIN failures USING (attempt_id)
LEFT JOIN mismatches USING (attempt_id, call_index)
LEFT JOIN sub_goal_examples ON calls.attempt_id = sub_goal_examples.attempt_id
LEFT JOIN call_sub_goals
  ON
    sub_goal_examples.example = call_sub_goals.example
    AND calls.call_index = call_sub_goals.call_index
WHERE calls.failed OR mismatches.attempt_id IS NOT NULL;
