-- Agents that other agents call as tools: number of runs, share of time, and errors.
--
-- Reads:
--   trajectories
-- Columns:
--   caller         VARCHAR  NULL if not named. One row for each caller and agent_name.
--   agent_name     VARCHAR  Agent that is called; NULL if not named.
--   runs           BIGINT   Trajectories of the called agent; at least 1.
--   calling_runs   BIGINT   Trajectories that called it.
--   mean_steps     DOUBLE   Mean number of steps of the called agent's runs.
--   errors         BIGINT   Calls in these runs whose status is error or not_executed.
--   share_of_time  DOUBLE   Their time / the callers' time; NULL if the callers took none.
-- Order:
--   runs DESC, caller, agent_name
WITH calls AS (
  SELECT
    callers.trajectory_id AS caller_id,
    any_value(callers.agent_name) AS caller,
    any_value(callers.duration_ms) AS caller_ms,
    called.agent_name,
    count(*) AS runs,
    sum(called.step_count) AS steps,
    sum(called.error_count) AS errors,
    sum(called.duration_ms ORDER BY called.duration_ms) AS ms
  FROM trajectories AS called
  INNER JOIN trajectories AS callers ON called.parent_trajectory_id = callers.trajectory_id
  GROUP BY callers.trajectory_id, called.agent_name
)

SELECT
  caller,
  agent_name,
  sum(runs)::BIGINT AS runs,
  count(*) AS calling_runs,
  sum(steps) / sum(calls.runs) AS mean_steps,
  sum(calls.errors)::BIGINT AS errors,
  sum(ms ORDER BY ms) / nullif(sum(caller_ms ORDER BY caller_ms), 0) AS share_of_time
FROM calls
GROUP BY caller, agent_name
ORDER BY sum(calls.runs) DESC, caller ASC, agent_name ASC;
