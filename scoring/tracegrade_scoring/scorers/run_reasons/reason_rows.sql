-- Reasons why attempts failed, in the order of precedence; each failed attempt has at least one
-- reason.
--
-- First comes the reason that says most directly what went wrong (`precedence`). Within a kind,
-- people's reasons that name a step come before those that do not, then calls that can change
-- something come before calls that only read, then the first step counts. An unexpected call that
-- only reads explains least, so it comes last. Among reasons of equal kind and object, the first
-- counts. An attempt that did not fail also has rows, for other findings. Source: docs/metrics.md,
-- section 9.6.
--
-- Reads:
--   attempts
--   call_reasons
--   decision_reasons
--   ending_reasons
--   mode_reasons
--   step_label_reasons
--   sub_goal_reasons
--   tasks
--   verdict_reasons
-- Needs:
--   attempts WHERE success IS FALSE or verdict_reasons or step_label_reasons or
--     ending_reasons or call_reasons or mode_reasons or decision_reasons or sub_goal_reasons
-- Columns:
--   trajectory_id       INTEGER  The attempt.
--   rank_in_run         INTEGER  From 1 without gaps; one row for each of the two.
--   kind                VARCHAR  One of 23.
--   object              VARCHAR  Object of the reason: a tool, argument, sub-goal, check; or NULL.
--   sentence            VARCHAR  Description of the failure, at most 120 characters.
--   step_trajectory_id  INTEGER  The root or sub-agent whose step shows it; NULL: no step.
--   step_index          INTEGER  In that trajectory; NULL without a step.
--   span_id             VARCHAR  Span of the step; NULL without one.
--   source              VARCHAR  Source of the reason: static | judge | source of a verdict.
--   key                 VARCHAR  12 hex digits, of the agent's name, the kind and the object.
--   success             BOOLEAN  Whether the attempt succeeded; NULL if not known.
-- Order:
--   trajectory_id, rank_in_run
WITH known AS (
  FROM verdict_reasons
  UNION ALL
  FROM step_label_reasons
  UNION ALL
  FROM ending_reasons
  UNION ALL
  FROM call_reasons
  UNION ALL
  FROM mode_reasons
  UNION ALL
  FROM decision_reasons
  UNION ALL
  FROM sub_goal_reasons
),

placed AS (
  SELECT * REPLACE (if(kind = 'not_expected' AND only_reads, 21, precedence) AS precedence)
  FROM known
),

-- Reasons for a run that failed without a wrong step.
without_step AS (
  SELECT
    attempts.attempt_id,
    if(
      json_keys(tasks.success) = ['answer'],
      'the answer is not what the task asks',
      'the run did not end as the task asks'
    ) AS wrong_end,
    attempts.success_source
  FROM attempts
  LEFT JOIN tasks USING (task_id)
  ANTI JOIN placed ON attempts.attempt_id = placed.attempt_id AND placed.precedence < 21
  WHERE attempts.success IS FALSE
),

unexplained AS (
  SELECT without_step.*
  FROM without_step
  ANTI JOIN placed USING (attempt_id)
  WHERE without_step.success_source IS DISTINCT FROM 'task'
),

first_reasons AS (
  SELECT
    attempt_id,
    kind,
    object,
    arg_min(
      struct_pack(
        precedence := precedence,
        only_reads := only_reads,
        position := position,
        sentence := sentence,
        step_trajectory_id := step_trajectory_id,
        step_index := step_index,
        span_id := span_id,
        source := source
      ),
      (
        kind = 'person' AND step_index IS NULL,
        only_reads, coalesce(position, -1), sentence, source, coalesce(span_id, '')
      )
    ) AS reason
  FROM placed
  GROUP BY attempt_id, kind, object
),

reasons AS (
  SELECT
    attempt_id,
    kind,
    object,
    reason.*
  FROM first_reasons
  UNION ALL BY NAME
  SELECT
    attempt_id,
    'wrong_answer' AS kind,
    21 AS precedence,
    FALSE AS only_reads,
    wrong_end AS sentence,
    'static' AS source
  FROM without_step
  WHERE success_source = 'task'
  UNION ALL BY NAME
  SELECT
    attempt_id,
    'unexplained' AS kind,
    23 AS precedence,
    FALSE AS only_reads,
    CASE success_source
      WHEN 'trace' THEN 'failed by the outcome that its trace states; no step shows why'
      WHEN 'human' THEN 'failed by the verdict of people; no step shows why'
      ELSE concat('failed by the verdict of its ', success_source, '; no step shows why')
    END AS sentence,
    'static' AS source
  FROM unexplained
),

named AS (
  SELECT
    reasons.* REPLACE (
      clipped(one_line(reasons.object), 200) AS object,
      clipped(one_line(reasons.sentence), 120) AS sentence
    ),
    attempts.success,
    coalesce(attempts.agent_name, '') AS agent_name
  FROM reasons
  INNER JOIN attempts USING (attempt_id)
)

SELECT
  attempt_id AS trajectory_id,
  (
    row_number() OVER (
      PARTITION BY attempt_id
      ORDER BY
        precedence,
        kind = 'not_expected',
        kind = 'person' AND step_index IS NULL,
        only_reads,
        position,
        object,
        sentence
    )
  )::INTEGER AS rank_in_run,
  kind,
  object,
  sentence,
  step_trajectory_id,
  step_index,
  span_id,
  source,
  left(md5(concat_ws(chr(31), agent_name, kind, coalesce(object, ''))), 12) AS key,
  success
FROM named
ORDER BY trajectory_id, rank_in_run;
