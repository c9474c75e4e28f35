-- Conversations of a filter's runs, the newest first: several runs, or one run of several turns.
--
-- Reads:
--   counted_verdicts
--   matching_runs
--   run_index
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
  shown.name,
  any_value(shown.runs) AS runs,
  any_value(shown.turns) AS turns,
  arg_min(shown.request, shown.place) AS first_words,
  arg_min(shown.agent_name, shown.place) AS agent_name,
  arg_min(shown.release, shown.place) AS release,
  any_value(shown.first_time) AS start_time,
  sum(coalesce(shown.tool_call_count, 0))::BIGINT AS calls,
  sum(coalesce(shown.error_count, 0))::BIGINT AS failed,
  -- An import that makes times up gives durations, too.
  if(
    count(shown.start_time) = count(*) AND count(shown.duration_ms) = count(*),
    sum(shown.duration_ms ORDER BY shown.place), NULL
  ) AS duration_ms,
  if(count(shown.cost_usd) = count(*), sum(shown.cost_usd ORDER BY shown.place), NULL) AS cost_usd,
  CASE
    WHEN bool_or(shown.outcome = 'failed') THEN 'failed'
    WHEN count(shown.outcome) = count(*) THEN 'succeeded'
  END AS outcome,
  CASE
    WHEN bool_or(labels.bad) THEN 'bad'
    WHEN bool_or(labels.good) THEN 'good'
    WHEN count(labels.trajectory_id) > 0 THEN 'unsure'
  END AS label,
  any_value(shown.total) AS total
FROM (  -- noqa: ST05
  SELECT
    newest.name,
    newest.runs,
    newest.turns,
    newest.first_time,
    newest.total,
    run_index.trajectory_id,
    run_index.request,
    run_index.agent_name::VARCHAR AS agent_name,
    run_index.release::VARCHAR AS release,
    (coalesce(run_index.start_time, '9999-12-31'), run_index.trajectory_id) AS place,
    run_index.start_time,
    run_index.tool_call_count,
    run_index.error_count,
    run_index.duration_ms,
    run_index.cost_usd,
    run_index.outcome::VARCHAR AS outcome
  FROM (
    SELECT
      name,
      runs,
      turns,
      first_time,
      total,
      unnest(places) AS seq
    FROM (
      -- A lake may have far more conversations than a page: the rest is read of those shown alone.
      SELECT
        name,
        count(*) AS runs,
        sum(turn_count)::BIGINT AS turns,
        min(start_time) AS first_time,
        count(*) OVER () AS total,
        list(seq) AS places
      FROM (
        SELECT
          run_index.seq,
          coalesce(run_index.conversation_id, run_index.trajectory_id) AS name,
          run_index.turn_count,
          run_index.start_time
        FROM run_index
        WHERE
          run_index.parent_trajectory_id IS NULL
          AND run_index.seq IN (SELECT matching_runs.seq FROM matching_runs)
      ) AS members
      GROUP BY name
      HAVING sum(turn_count) > 1
      ORDER BY first_time DESC NULLS LAST, name ASC
      LIMIT $rows
    ) AS conversations
  ) AS newest
  INNER JOIN run_index ON newest.seq = run_index.seq
) AS shown
LEFT JOIN (  -- noqa: ST05
  SELECT
    trajectory_id,
    bool_or(value = 0) AS bad,
    bool_or(value = 1) AS good
  FROM counted_verdicts
  WHERE subject = 'success' AND starts_with(source, 'human:')
  GROUP BY trajectory_id
) AS labels
  ON shown.trajectory_id = labels.trajectory_id
GROUP BY shown.name
ORDER BY start_time DESC NULLS LAST, shown.name ASC;
