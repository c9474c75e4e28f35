-- Runs whose end has not come, and until when each counts as running, and as silent.
--
-- A run that was imported, or that an earlier version built, gets no span any more.
--
-- Reads:
--   steps
--   trajectories
-- Parameters:
--   $now           TIMESTAMP  UTC; longest times are needed of runs that may still be running.
--   $running_gaps  INTEGER    A run is running for so many times its longest time between steps.
--   $running_secs  INTEGER    And for so many seconds at least.
--   $silent_secs   INTEGER    After so many it is cut off.
-- Columns:
--   trajectory_id  VARCHAR    One row each.
--   running_until  TIMESTAMP  UTC.
--   silent_until   TIMESTAMP  UTC; not before the other.
-- Order:
--   trajectory_id
WITH unfinished AS (
  SELECT
    trajectory_id,
    start_time,
    make_timestamp(coalesce(trace_received_ns, 0) // 1000) AS received_at,
    NOT coalesce(imported, TRUE) AND trace_received_ns IS NOT NULL AS may_continue
  FROM trajectories
  WHERE complete IS NOT TRUE AND kill_point IS NULL
),

recent AS (
  SELECT
    trajectory_id,
    start_time
  FROM unfinished
  WHERE
    may_continue
    AND received_at + to_seconds($silent_secs::INTEGER) > $now::TIMESTAMP
),

moments AS (
  SELECT
    trajectory_id,
    start_time AS moment
  FROM recent
  UNION ALL
  SELECT
    steps.trajectory_id,
    coalesce(steps.end_time, steps.start_time) AS moment
  FROM steps
  SEMI JOIN recent USING (trajectory_id)
),

gaps AS (
  SELECT
    trajectory_id,
    epoch_us(moment)
    - lag(epoch_us(moment)) OVER (PARTITION BY trajectory_id ORDER BY moment) AS gap_us
  FROM moments
  WHERE moment IS NOT NULL
),

longest AS (
  SELECT
    trajectory_id,
    max(gap_us) AS gap_us
  FROM gaps
  GROUP BY trajectory_id
)

SELECT
  unfinished.trajectory_id,
  CASE
    WHEN unfinished.may_continue
      THEN
        unfinished.received_at
        + to_microseconds(
          greatest(
            $running_secs::BIGINT * 1000000,  -- noqa: RF02
            least(
              coalesce(longest.gap_us, 0) * $running_gaps::BIGINT,  -- noqa: RF02
              $silent_secs::BIGINT * 1000000  -- noqa: RF02
            )
          )
        )
    ELSE unfinished.received_at
  END AS running_until,
  CASE
    WHEN unfinished.may_continue
      THEN unfinished.received_at + to_seconds($silent_secs::INTEGER)  -- noqa: RF02
    ELSE unfinished.received_at
  END AS silent_until
FROM unfinished
LEFT JOIN longest USING (trajectory_id)
ORDER BY unfinished.trajectory_id;
