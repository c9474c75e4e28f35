-- Hashes of the definitions that the runs of a release were scored by.
--
-- Reads:
--   trajectory_scores
-- Parameters:
--   $release  VARCHAR  The release.
-- Columns:
--   task_id         VARCHAR    One row for each task; NULL for runs without a known task.
--   task_hashes     VARCHAR[]  Sorted; empty without a task file.
--   scorer_version  VARCHAR    Version of the metrics' definitions; of the first run by id.
--   runs            BIGINT     Runs, also of sub-agents.
-- Order:
--   task_id
SELECT
  task_id,
  coalesce(
    list(DISTINCT task_hash ORDER BY task_hash) FILTER (WHERE task_hash IS NOT NULL),
    []
  ) AS task_hashes,
  arg_min(scorer_version, trajectory_id) AS scorer_version,
  count(*) AS runs
FROM trajectory_scores
WHERE release = $release
GROUP BY task_id
ORDER BY task_id;
