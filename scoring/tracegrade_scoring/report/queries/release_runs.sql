-- Runs of each release of each agent, with their usage.
--
-- A run is a trajectory without a parent; the usage of its sub-agents is counted with it.
--
-- Reads:
--   run_members
--   superseded_runs
--   trajectories
--   trajectory_scores
-- Columns:
--   release           VARCHAR    One row for each of the three; NULL if not named.
--   agent_name        VARCHAR    NULL if the trace names none.
--   run_mode          VARCHAR    As the trace says: production | live | mocked; else NULL.
--   runs              BIGINT     Trajectories without a parent.
--   known_tasks       BIGINT     Distinct tasks among them; 0 if none is known.
--   unended_runs      BIGINT     Runs whose root span has not arrived, or has no end.
--   waiting_runs      BIGINT     Runs among them that are not scored yet: a root may still arrive.
--   waiting_until     BIGINT     When the last of them is scored without a root, ns since 1970;
--                                NULL if there is none.
--   crashed_runs      BIGINT     Scored runs that ended in an error.
--   unfinished_runs   BIGINT     Scored runs without an end.
--   interrupted_runs  BIGINT     Runs that ended waiting for a person.
--   resumed_runs      BIGINT     Runs that continue an earlier one, which is counted with them.
--   tool_calls        BIGINT     Tool calls, of runs and their sub-agents.
--   errors            BIGINT     Failed tool calls of runs and their sub-agents; for scored runs,
--                                also calls that failed by their results.
--   input_tokens      BIGINT     NULL if no model call reported any.
--   output_tokens     BIGINT     NULL if no model call reported any.
--   token_runs        BIGINT     Runs with at least one model call that reported tokens.
--   timed_runs        BIGINT     Runs whose start is known; imports without times made it up.
--   first_start       TIMESTAMP  Start of the earliest of them (UTC); NULL if there is none.
--   last_start        TIMESTAMP  Start of the latest of them (UTC); NULL if there is none.
-- Order:
--   agent_name, run_mode, start of the earliest run (unknown ones first), release
WITH roots AS (
  SELECT
    trajectories.trajectory_id,
    trajectories.release,
    trajectories.agent_name,
    trajectories.run_mode,
    trajectories.complete,
    trajectories.start_time,
    NOT trajectories.complete
    AND NOT coalesce(trajectories.imported, TRUE)
    AND trajectory_scores.trajectory_id IS NULL AS waits,
    trajectories.trace_received_ns,
    coalesce(trajectory_scores.termination.label = 'crashed', FALSE) AS crashed,
    coalesce(trajectory_scores.termination.label = 'unfinished', FALSE) AS unfinished,
    coalesce(trajectories.interrupted, FALSE) AS interrupted,
    -- Made-up starts of an import begin with the year 2000, one second apart.
    CASE WHEN trajectories.start_time >= '2001-01-01' THEN trajectories.start_time END
      AS known_start,
    -- Scoring also finds the task of a trace that declares none.
    coalesce(trajectory_scores.task_id, trajectories.task_id) AS task_id,
    trajectory_scores.recovery_rate.denominator::BIGINT AS failures
  FROM trajectories
  LEFT JOIN trajectory_scores USING (trajectory_id)
  WHERE
    trajectories.parent_trajectory_id IS NULL
    -- A trace of tools alone is a run if it is scored as one.
    AND (trajectories.is_fragment IS NOT TRUE OR trajectory_scores.trajectory_id IS NOT NULL)
),

resumed AS (
  SELECT DISTINCT continued_by AS trajectory_id
  FROM superseded_runs
  WHERE continued_by IS NOT NULL
),

consumption AS (
  SELECT
    run_members.root_id,
    sum(trajectories.tool_call_count) AS tool_calls,
    sum(trajectories.error_count) AS errors,
    sum(trajectories.input_tokens) AS input_tokens,
    sum(trajectories.output_tokens) AS output_tokens
  FROM run_members
  INNER JOIN trajectories USING (trajectory_id)
  GROUP BY run_members.root_id
)

SELECT
  roots.release,
  roots.agent_name,
  roots.run_mode,
  count(*) AS runs,
  count(DISTINCT roots.task_id) AS known_tasks,
  count(*) FILTER (WHERE NOT roots.complete) AS unended_runs,
  count(*) FILTER (WHERE roots.waits) AS waiting_runs,
  max(roots.trace_received_ns) FILTER (WHERE roots.waits) + 600000000000 AS waiting_until,
  count(*) FILTER (WHERE roots.crashed) AS crashed_runs,
  count(*) FILTER (WHERE roots.unfinished) AS unfinished_runs,
  count(*) FILTER (WHERE roots.interrupted) AS interrupted_runs,
  count(resumed.trajectory_id) AS resumed_runs,
  coalesce(sum(consumption.tool_calls), 0)::BIGINT AS tool_calls,
  coalesce(sum(greatest(consumption.errors, roots.failures)), 0)::BIGINT AS errors,
  sum(consumption.input_tokens)::BIGINT AS input_tokens,
  sum(consumption.output_tokens)::BIGINT AS output_tokens,
  count(coalesce(consumption.input_tokens, consumption.output_tokens)) AS token_runs,
  count(roots.known_start) AS timed_runs,
  min(roots.known_start) AS first_start,
  max(roots.known_start) AS last_start
FROM roots
INNER JOIN consumption ON roots.trajectory_id = consumption.root_id
LEFT JOIN resumed ON roots.trajectory_id = resumed.trajectory_id
GROUP BY roots.release, roots.agent_name, roots.run_mode
ORDER BY roots.agent_name, roots.run_mode, min(roots.known_start) NULLS FIRST, roots.release;
