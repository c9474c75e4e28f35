-- Agent spans inside a run that are agents of their own, in addition to the run's root.
--
-- A span that names no agent, or the agent of the span above it, wraps that agent or is part of
-- it. The label of a span counts as a name only below a wrapper without one, such as a crew.
--
-- Reads:
--   anchor_ends
--   known_parents
--   name_ends
--   operation_runs
--   operations
--   run_agent_names
--   run_ids
-- Needs:
--   operations WHERE operation = 'agent' GROUP BY trace_id HAVING count(*) > 1
-- Columns:
--   key         BIGINT   Agent span; one row each.
--   trace_id    VARCHAR
--   run         BIGINT
--   agent_name  VARCHAR  Never NULL.
--   start_ns    BIGINT
-- Order:
--   none
WITH candidates AS (
  SELECT
    operations.key,
    operations.trace_id,
    operation_runs.run,
    operations.agent_name,
    operations.agent_label,
    operations.start_ns,
    coalesce(name_ends.last, known_parents.parent) AS naming,
    coalesce(anchor_ends.last, known_parents.parent) AS anchor
  FROM operations
  INNER JOIN operation_runs USING (key)
  INNER JOIN run_ids USING (run)
  INNER JOIN known_parents USING (key)
  LEFT JOIN name_ends ON known_parents.parent = name_ends.key
  LEFT JOIN anchor_ends ON known_parents.parent = anchor_ends.key
  WHERE operations.operation = 'agent' AND operations.key IS DISTINCT FROM run_ids.root
),

named AS (
  SELECT
    candidates.key,
    candidates.trace_id,
    candidates.run,
    candidates.start_ns,
    run_agent_names.agent_name AS run_name,
    if(naming_runs.run = candidates.run, naming.agent_name, NULL) AS name_above,
    coalesce(
      candidates.agent_name,
      if(
        anchors.operation = 'agent' AND coalesce(anchors.agent_name, anchors.agent_label) IS NULL,
        candidates.agent_label,
        NULL
      )
    ) AS agent_name
  FROM candidates
  LEFT JOIN run_agent_names ON candidates.run = run_agent_names.run
  LEFT JOIN operations AS naming ON candidates.naming = naming.key
  LEFT JOIN operation_runs AS naming_runs ON candidates.naming = naming_runs.key
  LEFT JOIN operations AS anchors ON candidates.anchor = anchors.key
)

SELECT
  key,
  trace_id,
  run,
  agent_name,
  start_ns
FROM named
WHERE agent_name IS NOT NULL AND agent_name IS DISTINCT FROM coalesce(name_above, run_name);
