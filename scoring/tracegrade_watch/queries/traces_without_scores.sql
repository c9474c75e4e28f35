-- Traces that were received and wait for their scores, whether they were built or not.
--
-- Reads:
--   built_traces
--   raw_spans
--   trajectories
--   trajectory_scores
-- Columns:
--   traces     BIGINT     Traces with a run without scores, or with spans that no build has seen.
--   oldest_at  TIMESTAMP  Receipt of the last span of that which waits longest, UTC; NULL if none
--                         waits.
-- Order:
--   traces
WITH unscored AS (
  SELECT
    trajectories.trace_id,
    max(trajectories.trace_received_ns) AS received_ns
  FROM trajectories
  ANTI JOIN trajectory_scores USING (trajectory_id)
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND trajectories.is_fragment IS NOT TRUE
  GROUP BY trajectories.trace_id
),

unbuilt AS (
  SELECT
    trace_id,
    max(received_ns) AS received_ns
  FROM raw_spans
  WHERE received_ns > coalesce((SELECT max(built_traces.last_ns) FROM built_traces), 0)
  GROUP BY trace_id
),

waiting AS (
  SELECT
    trace_id,
    received_ns
  FROM unscored
  UNION ALL
  SELECT
    trace_id,
    received_ns
  FROM unbuilt
)

SELECT
  count(DISTINCT trace_id) AS traces,
  make_timestamp_ns(min(received_ns))::TIMESTAMP AS oldest_at
FROM waiting
ORDER BY traces;
