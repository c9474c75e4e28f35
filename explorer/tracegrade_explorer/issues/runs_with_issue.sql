-- The newest runs that show one issue.
--
-- Reads:
--   issue_places
--   run_index
--   run_reasons
-- Parameters:
--   $issue  VARCHAR  Key of the issue.
--   $rows   BIGINT   The most rows.
-- Columns:
--   trajectory_id       VARCHAR    The run.
--   date                DATE       Date its trace was first received, UTC.
--   start_time          TIMESTAMP  UTC; NULL if an import made it up.
--   run_mode            VARCHAR    NULL if not declared.
--   release             VARCHAR    NULL if not sent.
--   task_id             VARCHAR    NULL if not known.
--   outcome             VARCHAR    succeeded | failed; NULL if not known.
--   sentence            VARCHAR    Description of the failure.
--   step_trajectory_id  VARCHAR    Trajectory of the step; NULL without a step.
--   step_index          INTEGER    In that trajectory; NULL without a step.
-- Order:
--   newest first
WITH newest AS (
  SELECT
    seq,
    rank_in_run
  FROM issue_places
  WHERE issue = $issue
  ORDER BY seq
  LIMIT $rows
)

SELECT
  run_index.trajectory_id,
  run_index.date,
  run_index.start_time,
  run_index.run_mode::VARCHAR AS run_mode,
  run_index.release::VARCHAR AS release,
  run_index.task_id::VARCHAR AS task_id,
  run_index.outcome::VARCHAR AS outcome,
  run_reasons.sentence,
  run_reasons.step_trajectory_id,
  run_reasons.step_index
FROM newest
INNER JOIN run_index ON newest.seq = run_index.seq
INNER JOIN run_reasons
  ON
    run_index.trajectory_id = run_reasons.trajectory_id
    AND newest.rank_in_run = run_reasons.rank_in_run
ORDER BY newest.seq;
