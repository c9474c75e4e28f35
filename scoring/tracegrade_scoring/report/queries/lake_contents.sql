-- Amounts of each kind of data in the lake, for notes on missing data in reports.
--
-- Reads:
--   raw_logs
--   raw_spans
--   trajectories
--   trajectory_scores
-- Columns:
--   spans         BIGINT  Landed spans, resent ones included.
--   trajectories  BIGINT  Trajectories built from them, without unscored traces that hold only
--                         tools.
--   runs          BIGINT  Runs among them of agents that no other run called.
--   scored        BIGINT  Trajectories that a scoring run has read.
--   with_task     BIGINT  Scored trajectories whose task is known.
--   untimed       BIGINT  Runs whose start an import made up.
--   logs          BIGINT  Landed log records, without exported scores that were sent back.
-- Order:
--   one row
WITH counted AS (
  SELECT
    trajectories.parent_trajectory_id,
    trajectories.start_time
  FROM trajectories
  LEFT JOIN trajectory_scores USING (trajectory_id)
  WHERE trajectories.is_fragment IS NOT TRUE OR trajectory_scores.trajectory_id IS NOT NULL
)

SELECT
  (SELECT count(*) FROM raw_spans) AS spans,
  (SELECT count(*) FROM counted) AS trajectories,
  (SELECT count(*) FILTER (WHERE parent_trajectory_id IS NULL) FROM counted) AS runs,
  (SELECT count(*) FROM trajectory_scores) AS scored,
  (SELECT count(task_id) FROM trajectory_scores) AS with_task,
  (
    -- Made-up starts of an import begin with the year 2000, one second apart.
    SELECT count(*)
    FROM counted
    WHERE parent_trajectory_id IS NULL AND start_time < '2001-01-01'
  ) AS untimed,
  (
    SELECT count(*)
    FROM raw_logs
    WHERE scope_name IS DISTINCT FROM 'tracegrade.scoring'
  ) AS logs
ORDER BY spans;
