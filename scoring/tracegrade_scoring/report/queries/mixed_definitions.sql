-- Definitions whose versions differ between runs of an agent, whose scores cannot be compared.
--
-- Runs that were scored before a change keep the scores of the older definition until they are
-- scored again, as `score --since` leaves them.
--
-- Reads:
--   custom_scores
--   trajectory_scores
-- Parameters:
--   $releases  VARCHAR[]  Releases whose runs count; NULL for all.
-- Columns:
--   agent_name   VARCHAR    NULL if the trace names none.
--   run_mode     VARCHAR    production | live | mocked; NULL if the trace does not say.
--   part         VARCHAR    metrics | task | match (how runs find their task) | metric (a user's
--                           own).
--   name         VARCHAR    The task, or the user's metric; NULL for others. The task is NULL for
--                           runs without one, which were scored against the tools alone.
--   definitions  VARCHAR[]  Version of the metrics, or hashes; at least two, sorted.
-- Order:
--   agent_name, run_mode, part, name
WITH chosen AS (
  SELECT
    trajectory_id,
    agent_name,
    run_mode,
    task_id,
    scorer_version,
    specification_hash
  FROM trajectory_scores
  WHERE
    $releases::VARCHAR[] IS NULL
    OR release IN (SELECT unnest($releases::VARCHAR[]))
),

definitions AS (
  SELECT
    agent_name,
    run_mode,
    'metrics' AS part,
    NULL::VARCHAR AS name,
    scorer_version AS definition
  FROM chosen
  UNION ALL
  -- A sub-agent's run has none: its attempt's counts.
  SELECT
    agent_name,
    run_mode,
    'task' AS part,
    task_id AS name,
    split_part(specification_hash, '/', 1) AS definition
  FROM chosen
  WHERE specification_hash IS NOT NULL
  UNION ALL
  SELECT
    agent_name,
    run_mode,
    'match' AS part,
    NULL AS name,
    split_part(specification_hash, '/', 2) AS definition
  FROM chosen
  WHERE contains(specification_hash, '/')
  UNION ALL
  SELECT
    chosen.agent_name,
    chosen.run_mode,
    'metric' AS part,
    custom_scores.metric AS name,
    custom_scores.metric_hash AS definition
  FROM chosen
  INNER JOIN custom_scores USING (trajectory_id)
  WHERE custom_scores.metric_hash IS NOT NULL
)

SELECT
  agent_name,
  run_mode,
  part,
  name,
  list(DISTINCT definition ORDER BY definition) AS definitions
FROM definitions
GROUP BY agent_name, run_mode, part, name
HAVING count(DISTINCT definition) > 1
ORDER BY agent_name, run_mode, part, name;
