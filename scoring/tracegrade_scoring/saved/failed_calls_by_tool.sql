-- Failed calls of each tool and their outcomes, as scores see them.
--
-- A call failed by its status, by its result, or by the error_pattern of a task file.
--
-- Reads:
--   failed_calls
-- Columns:
--   tool_name        VARCHAR  NULL if the spans name none.
--   release          VARCHAR  NULL if not sent.
--   failed_by        VARCHAR  status | result | error_pattern. One row for each of these three.
--   failures         BIGINT   Failed calls; at least 1.
--   trajectories     BIGINT   Trajectories with these calls.
--   recovered        BIGINT   A later call with another argument, or another tool, did it.
--   retried          BIGINT   The same call went well later, and no other did it.
--   recovered_share  DOUBLE   recovered / failures, in [0, 1].
--   example          VARCHAR  One of the trajectories, the first by id.
-- Order:
--   failures DESC, tool_name, release, failed_by
SELECT
  tool_name,
  release,
  failed_by,
  count(*) AS failures,
  count(DISTINCT step_trajectory_id) AS trajectories,
  count(*) FILTER (WHERE outcome = 'recovered') AS recovered,
  count(*) FILTER (WHERE outcome = 'retried') AS retried,
  recovered / failures AS recovered_share,
  min(step_trajectory_id) AS example
FROM failed_calls
GROUP BY tool_name, release, failed_by
ORDER BY failures DESC, tool_name ASC, release ASC, failed_by ASC;
