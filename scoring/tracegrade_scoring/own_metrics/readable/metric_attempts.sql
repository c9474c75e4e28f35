-- The attempts of a bucket, as metrics of users' own read them: `attempts`.
--
-- Reads:
--   attempt_members
--   attempts
--   attempts_with_unrecorded_calls
--   calls
--   endings
--   own_expectations
--   steps
--   successes
--   tasks
--   trajectories
--   trajectory_ids
-- As:
--   view
-- Columns:
--   attempt_id        VARCHAR  The root trajectory; one row each.
--   task_id           VARCHAR  NULL if no task is known or several match.
--   task_source       VARCHAR  span | match; NULL without a task.
--   ambiguous         BOOLEAN  Several tasks match.
--   specified         BOOLEAN  A task file describes the task.
--   task_category     VARCHAR  The task file's, else the trace's; NULL if neither says.
--   release           VARCHAR  NULL if not sent.
--   agent_name        VARCHAR  NULL if none is named.
--   trial             INTEGER  NULL if not declared.
--   run_mode          VARCHAR  production | live | mocked; NULL if not declared.
--   success           BOOLEAN  NULL if not known.
--   success_source    VARCHAR  human | verifier | task | evaluation | judge | trace; NULL if not
--                              known.
--   success_fault     VARCHAR  verifier_failed where a verifier gave no usable result; else NULL.
--   ending            VARCHAR  budget | interrupted | crashed | unfinished; NULL if it ended by
--                              itself.
--   user_input        VARCHAR  NULL if not captured.
--   final_answer      VARCHAR  NULL if there is none.
--   complete          BOOLEAN  The root span arrived.
--   calls_unrecorded  BOOLEAN  Calls of it were not recorded, or may not have been.
--   has_expected      BOOLEAN  Its task gives a list of expected calls, if only an empty one.
--   optimal_steps     INTEGER  Fewest steps that its task needs: as annotated, else the number of
--                              expected calls where that list is complete; NULL if not known.
--   optimum_source    VARCHAR  annotated | expected; NULL if optimal_steps is.
--   count_steps       VARCHAR  tool_calls | all: what optimal_steps counts; NULL without a task.
--   call_count        BIGINT   Tool calls, those of sub-agents too.
--   step_count        BIGINT   Steps of any kind, those of sub-agents too.
--   llm_call_count    BIGINT   Model calls, those of sub-agents too.
--   input_tokens      BIGINT   Of all these; NULL if no call records them.
--   output_tokens     BIGINT   As input_tokens.
--   cost_usd          DOUBLE   Of all these, by the prices known when the run was scored; NULL if
--                              the cost of one is unknown, or without model calls.
--   duration_ms       DOUBLE   Of the root run, from its start to its end; NULL without an end.
--   sample_weight     DOUBLE   1 / probability of being sampled; at least 1.
-- Order:
--   attempt_id
WITH call_counts AS (
  SELECT
    attempt_id,
    count(*) AS call_count
  FROM calls
  GROUP BY attempt_id
),

step_counts AS (
  SELECT
    attempt_members.attempt_id,
    count(*) AS step_count
  FROM steps
  INNER JOIN attempt_members USING (trajectory_id)
  GROUP BY attempt_members.attempt_id
),

used AS (
  SELECT
    attempt_members.attempt_id,
    sum(trajectories.llm_call_count)::BIGINT AS llm_call_count,
    sum(trajectories.input_tokens)::BIGINT AS input_tokens,
    sum(trajectories.output_tokens)::BIGINT AS output_tokens,
    -- A run without model calls costs nothing.
    if(
      bool_or(trajectories.cost_usd IS NULL AND trajectories.llm_call_count > 0),
      NULL,
      sum(trajectories.cost_usd ORDER BY trajectories.trajectory_id)
    ) AS cost_usd,
    max(trajectories.duration_ms) FILTER (WHERE attempt_members.depth = 0) AS duration_ms
  FROM attempt_members
  INNER JOIN trajectories USING (trajectory_id)
  GROUP BY attempt_members.attempt_id
),

counted AS (
  SELECT
    attempts.*,
    used.llm_call_count,
    used.input_tokens,
    used.output_tokens,
    used.cost_usd,
    used.duration_ms,
    if(successes.verifier_failed, 'verifier_failed', NULL) AS success_fault,
    endings.ending,
    attempts_with_unrecorded_calls.attempt_id IS NOT NULL AS calls_unrecorded,
    coalesce(tasks.has_expected, FALSE) AS has_expected,
    tasks.count_steps,
    tasks.optimal_steps AS annotated,
    if(
      tasks.has_expected AND tasks.expected_complete = 'true',
      coalesce(len(own_expectations.positions), tasks.expected_count),
      NULL
    ) AS expected,
    coalesce(call_counts.call_count, 0) AS call_count,
    coalesce(step_counts.step_count, 0) AS step_count
  FROM attempts
  INNER JOIN successes ON attempts.attempt_id = successes.attempt_id
  LEFT JOIN tasks ON attempts.task_id = tasks.task_id
  LEFT JOIN endings ON attempts.attempt_id = endings.trajectory_id
  LEFT JOIN own_expectations ON attempts.attempt_id = own_expectations.attempt_id
  LEFT JOIN attempts_with_unrecorded_calls
    ON attempts.attempt_id = attempts_with_unrecorded_calls.attempt_id
  LEFT JOIN used ON attempts.attempt_id = used.attempt_id
  LEFT JOIN call_counts ON attempts.attempt_id = call_counts.attempt_id
  LEFT JOIN step_counts ON attempts.attempt_id = step_counts.attempt_id
)

SELECT
  trajectory_ids.id AS attempt_id,
  counted.task_id,
  counted.task_source,
  counted.ambiguous,
  counted.specified,
  counted.task_category,
  counted.release,
  counted.agent_name,
  counted.trial,
  counted.run_mode,
  counted.success,
  counted.success_source,
  counted.success_fault,
  counted.ending,
  counted.user_input,
  counted.final_answer,
  counted.complete,
  counted.calls_unrecorded,
  counted.has_expected,
  coalesce(counted.annotated, counted.expected)::INTEGER AS optimal_steps,
  CASE
    WHEN counted.annotated IS NOT NULL THEN 'annotated'
    WHEN counted.expected IS NOT NULL THEN 'expected'
  END AS optimum_source,
  counted.count_steps,
  counted.call_count,
  counted.step_count,
  coalesce(counted.llm_call_count, 0) AS llm_call_count,
  counted.input_tokens,
  counted.output_tokens,
  counted.cost_usd,
  counted.duration_ms,
  counted.sample_weight
FROM counted
INNER JOIN trajectory_ids ON counted.attempt_id = trajectory_ids.trajectory_id
ORDER BY attempt_id;
