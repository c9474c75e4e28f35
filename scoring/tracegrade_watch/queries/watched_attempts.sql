-- Attempts that are watched: the same that `release_scores` counts.
--
-- Left out: runs of sub-agents, runs that were killed or sent in addition to a trial's run, and
-- runs that a later run superseded.
--
-- Reads:
--   superseded_runs
--   trajectories
--   trajectory_scores
-- Parameters:
--   $dimension  VARCHAR  Dimension whose values are watched apart; NULL for all runs together.
-- Columns:
--   trajectory_id    VARCHAR  One row each.
--   place            BIGINT   Number of the seven columns that follow, in no order.
--   agent_name       VARCHAR  NULL if none is named.
--   run_mode         VARCHAR  production | live | mocked; NULL if not declared.
--   release          VARCHAR  NULL if not sent.
--   dimension_value  VARCHAR  Value of the dimension; NULL without one.
--   task_id          VARCHAR  Task; of a conversation the first by name; NULL if unknown.
--   scored_with      VARCHAR  Version of the scorer, and hash of the task it was scored against.
--   date             DATE     Date of receipt, UTC; of a conversation that of its first run.
--   conversation     BIGINT   Number of its conversation; NULL if no other run here is of it.
--   sample_weight    DOUBLE   1 / probability that the trace was sampled; at least 1.
-- Order:
--   trajectory_id
WITH attempts AS (
  SELECT
    trajectory_scores.trajectory_id,
    trajectory_scores.agent_name,
    trajectory_scores.run_mode,
    trajectory_scores.release,
    trajectory_scores.dimensions[$dimension::VARCHAR] AS dimension_value,  -- noqa: RF02
    trajectory_scores.task_id,
    concat_ws('/', trajectory_scores.scorer_version, trajectory_scores.task_hash) AS scored_with,
    trajectory_scores.date,
    trajectories.conversation_id,
    trajectory_scores.sample_weight
  FROM trajectory_scores
  INNER JOIN trajectories USING (trajectory_id)
  ANTI JOIN superseded_runs USING (trajectory_id)
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND coalesce(trajectory_scores.success.reason NOT IN ('killed_run', 'several_runs'), TRUE)
    AND (
      $dimension::VARCHAR IS NULL  -- noqa: RF02
      OR trajectory_scores.dimensions[$dimension::VARCHAR] IS NOT NULL  -- noqa: RF02
    )
),

conversations AS (
  SELECT
    agent_name,
    run_mode,
    release,
    dimension_value,
    conversation_id,
    row_number() OVER () AS conversation,
    min(task_id) AS task_id,
    min(date) AS date,
    arg_min(scored_with, concat_ws('/', task_id, scored_with)) AS scored_with
  FROM attempts
  WHERE conversation_id IS NOT NULL
  GROUP BY agent_name, run_mode, release, dimension_value, conversation_id
  HAVING count(*) > 1
),

placed AS (
  SELECT
    attempts.* REPLACE (
      CASE
        WHEN conversations.date IS NULL THEN attempts.task_id ELSE conversations.task_id
      END AS task_id,
      coalesce(conversations.date, attempts.date) AS date,
      coalesce(conversations.scored_with, attempts.scored_with) AS scored_with
    ),
    conversations.conversation
  FROM attempts
  LEFT JOIN conversations
    ON
      attempts.conversation_id = conversations.conversation_id
      AND attempts.agent_name IS NOT DISTINCT FROM conversations.agent_name
      AND attempts.run_mode IS NOT DISTINCT FROM conversations.run_mode
      AND attempts.release IS NOT DISTINCT FROM conversations.release
      AND attempts.dimension_value IS NOT DISTINCT FROM conversations.dimension_value
),

distinct_places AS (
  SELECT DISTINCT
    agent_name,
    run_mode,
    release,
    dimension_value,
    task_id,
    scored_with,
    date
  FROM placed
),

places AS (
  SELECT
    *,
    row_number() OVER () AS place
  FROM distinct_places
)

SELECT
  placed.trajectory_id,
  places.place,
  places.agent_name,
  places.run_mode,
  places.release,
  places.dimension_value,
  places.task_id,
  places.scored_with,
  places.date,
  placed.conversation,
  placed.sample_weight
FROM placed
INNER JOIN places
  ON
    placed.agent_name IS NOT DISTINCT FROM places.agent_name
    AND placed.run_mode IS NOT DISTINCT FROM places.run_mode
    AND placed.release IS NOT DISTINCT FROM places.release
    AND placed.dimension_value IS NOT DISTINCT FROM places.dimension_value
    AND placed.task_id IS NOT DISTINCT FROM places.task_id
    AND placed.scored_with = places.scored_with
    AND placed.date = places.date
ORDER BY placed.trajectory_id;
