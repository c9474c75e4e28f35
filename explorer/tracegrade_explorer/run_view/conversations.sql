-- Conversations of a filter's runs, the newest first: several runs, or one run of several turns.
--
-- Reads:
--   counted_verdicts
--   matching_runs
--   run_index
--   trajectories
-- Parameters:
--   $rows  BIGINT  Conversations at most.
-- Columns:
--   name         VARCHAR    Its conversation_id, else the id of its run. One row each.
--   runs         BIGINT     Root trajectories; at least 1.
--   turns        BIGINT     Of all its runs; at least 2.
--   first_words  VARCHAR    First 200 characters of the first request; NULL if unknown.
--   agent_name   VARCHAR    Of the first run; NULL if none is named.
--   release      VARCHAR    Likewise.
--   start_time   TIMESTAMP  UTC; NULL if not known.
--   calls        BIGINT     Tool calls.
--   failed       BIGINT     Those with status error or not_executed.
--   duration_ms  DOUBLE     Added up over the runs; NULL if one is not known.
--   cost_usd     DOUBLE     Likewise.
--   outcome      VARCHAR    failed if a run is, succeeded if all are, else NULL.
--   label        VARCHAR    The labels of people: bad if one run has it, else good, else unsure;
--                           NULL without a label.
--   total        BIGINT     Conversations there are.
-- Order:
--   start_time DESC NULLS LAST, name
SELECT
  runs.name,
  count(*) AS runs,
  sum(runs.turn_count)::BIGINT AS turns,
  arg_min(runs.request, (coalesce(runs.start_time, '9999-12-31'), runs.trajectory_id))
    AS first_words,
  arg_min(runs.agent_name, (coalesce(runs.start_time, '9999-12-31'), runs.trajectory_id))
    AS agent_name,
  arg_min(runs.release, (coalesce(runs.start_time, '9999-12-31'), runs.trajectory_id)) AS release,
  min(runs.start_time) AS start_time,
  sum(coalesce(runs.tool_call_count, 0))::BIGINT AS calls,
  sum(coalesce(runs.error_count, 0))::BIGINT AS failed,
  -- An import that makes times up gives durations, too.
  if(
    count(runs.start_time) = count(*) AND count(runs.duration_ms) = count(*),
    sum(runs.duration_ms), NULL
  ) AS duration_ms,
  if(count(runs.cost_usd) = count(*), sum(runs.cost_usd), NULL) AS cost_usd,
  CASE
    WHEN bool_or(runs.outcome = 'failed') THEN 'failed'
    WHEN count(runs.outcome) = count(*) THEN 'succeeded'
  END AS outcome,
  CASE
    WHEN bool_or(labels.bad) THEN 'bad'
    WHEN bool_or(labels.good) THEN 'good'
    WHEN count(labels.trajectory_id) > 0 THEN 'unsure'
  END AS label,
  count(*) OVER () AS total
FROM (  -- noqa: ST05
  SELECT
    run_index.trajectory_id,
    coalesce(run_index.conversation_id::VARCHAR, run_index.trajectory_id) AS name,
    coalesce(trajectories.turn_count, 1) AS turn_count,
    run_index.request,
    run_index.agent_name::VARCHAR AS agent_name,
    run_index.release::VARCHAR AS release,
    run_index.start_time,
    run_index.tool_call_count,
    run_index.error_count,
    run_index.duration_ms,
    run_index.cost_usd,
    run_index.outcome::VARCHAR AS outcome
  FROM matching_runs
  INNER JOIN run_index ON matching_runs.trajectory_id = run_index.trajectory_id
  INNER JOIN trajectories
    ON run_index.trajectory_id = trajectories.trajectory_id AND run_index.date = trajectories.date
  WHERE run_index.parent_trajectory_id IS NULL
) AS runs
LEFT JOIN (  -- noqa: ST05
  SELECT
    trajectory_id,
    bool_or(value = 0) AS bad,
    bool_or(value = 1) AS good
  FROM counted_verdicts
  WHERE subject = 'success' AND starts_with(source, 'human:')
  GROUP BY trajectory_id
) AS labels
  ON runs.trajectory_id = labels.trajectory_id
GROUP BY runs.name
HAVING sum(runs.turn_count) > 1
ORDER BY start_time DESC NULLS LAST, runs.name ASC
LIMIT $rows;
