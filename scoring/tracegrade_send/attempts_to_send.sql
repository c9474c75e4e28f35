-- The attempts whose scores may be sent.
--
-- Left out: runs of sub-agents, runs that were killed or sent in addition to a trial's run, and
-- runs that a later run superseded, since `release_scores` does not count them either. Source:
-- docs/guides/send.md.
--
-- Reads:
--   killed_runs
--   superseded_runs
--   trajectories
-- As:
--   view
-- Columns:
--   trajectory_id    VARCHAR    One row each.
--   trace_id         VARCHAR    32 hex digits.
--   root_span_id     VARCHAR    16 hex digits; NULL without a root.
--   conversation_id  VARCHAR    NULL if not sent.
--   environment      VARCHAR    Deployment environment of the run; NULL if not sent.
--   start_time       TIMESTAMP  UTC.
--   received_ns      BIGINT     Time the last span of the trace was received, ns since 1970.
-- Order:
--   none
SELECT
  trajectories.trajectory_id,
  trajectories.trace_id,
  nullif(trajectories.root_span_id, '0000000000000000') AS root_span_id,
  nullif(trajectories.conversation_id, '') AS conversation_id,
  trajectories.environment,
  trajectories.start_time,
  trajectories.trace_received_ns AS received_ns
FROM trajectories
ANTI JOIN superseded_runs USING (trajectory_id)
ANTI JOIN killed_runs USING (trajectory_id)
WHERE trajectories.parent_trajectory_id IS NULL;
