-- Conversations of several runs, and how many of the runs are correct.
--
-- A conversation is correct only if each of its runs is. Runs count by sample_weight. Source:
-- docs/metrics.md, sections 0.6 and 8.2.
--
-- Reads:
--   run_turns
--   trajectories
--   trajectory_scores
-- Parameters:
--   $rows  Limit of the rows of one release.
-- Columns:
--   release          VARCHAR  One row for each release, agent_name, run_mode, task, trial and
--                             conversation.
--   agent_name       VARCHAR  NULL if the trace names none.
--   run_mode         VARCHAR  As the trace says: production | live | mocked; else NULL.
--   conversation_id  VARCHAR  Never NULL.
--   task_id          VARCHAR  NULL if no task is known.
--   trial            INTEGER  NULL if not declared.
--   turns            BIGINT   Its turns.
--   runs             BIGINT   Its runs; at least 2.
--   known            BIGINT   Its runs of known success.
--   correct          BIGINT   Successful runs among them.
--   tsa              DOUBLE   Correct first picks / decision points; NULL without any.
--   trajectory_id    VARCHAR  Its first run that failed, else its first run.
--   total            BIGINT   Conversations of the release.
-- Order:
--   agent_name, run_mode, release, share of runs that are correct, conversation_id, task_id, trial
WITH conversations AS (
  SELECT
    run_turns.release,
    run_turns.agent_name,
    run_turns.run_mode,
    run_turns.conversation_id,
    run_turns.task_id,
    run_turns.trial,
    max(run_turns.turns) AS turns,
    count(*) AS runs,
    count(trajectory_scores.success.value) AS known,
    count(*) FILTER (WHERE trajectory_scores.success.value = 1) AS correct,
    sum(
      trajectory_scores.sample_weight * trajectory_scores.tsa.numerator ORDER BY trajectory_id
    )
    / sum(
      trajectory_scores.sample_weight * trajectory_scores.tsa.denominator ORDER BY trajectory_id
    ) AS tsa,
    coalesce(
      arg_min(trajectory_id, (trajectories.start_time, trajectory_id)) FILTER (
        WHERE trajectory_scores.success.value = 0
      ),
      arg_min(trajectory_id, (trajectories.start_time, trajectory_id))
    ) AS trajectory_id
  FROM run_turns
  INNER JOIN trajectory_scores USING (trajectory_id)
  INNER JOIN trajectories USING (trajectory_id)
  GROUP BY
    run_turns.release,
    run_turns.agent_name,
    run_turns.run_mode,
    run_turns.conversation_id,
    run_turns.task_id,
    run_turns.trial
)

SELECT
  *,
  count(*) OVER release_of_agent AS total
FROM conversations
WINDOW release_of_agent AS (PARTITION BY release, agent_name, run_mode)
QUALIFY
  row_number() OVER (
    release_of_agent ORDER BY correct / runs, conversation_id, task_id, trial
  ) <= $rows
ORDER BY agent_name, run_mode, release, correct / runs, conversation_id, task_id, trial;
