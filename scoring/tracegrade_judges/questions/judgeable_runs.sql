-- The runs that judges can be asked about: roots of a known task that were not killed.
--
-- Reads:
--   ambiguous_calls
--   steps
--   trajectories
--   trajectory_scores
-- Columns:
--   trajectory_id   VARCHAR    One row each.
--   task_id         VARCHAR    As the last scoring run found it.
--   agent_name      VARCHAR    NULL if none is named.
--   release         VARCHAR    NULL if not sent.
--   user_input      VARCHAR    NULL if not captured.
--   final_answer    VARCHAR    NULL if there is none.
--   first_turn      BIGINT     Turns of earlier runs of its conversation, of the same trial.
--   plan_questions  VARCHAR[]  Questions about its plan that neither people nor a rule settled,
--                              in the order of docs/metrics.md, section 5.2.
--   calls           STRUCT(trajectory_id VARCHAR, step_index INTEGER, candidates VARCHAR[])[]
--                              Its calls that rules give to several sub-goals, if neither people
--                              nor an evaluation left one; in the order of their steps.
-- Order:
--   trajectory_id
WITH turns AS (
  SELECT
    trajectory_id,
    max(turn) + 1 AS turns,
    coalesce(
      min(step_index) FILTER (WHERE kind IN ('plan', 'thought'))
      < min(step_index) FILTER (WHERE kind = 'tool_call'),
      bool_or(kind IN ('plan', 'thought'))
    ) AS thinks_first
  FROM steps
  GROUP BY trajectory_id
),

ambiguous AS (
  SELECT
    trajectory_id,
    list(
      struct_pack(
        trajectory_id := step_trajectory_id,
        step_index := step_index,
        candidates := candidates
      )
      ORDER BY step_trajectory_id, step_index
    ) AS calls
  FROM ambiguous_calls
  WHERE len(served) > 1 OR decided_by = 'judge'
  GROUP BY trajectory_id
),

runs AS (
  SELECT
    trajectories.trajectory_id,
    trajectory_scores.task_id,
    trajectories.agent_name,
    trajectories.release,
    trajectories.run_mode,
    trajectories.trial,
    trajectories.conversation_id,
    trajectories.start_time,
    trajectories.user_input,
    trajectories.final_answer,
    coalesce(turns.turns, 1) AS turns,
    coalesce(ambiguous.calls, []) AS calls,
    trajectory_scores.pq.label = 'no_plan' AND turns.thinks_first AS may_have_planned,
    [
      struct_pack(
        question := 'dependency_ordering',
        score := trajectory_scores.pq_dependency_ordering
      ),
      struct_pack(
        question := 'branch_coverage',
        score := trajectory_scores.pq_branch_coverage
      ),
      struct_pack(
        question := 'scope_control',
        score := trajectory_scores.pq_scope_control
      ),
      struct_pack(
        question := 'reversibility',
        score := trajectory_scores.pq_reversibility
      )
    ] AS questions
  FROM trajectories
  INNER JOIN trajectory_scores USING (trajectory_id)
  LEFT JOIN turns ON trajectories.trajectory_id = turns.trajectory_id
  LEFT JOIN ambiguous ON trajectories.trajectory_id = ambiguous.trajectory_id
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND trajectories.kill_point IS NULL
    AND trajectory_scores.task_id IS NOT NULL
)

SELECT
  trajectory_id,
  task_id,
  agent_name,
  release,
  user_input,
  final_answer,
  CASE
    WHEN conversation_id IS NULL THEN 0
    ELSE coalesce(sum(turns) OVER earlier, 0)
  END::BIGINT AS first_turn,
  list_transform(
    list_filter(
      questions,
      LAMBDA each: coalesce(may_have_planned, FALSE)
      OR coalesce(each.score.source = 'judge', FALSE)
      OR (each.score.status = 'error' AND NOT starts_with(each.score.reason, 'content_'))
    ),
    LAMBDA each: each.question
  ) AS plan_questions,
  calls
FROM runs
WINDOW
  earlier AS (
    PARTITION BY agent_name, release, run_mode, task_id, trial, conversation_id
    ORDER BY start_time, trajectory_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
ORDER BY trajectory_id;
