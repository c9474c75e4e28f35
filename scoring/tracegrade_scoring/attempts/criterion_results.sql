-- Whether each attempt fulfills its task's success criterion: every condition holds at the end.
--
-- Source: docs/metrics.md, section 8.3.
--
-- Reads:
--   criterion_conditions
--   criterion_evidence
--   attempt_tasks
-- Needs:
--   criterion_conditions
-- Columns:
--   attempt_id  INTEGER  One row for each attempt whose task has a criterion.
--   success     BOOLEAN  NULL if content that it needs was not captured or bound.
-- Order:
--   none
WITH ends AS (
  SELECT
    attempt_id,
    condition,
    arg_max_null(holds, moment) AS holds
  FROM criterion_evidence
  WHERE sub_goal = ''
  GROUP BY attempt_id, condition
),

-- A condition without evidence does not hold.
conditions AS (
  SELECT
    attempt_tasks.attempt_id,
    if(ends.attempt_id IS NULL, FALSE, ends.holds) AS holds
  FROM attempt_tasks
  INNER JOIN criterion_conditions USING (task_id)
  LEFT JOIN ends
    ON
      attempt_tasks.attempt_id = ends.attempt_id
      AND criterion_conditions.condition = ends.condition
  WHERE
    criterion_conditions.sub_goal = ''
    AND criterion_conditions.any_of IS NULL
)

SELECT
  attempt_id,
  CASE
    WHEN bool_or(NOT holds) THEN FALSE
    WHEN count(holds) = count(*) THEN TRUE
  END AS success
FROM conditions
GROUP BY attempt_id;
