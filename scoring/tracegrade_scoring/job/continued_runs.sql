-- Runs that are the earlier part of another one, which continues them.
--
-- A later run of the conversation, or of the trace, has a call that they left open: it began with
-- the result, or by executing the call. If a side names no conversation, the call's id must belong
-- to no other call. The second case: no span of either run is an agent's, and the earlier run
-- stopped to call tools that have no record in its trace. Then the next run of the conversation
-- continues it. Source: docs/metrics.md, section 8.2.
--
-- Reads:
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR  The earlier part, one row each.
--   continued_by   VARCHAR  The run that continues it, which may itself be continued.
-- Order:
--   trajectory_id
WITH earlier AS (
  SELECT
    trajectory_id,
    trace_id,
    conversation_id,
    start_time,
    unnest(open_calls) AS call_id
  FROM trajectories
  WHERE len(open_calls) > 0 AND parent_trajectory_id IS NULL AND kill_point IS NULL
),

later AS (
  SELECT
    trajectory_id,
    trace_id,
    conversation_id,
    start_time,
    unnest(resumed_calls) AS call_id
  FROM trajectories
  WHERE len(resumed_calls) > 0 AND parent_trajectory_id IS NULL AND kill_point IS NULL
),

-- Several runs may leave the same id open: a run continues the last run before it.
by_call AS (
  SELECT
    later.trajectory_id AS continued_by,
    later.start_time,
    arg_max(earlier.trajectory_id, (earlier.start_time, earlier.trajectory_id)) AS trajectory_id
  FROM earlier
  INNER JOIN later
    ON
      earlier.call_id = later.call_id
      AND (earlier.start_time, earlier.trajectory_id) < (later.start_time, later.trajectory_id)
      AND (
        earlier.conversation_id = later.conversation_id
        OR earlier.trace_id = later.trace_id
        OR (
          (earlier.conversation_id IS NULL OR later.conversation_id IS NULL)
          AND length(later.call_id) >= 12
          AND NOT regexp_matches(later.call_id, '[:_.-]\d{1,3}$')
        )
      )
  GROUP BY later.trajectory_id, later.start_time, later.call_id
),

cut AS (
  SELECT
    trajectory_id,
    conversation_id,
    service_name,
    end_time
  FROM trajectories
  WHERE
    list_contains(flags, 'stopped_for_tools')
    AND conversation_id IS NOT NULL
    AND kill_point IS NULL
),

following AS (
  SELECT
    trajectories.trajectory_id,
    trajectories.conversation_id,
    trajectories.service_name,
    trajectories.start_time
  FROM trajectories
  WHERE
    trajectories.conversation_id IN (SELECT cut.conversation_id FROM cut)
    AND trajectories.root_span_id = '0000000000000000'
    AND trajectories.llm_call_count > 0
    AND trajectories.is_fragment IS NOT TRUE
    AND trajectories.kill_point IS NULL
),

by_round AS (
  SELECT
    following.trajectory_id AS continued_by,
    following.start_time,
    arg_max(cut.trajectory_id, (cut.end_time, cut.trajectory_id)) AS trajectory_id
  FROM following
  INNER JOIN cut
    ON
      following.conversation_id = cut.conversation_id
      AND following.service_name IS NOT DISTINCT FROM cut.service_name
      AND following.trajectory_id <> cut.trajectory_id
      AND following.start_time >= cut.end_time
  GROUP BY following.trajectory_id, following.start_time
),

continuations AS (
  SELECT
    trajectory_id,
    continued_by,
    start_time
  FROM by_call
  UNION ALL
  SELECT
    trajectory_id,
    continued_by,
    start_time
  FROM by_round
)

SELECT
  trajectory_id,
  arg_min(continued_by, (start_time, continued_by)) AS continued_by
FROM continuations
GROUP BY trajectory_id
ORDER BY trajectory_id;
