-- The attempts that are scored: one row for each root trajectory.
--
-- Reads:
--   successes
--   attempt_tasks
--   tasks
--   trajectories
-- Columns:
--   attempt_id      INTEGER  The root trajectory; one row each.
--   task_id         VARCHAR  NULL if no task is known or several match.
--   task_source     VARCHAR  span | match; NULL without a task.
--   ambiguous       BOOLEAN  Several tasks match.
--   specified       BOOLEAN  A task file describes the task.
--   release         VARCHAR  NULL if not sent.
--   agent_name      VARCHAR  NULL if none is named.
--   task_category   VARCHAR  The task file's, else the trace's; NULL if neither says.
--   trial           INTEGER  NULL if not declared.
--   run_mode        VARCHAR  production | live | mocked; NULL if not declared.
--   success         BOOLEAN  NULL if not known.
--   success_source  VARCHAR  human | verifier | task | evaluation | judge | trace, or NULL.
--   user_input      VARCHAR  NULL if not captured.
--   final_answer    VARCHAR  NULL if there is none.
--   complete        BOOLEAN  The root span arrived.
--   sample_weight   DOUBLE   1 / probability of being sampled; >= 1.
-- Order:
--   attempt_id
SELECT
  attempt_tasks.attempt_id,
  attempt_tasks.task_id,
  attempt_tasks.task_source,
  attempt_tasks.ambiguous,
  tasks.task_id IS NOT NULL AS specified,
  trajectories.release,
  trajectories.agent_name,
  coalesce(tasks.category, trajectories.task_category) AS task_category,
  trajectories.trial,
  trajectories.run_mode,
  successes.success,
  successes.success_source,
  trajectories.user_input,
  trajectories.final_answer,
  trajectories.complete,
  coalesce(trajectories.sample_weight, 1) AS sample_weight
FROM attempt_tasks
INNER JOIN trajectories ON attempt_tasks.attempt_id = trajectories.trajectory_id
LEFT JOIN tasks ON attempt_tasks.task_id = tasks.task_id
LEFT JOIN successes ON attempt_tasks.attempt_id = successes.attempt_id
ORDER BY attempt_tasks.attempt_id;
