-- The agents of runs with several: who each is, its span, and when it worked.
--
-- A run that called another one, or was called, has its root here, with or without other agents.
--
-- Reads:
--   built_trajectories
--   operation_agents
--   operations
--   run_ids
--   runs_of_several_agents
-- Needs:
--   runs_of_several_agents or built_trajectories WHERE parent_trajectory_id IS NOT NULL
-- Columns:
--   agent          BIGINT     As in operation_agents; one row each.
--   run            BIGINT
--   trajectory_id  VARCHAR
--   agent_span_id  VARCHAR    Its span; of one without a span, the first that names it.
--   has_span       BOOLEAN    It has a span of its own.
--   is_root        BOOLEAN    It is the agent of the run's root.
--   agent_name     VARCHAR    NULL if not named.
--   start_ns       BIGINT
--   start_time     TIMESTAMP
--   end_time       TIMESTAMP  NULL without an end.
--   duration_ms    DOUBLE     NULL without an end.
-- Order:
--   none
WITH runs AS (
  SELECT
    run_ids.run,
    run_ids.root IS NOT NULL AS has_span,
    trajectories.*
  FROM built_trajectories AS trajectories
  INNER JOIN run_ids USING (trajectory_id)
  WHERE
    run_ids.run IN (FROM runs_of_several_agents)
    OR trajectories.parent_trajectory_id IS NOT NULL
    OR trajectories.trajectory_id IN (
      SELECT called.parent_trajectory_id
      FROM built_trajectories AS called
      WHERE called.parent_trajectory_id IS NOT NULL
    )
),

roots AS (
  SELECT
    runs.run AS agent,
    runs.run,
    runs.trajectory_id,
    runs.root_span_id AS agent_span_id,
    runs.has_span,
    TRUE AS is_root,
    runs.agent_name,
    operations.start_ns,
    runs.start_time,
    runs.end_time,
    runs.duration_ms
  FROM runs
  INNER JOIN operations ON runs.run = operations.key
),

-- Some name an agent on each operation and have no span for it.
times AS (
  SELECT
    operation_agents.agent,
    operation_agents.run,
    any_value(operation_agents.agent_name) AS agent_name,
    operation_agents.agent >= 0 AS has_span,
    if(operation_agents.agent < 0, -1 - operation_agents.agent, operation_agents.agent) AS key,
    min(operations.start_ns) AS start_ns,
    max(operations.end_ns) FILTER (WHERE operations.ended) AS end_ns
  FROM operation_agents
  INNER JOIN operations USING (key)
  WHERE operation_agents.agent <> operation_agents.run
  GROUP BY operation_agents.agent, operation_agents.run
),

inner_agents AS (
  SELECT
    times.agent,
    times.run,
    runs.trajectory_id,
    spans.span_id AS agent_span_id,
    times.has_span,
    FALSE AS is_root,
    times.agent_name,
    if(times.has_span, spans.start_ns, times.start_ns) AS start_ns,
    if(times.has_span, if(spans.ended, spans.end_ns, NULL), times.end_ns) AS end_ns
  FROM times
  INNER JOIN runs USING (run)
  INNER JOIN operations AS spans ON times.key = spans.key
)

SELECT * FROM roots
UNION ALL BY NAME
SELECT
  * EXCLUDE (end_ns),
  make_timestamp_ns(start_ns)::TIMESTAMP AS start_time,
  make_timestamp_ns(end_ns)::TIMESTAMP AS end_time,
  -- A start of 0 was not sent.
  (end_ns - nullif(start_ns, 0)) / 1e6 AS duration_ms
FROM inner_agents;
