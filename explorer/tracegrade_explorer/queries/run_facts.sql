-- What is known of each run but its scores, one narrow row each, the newest first.
--
-- Reads:
--   failures
--   superseded_runs
--   trajectories
--   trajectory_scores
-- Parameters:
--   $max_runs  BIGINT  Keep so many of the newest.
-- Columns:
--   seq                   INTEGER    Place from the newest to the oldest, from 0 without gaps.
--   trajectory_id         VARCHAR    One row each.
--   parent_trajectory_id  VARCHAR    Run whose tool call this is; NULL for a root.
--   date                  DATE       Date its trace was first received, UTC.
--   start_time            TIMESTAMP  UTC; NULL if an import made it up.
--   agent_name            VARCHAR    NULL if none is named.
--   release               VARCHAR    NULL if not sent.
--   task_id               VARCHAR    Scoring's, else the trace's; NULL if not known.
--   task_category         VARCHAR    Likewise.
--   run_mode              VARCHAR    NULL if not declared.
--   conversation_id       VARCHAR    NULL if not sent.
--   trial                 INTEGER    NULL if not declared.
--   outcome               VARCHAR    succeeded | failed; NULL if not known, or not scored.
--   scored                BOOLEAN    Whether a scoring run has read it.
--   killed                BOOLEAN    Whether it was killed on purpose.
--   superseded            BOOLEAN    Whether a later run of the same trial replaced it.
--   complete              BOOLEAN    Its root arrived.
--   step_count            INTEGER    Steps of every kind.
--   tool_call_count       INTEGER    Tool calls.
--   error_count           INTEGER    Tool calls with status error or not_executed.
--   tokens                BIGINT     Input and output; NULL if none were recorded.
--   cost_usd              DOUBLE     NULL without prices.
--   duration_ms           DOUBLE     End less start.
--   dialects              VARCHAR[]  Ways of writing spans by which its spans were read, sorted.
--   failures              VARCHAR[]  Failure modes that it shows, sorted; empty if none.
--   finding_count         INTEGER    How many these are.
--   request               VARCHAR    First 200 characters of what the user asked; NULL if unknown.
-- Order:
--   seq
WITH modes AS (
  SELECT
    trajectory_id,
    list(DISTINCT mode ORDER BY mode) AS failures
  FROM failures
  GROUP BY trajectory_id
),

scored_runs AS (
  SELECT
    trajectory_id,
    task_id,
    task_category,
    success.value AS success
  FROM trajectory_scores
),

placed AS (
  SELECT
    trajectory_id,
    row_number() OVER (
      -- What an import makes up begins with the year 2000, a second for each run.
      ORDER BY
        CASE WHEN start_time >= '2001-01-01' THEN start_time ELSE date END DESC,
        trajectory_id
    ) - 1 AS seq
  FROM trajectories
  QUALIFY seq < $max_runs
)

SELECT
  placed.seq::INTEGER AS seq,
  trajectories.trajectory_id,
  trajectories.parent_trajectory_id,
  trajectories.date,
  CASE WHEN trajectories.start_time >= '2001-01-01' THEN trajectories.start_time END AS start_time,
  trajectories.agent_name,
  trajectories.release,
  coalesce(scored_runs.task_id, trajectories.task_id) AS task_id,
  coalesce(scored_runs.task_category, trajectories.task_category) AS task_category,
  trajectories.run_mode,
  trajectories.conversation_id,
  trajectories.trial,
  CASE scored_runs.success WHEN 1 THEN 'succeeded' WHEN 0 THEN 'failed' END AS outcome,
  scored_runs.trajectory_id IS NOT NULL AS scored,
  trajectories.injection IS NOT NULL AS killed,
  superseded_runs.trajectory_id IS NOT NULL AS superseded,
  coalesce(trajectories.complete, FALSE) AS complete,
  trajectories.step_count,
  trajectories.tool_call_count,
  trajectories.error_count,
  coalesce(
    trajectories.input_tokens + trajectories.output_tokens,
    trajectories.input_tokens,
    trajectories.output_tokens
  ) AS tokens,
  trajectories.cost_usd,
  trajectories.duration_ms,
  coalesce(trajectories.dialects, []) AS dialects,
  coalesce(modes.failures, []) AS failures,
  coalesce(len(modes.failures), 0)::INTEGER AS finding_count,
  left(trajectories.user_input, 200) AS request
FROM trajectories
INNER JOIN placed ON trajectories.trajectory_id = placed.trajectory_id
LEFT JOIN scored_runs ON trajectories.trajectory_id = scored_runs.trajectory_id
LEFT JOIN modes ON trajectories.trajectory_id = modes.trajectory_id
LEFT JOIN superseded_runs ON trajectories.trajectory_id = superseded_runs.trajectory_id
ORDER BY seq;
