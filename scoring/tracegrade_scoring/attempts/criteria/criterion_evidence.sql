-- Moments at which each condition of a criterion itself began or ceased to hold, or became unsure.
--
-- A condition any_of holds while all parts of one of its alternatives do. Otherwise as in
-- condition_evidence.
--
-- Reads:
--   condition_evidence
--   criterion_conditions
--   attempt_tasks
-- Needs:
--   condition_evidence
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id, sub_goal, condition and moment.
--   sub_goal    VARCHAR  The sub-goal that the criterion belongs to; '' for the task itself.
--   condition   INTEGER  Which condition of its criterion, from 0; no part of another.
--   moment      INTEGER  From -1 to the number of calls.
--   holds       BOOLEAN  NULL where content that was not captured, or no verdict, decides it.
-- Order:
--   none
WITH evidence AS (
  SELECT
    condition_evidence.*,
    attempt_tasks.task_id,
    criterion_conditions.any_of,
    criterion_conditions.alternative
  FROM condition_evidence
  INNER JOIN attempt_tasks USING (attempt_id)
  INNER JOIN criterion_conditions USING (task_id, sub_goal, condition)
),

alternatives AS (
  SELECT
    task_id,
    sub_goal,
    any_of,
    alternative,
    count(*) AS parts
  FROM criterion_conditions
  WHERE any_of IS NOT NULL
  GROUP BY task_id, sub_goal, any_of, alternative
),

-- What is unsure holds in the hopeful reading alone.
part_changes AS (
  SELECT
    *,
    coalesce(holds, FALSE)::INTEGER
    - coalesce(lag(coalesce(holds, FALSE)::INTEGER) OVER earlier, 0) AS surely,
    coalesce(holds, TRUE)::INTEGER
    - coalesce(lag(coalesce(holds, TRUE)::INTEGER) OVER earlier, 0) AS hopefully
  FROM evidence
  WHERE any_of IS NOT NULL
  WINDOW earlier AS (PARTITION BY attempt_id, sub_goal, condition ORDER BY moment)
),

wholes AS (
  SELECT
    part_changes.attempt_id,
    part_changes.sub_goal,
    part_changes.any_of,
    part_changes.alternative,
    part_changes.moment,
    (sum(sum(part_changes.surely)) OVER so_far = any_value(alternatives.parts))::INTEGER AS surely,
    (sum(sum(part_changes.hopefully)) OVER so_far = any_value(alternatives.parts))::INTEGER
      AS hopefully
  FROM part_changes
  INNER JOIN alternatives USING (task_id, sub_goal, any_of, alternative)
  GROUP BY
    part_changes.attempt_id,
    part_changes.sub_goal,
    part_changes.any_of,
    part_changes.alternative,
    part_changes.moment
  WINDOW so_far AS (
    PARTITION BY
      part_changes.attempt_id,
      part_changes.sub_goal,
      part_changes.any_of,
      part_changes.alternative
    ORDER BY part_changes.moment
  )
),

whole_changes AS (
  SELECT
    attempt_id,
    sub_goal,
    any_of,
    moment,
    surely - coalesce(lag(surely) OVER earlier, 0) AS surely,
    hopefully - coalesce(lag(hopefully) OVER earlier, 0) AS hopefully
  FROM wholes
  WINDOW earlier AS (PARTITION BY attempt_id, sub_goal, any_of, alternative ORDER BY moment)
)

SELECT
  attempt_id,
  sub_goal,
  any_of AS condition,
  moment,
  CASE
    WHEN sum(sum(surely)) OVER so_far > 0 THEN TRUE
    WHEN sum(sum(hopefully)) OVER so_far = 0 THEN FALSE
  END AS holds
FROM whole_changes
GROUP BY attempt_id, sub_goal, any_of, moment
WINDOW so_far AS (PARTITION BY attempt_id, sub_goal, any_of ORDER BY moment)
UNION ALL
SELECT
  attempt_id,
  sub_goal,
  condition,
  moment,
  holds
FROM evidence
WHERE any_of IS NULL;
