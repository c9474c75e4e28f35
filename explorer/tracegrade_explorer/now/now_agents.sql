-- Counts of each agent's runs in a window of time, without those of sub-agents.
--
-- Reads:
--   run_index
-- Parameters:
--   $before  TIMESTAMP  Start of the previous window, UTC; NULL without one.
--   $since   TIMESTAMP  Start of the window; NULL: it has the runs of any time.
--   $until   TIMESTAMP  End of the window, excluded; NULL as for $since.
-- Columns:
--   agent_name          VARCHAR   NULL if none is named. One row each.
--   runs                BIGINT    Runs of the window.
--   failed              BIGINT    Failed runs.
--   known               BIGINT    Runs that count in rates and have a known outcome.
--   solved              BIGINT    Successful runs among the known ones.
--   solved_share        DOUBLE    Their share, by sample weight; NULL if none is known.
--   unfinished          BIGINT    Runs whose end has not arrived.
--   looped              BIGINT    Runs that looped.
--   calls               BIGINT    Tool calls.
--   failed_calls        BIGINT    Calls with an error, or not executed.
--   median_ms           DOUBLE    Duration that half of the runs do not exceed; NULL if not known.
--   p95_ms              DOUBLE    Likewise, 95 of 100.
--   cost_usd            DOUBLE    Of the priced, by sample weight; NULL without any.
--   priced              BIGINT    Runs whose cost is known, with that of their sub-agents.
--   tokens              DOUBLE    By sample weight; NULL if none were recorded.
--   releases            VARCHAR[] Names of releases, that of the newest run first; empty if none.
--   runs_before         BIGINT    Runs of the window before.
--   known_before        BIGINT    Like known, of the window before, as the next five.
--   solved_before       BIGINT    Like solved.
--   solved_share_before DOUBLE    Like solved_share.
--   calls_before        BIGINT    Like calls.
--   failed_calls_before BIGINT    Like failed_calls.
--   median_ms_before    DOUBLE    Like median_ms.
-- Order:
--   runs DESC, agent_name
WITH of_windows AS (
  SELECT
    seq,
    agent_name,
    release,
    outcome,
    complete,
    failures,
    tool_call_count,
    error_count,
    duration_ms,
    cost_usd,
    tokens,
    sample_weight,
    $since::TIMESTAMP IS NULL OR start_time >= $since::TIMESTAMP AS is_now,
    NOT killed AND NOT superseded AND outcome IS NOT NULL AS is_known
  FROM run_index
  WHERE
    parent_trajectory_id IS NULL
    AND (
      $since::TIMESTAMP IS NULL
      OR (start_time >= $before::TIMESTAMP AND start_time < $until::TIMESTAMP)
    )
),

of_releases AS (
  SELECT
    agent_name,
    list(release::VARCHAR ORDER BY newest) AS releases
  FROM (
    SELECT
      agent_name,
      release,
      min(seq) AS newest
    FROM of_windows
    WHERE is_now AND release IS NOT NULL
    GROUP BY agent_name, release
  ) AS newest_of_releases
  GROUP BY agent_name
),

of_agents AS (
  SELECT
    agent_name,
    count(*) FILTER (WHERE is_now) AS runs,
    count(*) FILTER (WHERE is_now AND outcome = 'failed') AS failed,
    count(*) FILTER (WHERE is_now AND is_known) AS known,
    count(*) FILTER (WHERE is_now AND is_known AND outcome = 'succeeded') AS solved,
    coalesce(
      sum(sample_weight) FILTER (WHERE is_now AND is_known AND outcome = 'succeeded'), 0
    )
    / sum(sample_weight) FILTER (WHERE is_now AND is_known) AS solved_share,
    count(*) FILTER (WHERE is_now AND NOT complete) AS unfinished,
    count(*) FILTER (WHERE is_now AND list_contains(failures, 'loop_trap')) AS looped,
    sum(tool_call_count) FILTER (WHERE is_now)::BIGINT AS calls,
    sum(error_count) FILTER (WHERE is_now)::BIGINT AS failed_calls,
    quantile_cont(duration_ms, 0.5) FILTER (WHERE is_now) AS median_ms,
    quantile_cont(duration_ms, 0.95) FILTER (WHERE is_now) AS p95_ms,
    sum(cost_usd * coalesce(sample_weight, 1)) FILTER (WHERE is_now) AS cost_usd,
    count(cost_usd) FILTER (WHERE is_now) AS priced,
    sum(tokens * coalesce(sample_weight, 1)) FILTER (WHERE is_now)::DOUBLE AS tokens,
    count(*) FILTER (WHERE NOT is_now) AS runs_before,
    count(*) FILTER (WHERE NOT is_now AND is_known) AS known_before,
    count(*) FILTER (WHERE NOT is_now AND is_known AND outcome = 'succeeded') AS solved_before,
    coalesce(
      sum(sample_weight) FILTER (WHERE NOT is_now AND is_known AND outcome = 'succeeded'), 0
    )
    / sum(sample_weight) FILTER (WHERE NOT is_now AND is_known) AS solved_share_before,
    sum(tool_call_count) FILTER (WHERE NOT is_now)::BIGINT AS calls_before,
    sum(error_count) FILTER (WHERE NOT is_now)::BIGINT AS failed_calls_before,
    quantile_cont(duration_ms, 0.5) FILTER (WHERE NOT is_now) AS median_ms_before
  FROM of_windows
  GROUP BY agent_name
)

SELECT
  of_agents.agent_name::VARCHAR AS agent_name,
  of_agents.runs,
  of_agents.failed,
  of_agents.known,
  of_agents.solved,
  of_agents.solved_share,
  of_agents.unfinished,
  of_agents.looped,
  of_agents.calls,
  of_agents.failed_calls,
  of_agents.median_ms,
  of_agents.p95_ms,
  of_agents.cost_usd,
  of_agents.priced,
  of_agents.tokens,
  coalesce(of_releases.releases, []) AS releases,
  of_agents.runs_before,
  of_agents.known_before,
  of_agents.solved_before,
  of_agents.solved_share_before,
  of_agents.calls_before,
  of_agents.failed_calls_before,
  of_agents.median_ms_before
FROM of_agents
LEFT JOIN of_releases ON of_agents.agent_name IS NOT DISTINCT FROM of_releases.agent_name
ORDER BY of_agents.runs DESC, agent_name ASC;
