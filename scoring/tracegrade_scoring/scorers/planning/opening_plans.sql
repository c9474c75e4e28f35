-- The plan of each attempt before its first tool call, and how many steps its task requires.
--
-- A declared plan comes before one that a thought holds as JSON or as a list; of several the last.
-- Required are the task's fewest steps, else its expected calls where that list is complete, else
-- the sub-goals of its shortest variant. Source: docs/metrics.md, section 5.1.
--
-- Reads:
--   attempts
--   calls
--   graph_variants
--   own_expectations
--   steps
--   tasks
--   trajectories
-- Needs:
--   tasks
-- Columns:
--   attempt_id  INTEGER  One row each, for attempts whose task says how many steps it requires.
--   task_id     VARCHAR  The task.
--   required    BIGINT   Steps that the task requires.
--   plan        VARCHAR  JSON or text; NULL if there is none or it was not captured.
--   plan_key    VARCHAR  The same for equal texts; NULL where plan is.
--   declared    BOOLEAN  The agent declared it as its plan; NULL where plan is.
--   lost        BOOLEAN  There may be a plan that was not captured.
-- Order:
--   none
WITH variants AS (
  SELECT
    task_id,
    count(*) AS sub_goals
  FROM graph_variants
  WHERE judged = []
  GROUP BY task_id, variant
),

shortest AS (
  SELECT
    task_id,
    min(sub_goals) AS sub_goals
  FROM variants
  GROUP BY task_id
),

lengths AS (
  SELECT
    tasks.task_id,
    CASE
      WHEN tasks.optimal_steps IS NOT NULL THEN tasks.optimal_steps
      WHEN tasks.has_expected AND tasks.expected_complete = 'true' THEN tasks.expected_count
      ELSE shortest.sub_goals
    END AS required,
    tasks.optimal_steps IS NULL AND tasks.has_expected AND tasks.expected_complete = 'true'
      AS by_expected
  FROM tasks
  LEFT JOIN shortest USING (task_id)
),

planned AS (
  SELECT
    attempts.attempt_id,
    attempts.task_id,
    if(
      lengths.by_expected AND own_expectations.attempt_id IS NOT NULL,
      len(own_expectations.positions),
      lengths.required
    ) AS required
  FROM attempts
  INNER JOIN lengths USING (task_id)
  LEFT JOIN own_expectations ON attempts.attempt_id = own_expectations.attempt_id
  WHERE lengths.required IS NOT NULL
),

first_calls AS (
  SELECT
    attempt_id,
    min(step_index) AS step_index
  FROM calls
  WHERE trajectory_id = attempt_id
  GROUP BY attempt_id
),

-- Of thoughts only those that look like a plan: two items of a list, or JSON with objects.
plan_steps AS (
  SELECT
    planned.attempt_id,
    steps.step_index,
    steps.kind = 'plan' AS declared,
    coalesce(if(steps.kind = 'plan', steps.plan, NULL), steps.content) IS NULL AS lost,
    steps.kind = 'plan'
    OR len(
      regexp_extract_all(steps.content, '(?im)^[ \t]*(?:(?:step\s+)?\d+[.):]|[-*•])[ \t]+\S')
    ) > 1
    OR json_valid(regexp_extract(steps.content, '(?s)\[\s*\{.*\}\s*\]'))
    OR (
      regexp_matches(steps.content, '(?s)\[\s*\{.*\}\s*\]')
      AND json_valid(regexp_extract(steps.content, '(?s)[\[{].*[\]}]'))
    ) AS is_plan
  FROM planned
  INNER JOIN steps ON planned.attempt_id = steps.trajectory_id
  LEFT JOIN first_calls ON planned.attempt_id = first_calls.attempt_id
  WHERE
    steps.kind IN ('plan', 'thought')
    AND coalesce(steps.step_index < first_calls.step_index, TRUE)
),

last_plans AS (
  SELECT
    attempt_id,
    coalesce(
      max(step_index) FILTER (WHERE declared),
      max(step_index) FILTER (WHERE is_plan)
    ) AS step_index,
    bool_or(lost) AS any_lost
  FROM plan_steps
  GROUP BY attempt_id
),

texts AS (
  SELECT
    last_plans.attempt_id,
    last_plans.any_lost,
    steps.kind = 'plan' AS declared,
    coalesce(if(steps.kind = 'plan', steps.plan, NULL), steps.content) AS plan
  FROM last_plans
  LEFT JOIN steps
    ON
      last_plans.attempt_id = steps.trajectory_id
      AND last_plans.step_index = steps.step_index
)

SELECT
  planned.attempt_id,
  planned.task_id,
  planned.required,
  texts.plan,
  md5(texts.plan) AS plan_key,
  if(texts.plan IS NULL, NULL, texts.declared) AS declared,
  texts.plan IS NULL
  AND (
    coalesce(texts.any_lost, FALSE)
    OR coalesce(list_contains(trajectories.flags, 'unrecorded_thoughts'), FALSE)
  ) AS lost
FROM planned
INNER JOIN trajectories ON planned.attempt_id = trajectories.trajectory_id
LEFT JOIN texts USING (attempt_id);
