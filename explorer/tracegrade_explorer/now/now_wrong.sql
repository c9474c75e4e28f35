-- Reasons of failed runs in a window of time, and signs in runs without a known outcome.
--
-- Reads:
--   run_index
-- Parameters:
--   $before  TIMESTAMP  Start of the previous window, UTC; NULL without one.
--   $since   TIMESTAMP  Start of the window; NULL: it has the runs of any time.
--   $until   TIMESTAMP  End of the window, excluded; NULL as for $since.
--   $rows    BIGINT     Maximum of each sort.
-- Columns:
--   sort           VARCHAR    reason: the first reason of a failed run; sign: a failure mode,
--                             failed_calls or unfinished, of a run with an unknown outcome.
--   name           VARCHAR    Name in the filter of runs. One row for each sort and name.
--   runs           BIGINT     Runs of the window; at least 1.
--   runs_before    BIGINT     Runs of the previous window.
--   of             BIGINT     Number of names of this sort, including those left out.
--   trajectory_id  VARCHAR    The newest such run.
--   start_time     TIMESTAMP  Its start, UTC; NULL if not known.
--   agent_name     VARCHAR    Its agent; NULL if none is named.
--   release        VARCHAR    Its release; NULL if not sent.
--   why            VARCHAR    The failure in it, as a sentence; NULL for a sign.
--   request        VARCHAR    The beginning of its request; NULL if not known.
-- Order:
--   sort, runs DESC, name
WITH of_windows AS (
  SELECT
    seq,
    outcome,
    reason,
    complete,
    failures,
    error_count,
    $since::TIMESTAMP IS NULL OR start_time >= $since::TIMESTAMP AS is_now
  FROM run_index
  WHERE
    parent_trajectory_id IS NULL
    AND (
      $since::TIMESTAMP IS NULL
      OR (start_time >= $before::TIMESTAMP AND start_time < $until::TIMESTAMP)
    )
),

signs AS (
  SELECT
    seq,
    is_now,
    unnest(
      list_concat(
        failures,
        list_concat(
          if(error_count > 0, ['failed_calls'], []),
          if(NOT complete, ['unfinished'], [])
        )
      )
    ) AS name
  FROM of_windows
  WHERE outcome IS NULL
),

found AS (
  SELECT
    'reason' AS sort,
    reason AS name,
    seq,
    is_now
  FROM of_windows
  WHERE outcome = 'failed' AND reason IS NOT NULL
  UNION ALL
  SELECT
    'sign' AS sort,
    name,
    seq,
    is_now
  FROM signs
  WHERE name <> 'unclassified'
),

counted AS (
  SELECT
    sort,
    name,
    count(*) FILTER (WHERE is_now) AS runs,
    count(*) FILTER (WHERE NOT is_now) AS runs_before,
    min(seq) FILTER (WHERE is_now) AS newest
  FROM found
  GROUP BY sort, name
),

shown AS (
  SELECT
    *,
    count(*) OVER (PARTITION BY sort) AS of
  FROM counted
  WHERE runs > 0
  QUALIFY row_number() OVER (PARTITION BY sort ORDER BY runs DESC, name ASC) <= $rows
)

SELECT
  shown.sort,
  shown.name,
  shown.runs,
  shown.runs_before,
  shown.of,
  run_index.trajectory_id,
  run_index.start_time,
  run_index.agent_name::VARCHAR AS agent_name,
  run_index.release::VARCHAR AS release,
  run_index.why,
  run_index.request
FROM shown
INNER JOIN run_index ON shown.newest = run_index.seq
ORDER BY shown.sort ASC, shown.runs DESC, shown.name ASC;
