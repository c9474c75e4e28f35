-- The three axes of the T-Score over attempts without a known task, and their variation by chance.
--
-- An attempt is a conversation, else a run. Its residual on an axis is its share of the error of
-- that axis, which is a ratio of two sums (delta method). Sums run in a fixed order, so that they
-- never differ in a bit. Source: docs/metrics.md, section 7.4; without tasks, means are over runs.
--
-- Reads:
--   compared_runs
--   trajectory_scores
-- Columns:
--   agent_name    VARCHAR  NULL if the trace names none.
--   run_mode      VARCHAR  NULL if the trace does not say.
--   side          VARCHAR  base | candidate; one row for each of the three.
--   runs          BIGINT   Runs.
--   tsa           DOUBLE   Tool selection, 0..10; NULL if no decision point was counted.
--   pq            DOUBLE   Planning quality, 0..10; NULL if none was scored.
--   ra            DOUBLE   Rollback-ability after recovery, 0..10; NULL if none was scored.
--   points        DOUBLE   Counted decision points; NULL if there is none.
--   tsa_attempts  BIGINT   Attempts with a decision point.
--   pq_attempts   BIGINT   Attempts with a planning quality.
--   ra_attempts   BIGINT   Attempts with a rollback-ability.
--   pq_errors     BIGINT   Runs whose planning quality could not be measured.
--   tsa_tsa       DOUBLE   Sum of products of the two residuals in the name.
--   tsa_pq        DOUBLE   As tsa_tsa.
--   tsa_ra        DOUBLE   As tsa_tsa.
--   pq_pq         DOUBLE   As tsa_tsa.
--   pq_ra         DOUBLE   As tsa_tsa.
--   ra_ra         DOUBLE   As tsa_tsa.
-- Order:
--   agent_name, run_mode, side
WITH runs AS (
  SELECT
    compared_runs.agent_name,
    compared_runs.run_mode,
    compared_runs.side,
    compared_runs.attempt,
    compared_runs.trajectory_id,
    trajectory_scores.sample_weight AS weight,
    trajectory_scores.tsa,
    trajectory_scores.pq,
    trajectory_scores.ra_after_recovery AS ra
  FROM compared_runs
  INNER JOIN trajectory_scores ON compared_runs.trajectory_id = trajectory_scores.trajectory_id
  WHERE
    compared_runs.counted
    AND compared_runs.is_root
    AND compared_runs.task_id IS NULL
),

attempts AS (
  SELECT
    agent_name,
    run_mode,
    side,
    attempt,
    count(*) AS runs,
    count_if(pq.status = 'error') AS pq_errors,
    sum(10 * weight * tsa.numerator ORDER BY trajectory_id) AS tsa_top,
    sum(weight * tsa.denominator ORDER BY trajectory_id) AS tsa_bottom,
    sum(weight * pq.value ORDER BY trajectory_id) AS pq_top,
    sum(weight ORDER BY trajectory_id) FILTER (WHERE pq.value IS NOT NULL) AS pq_bottom,
    sum(weight * ra.value ORDER BY trajectory_id) AS ra_top,
    sum(weight ORDER BY trajectory_id) FILTER (WHERE ra.value IS NOT NULL) AS ra_bottom
  FROM runs
  GROUP BY agent_name, run_mode, side, attempt
),

sides AS (
  SELECT
    agent_name,
    run_mode,
    side,
    sum(runs)::BIGINT AS runs,
    sum(pq_errors)::BIGINT AS pq_errors,
    nullif(sum(tsa_bottom ORDER BY attempt), 0) AS points,
    nullif(sum(pq_bottom ORDER BY attempt), 0) AS pq_total,
    nullif(sum(ra_bottom ORDER BY attempt), 0) AS ra_total,
    sum(tsa_top ORDER BY attempt) / points AS tsa,
    sum(pq_top ORDER BY attempt) / pq_total AS pq,
    sum(ra_top ORDER BY attempt) / ra_total AS ra,
    count(*) FILTER (WHERE tsa_bottom > 0) AS tsa_attempts,
    count(*) FILTER (WHERE pq_bottom > 0) AS pq_attempts,
    count(*) FILTER (WHERE ra_bottom > 0) AS ra_attempts
  FROM attempts
  GROUP BY agent_name, run_mode, side
),

-- An attempt without a value on an axis does not move it.
residuals AS (
  SELECT
    sides.*,
    attempts.attempt,
    coalesce((attempts.tsa_top - sides.tsa * attempts.tsa_bottom) / sides.points, 0) AS of_tsa,
    coalesce((attempts.pq_top - sides.pq * attempts.pq_bottom) / sides.pq_total, 0) AS of_pq,
    coalesce((attempts.ra_top - sides.ra * attempts.ra_bottom) / sides.ra_total, 0) AS of_ra
  FROM attempts
  INNER JOIN sides
    ON
      attempts.side = sides.side
      AND attempts.agent_name IS NOT DISTINCT FROM sides.agent_name
      AND attempts.run_mode IS NOT DISTINCT FROM sides.run_mode
)

SELECT
  agent_name,
  run_mode,
  side,
  runs,
  tsa,
  pq,
  ra,
  points,
  tsa_attempts,
  pq_attempts,
  ra_attempts,
  pq_errors,
  sum(of_tsa * of_tsa ORDER BY attempt) AS tsa_tsa,
  sum(of_tsa * of_pq ORDER BY attempt) AS tsa_pq,
  sum(of_tsa * of_ra ORDER BY attempt) AS tsa_ra,
  sum(of_pq * of_pq ORDER BY attempt) AS pq_pq,
  sum(of_pq * of_ra ORDER BY attempt) AS pq_ra,
  sum(of_ra * of_ra ORDER BY attempt) AS ra_ra
FROM residuals
GROUP BY ALL
ORDER BY agent_name, run_mode, side;
