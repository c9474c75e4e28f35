-- Idle time in trajectories: gaps during which no step ran, the longest first.
--
-- Steps whose source has no times (flag synthetic_time) are left out.
--
-- Reads:
--   steps
-- Parameters:
--   $ms  DOUBLE  Shortest gap to report, in milliseconds.
-- Columns:
--   trajectory_id  VARCHAR  One row for each trajectory_id and after_step.
--   after_step     INTEGER  step_index of the step that ended last before the gap.
--   after_kind     VARCHAR
--   before_step    INTEGER  step_index of the first step after it.
--   before_kind    VARCHAR
--   gap_ms         DOUBLE   At least $ms.
-- Order:
--   gap_ms DESC, trajectory_id, after_step
WITH timed AS (
  SELECT
    trajectory_id,
    step_index,
    kind,
    start_time,
    -- The step that ended last so far, in the order of the clock: steps may run in parallel.
    max(end_time) OVER earlier AS idle_since,
    arg_max((step_index, kind), (end_time, step_index)) OVER earlier AS last_step
  FROM steps
  WHERE
    start_time IS NOT NULL
    AND end_time IS NOT NULL
    AND NOT coalesce(list_contains(flags, 'synthetic_time'), FALSE)
  WINDOW earlier AS (
    PARTITION BY trajectory_id
    ORDER BY start_time, step_index
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
)

SELECT
  trajectory_id,
  last_step[1] AS after_step,
  last_step[2] AS after_kind,
  step_index AS before_step,
  kind AS before_kind,
  (epoch_us(start_time) - epoch_us(idle_since)) / 1000 AS gap_ms
FROM timed
WHERE (epoch_us(start_time) - epoch_us(idle_since)) / 1000 >= $ms::DOUBLE
ORDER BY gap_ms DESC, trajectory_id ASC, after_step ASC;
