-- Conversations of several runs, each with how many of its turns are correct.
--
-- One is correct only if each of its turns is; source: docs/metrics.md, section 8.2.
--
-- Reads:
--   trajectories
--   trajectory_scores
-- Parameters:
--   $rows  The most rows of one release.
-- Columns:
--   release          VARCHAR  One row for each release, agent_name, run_mode and conversation.
--   agent_name       VARCHAR  NULL if the trace names none.
--   run_mode         VARCHAR  As the trace says: production | live | mocked; else NULL.
--   conversation_id  VARCHAR  Never NULL.
--   turns            BIGINT   Runs of it; at least 2.
--   known            BIGINT   Of these, of known success.
--   correct          BIGINT   Of these, successful.
--   tsa              DOUBLE   Correct first picks / decision points; NULL without any.
--   trajectory_id    VARCHAR  Its first turn that failed, else its first turn.
--   total            BIGINT   Conversations of the release.
-- Order:
--   agent_name, run_mode, release, share of turns that are correct, conversation_id
WITH conversations AS (
  SELECT
    trajectory_scores.release,
    trajectory_scores.agent_name,
    trajectory_scores.run_mode,
    trajectories.conversation_id,
    count(*) AS turns,
    count(trajectory_scores.success.value) AS known,
    count(*) FILTER (WHERE trajectory_scores.success.value = 1) AS correct,
    sum(trajectory_scores.tsa.numerator ORDER BY trajectory_id)
    / sum(trajectory_scores.tsa.denominator ORDER BY trajectory_id) AS tsa,
    coalesce(
      arg_min(trajectory_id, (trajectories.start_time, trajectory_id)) FILTER (
        WHERE trajectory_scores.success.value = 0
      ),
      arg_min(trajectory_id, (trajectories.start_time, trajectory_id))
    ) AS trajectory_id
  FROM trajectory_scores
  INNER JOIN trajectories USING (trajectory_id)
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND trajectories.conversation_id IS NOT NULL
  GROUP BY
    trajectory_scores.release,
    trajectory_scores.agent_name,
    trajectory_scores.run_mode,
    trajectories.conversation_id
  HAVING count(*) > 1
)

SELECT
  *,
  count(*) OVER release_of_agent AS total
FROM conversations
WINDOW release_of_agent AS (PARTITION BY release, agent_name, run_mode)
QUALIFY
  row_number() OVER (release_of_agent ORDER BY correct / turns, conversation_id) <= $rows
ORDER BY agent_name, run_mode, release, correct / turns, conversation_id;
