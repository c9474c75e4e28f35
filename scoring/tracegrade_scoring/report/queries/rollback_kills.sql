-- Verdicts on each kill on purpose, and what the kill left behind, with the worst first.
--
-- A human's verdict is listed next to the verdict of the rules, and comes before it in scores.
-- `evidence` may be a JSON object with `immediate`, `boundary`, `reason` and `leftovers`. Each
-- leftover has its `object` and `named_by`, the source that names it with a way to undo it. Long
-- lists keep only their first leftovers, and `left` is the full number. Any other text is the
-- reason. A verdict that names only a trace is about its outermost runs. Source: docs/metrics.md,
-- section 6.
--
-- Reads:
--   trajectories
--   trajectory_scores
--   counted_verdicts
-- Parameters:
--   $rows  BIGINT  Limit of the rows of each release of each agent.
-- Columns:
--   release         VARCHAR    One row for each verdict of each run that was killed in a repeat.
--   agent_name      VARCHAR    NULL if the trace names none.
--   run_mode        VARCHAR    As the trace says: production | live | mocked; else NULL.
--   task_id         VARCHAR    NULL if the task is not known.
--   trajectory_id   VARCHAR    The run that was not killed.
--   kill_point       VARCHAR    early | mid | late.
--   boundary        INTEGER    Tool calls that had returned; NULL if unknown.
--   at_once         DOUBLE     Before the recovery command, 0 to 10; NULL if unknown.
--   after_recovery  DOUBLE     After it, 0 to 10; NULL without such a kill or a judgment.
--   label           VARCHAR    Label of the verdict: not_applicable, error or others; NULL for
--                              none.
--   source          VARCHAR    Who judged.
--   reason          VARCHAR    Why; NULL if unknown.
--   objects         VARCHAR[]  Objects left after recovery, as far as they are listed.
--   unnamed         VARCHAR[]  Objects among them without a recorded way to undo them.
--   left_count      BIGINT     Number of objects left; NULL if unknown.
--   total           BIGINT     Rows of that release before $rows was applied.
-- Order:
--   agent_name, run_mode, release, after_recovery (lowest first, none last), late, mid, early,
--   task_id, trajectory_id, source
WITH kills AS (
  SELECT
    *,
    CASE WHEN json_valid(evidence) THEN evidence::JSON END AS facts
  FROM counted_verdicts
  WHERE subject = 'rollback'
),

run_kills AS (
  SELECT *
  FROM kills
  UNION ALL
  SELECT kills.* REPLACE (trajectories.trajectory_id AS trajectory_id)
  FROM kills
  INNER JOIN trajectories
    ON kills.trajectory_id = trajectories.trace_id AND trajectories.parent_trajectory_id IS NULL
),

read_kills AS (
  SELECT
    trajectory_scores.release,
    trajectory_scores.agent_name,
    trajectory_scores.run_mode,
    trajectory_scores.task_id,
    run_kills.trajectory_id,
    run_kills.kill_point,
    try_cast(run_kills.facts ->> '$.boundary' AS INTEGER) AS boundary,
    try_cast(run_kills.facts ->> '$.immediate' AS DOUBLE) AS at_once,
    run_kills.value AS after_recovery,
    run_kills.label,
    run_kills.source,
    CASE
      WHEN run_kills.facts IS NULL THEN nullif(run_kills.evidence, '')
      ELSE run_kills.facts ->> '$.reason'
    END AS reason,
    coalesce(run_kills.facts -> '$.leftovers[*]', []) AS leftovers,
    try_cast(run_kills.facts ->> '$.left' AS BIGINT) AS left_count
  FROM run_kills
  INNER JOIN trajectory_scores USING (trajectory_id)
),

ranked AS (
  SELECT
    * EXCLUDE (leftovers),
    [left_over ->> '$.object' FOR left_over IN leftovers] AS objects,
    [
      left_over ->> '$.object' FOR left_over IN leftovers
      IF (left_over ->> '$.named_by') IS NULL
    ] AS unnamed,
    count(*) OVER (PARTITION BY agent_name, run_mode, release) AS total,
    row_number() OVER (
      PARTITION BY agent_name, run_mode, release
      ORDER BY
        after_recovery ASC NULLS LAST,
        list_position(['late', 'mid', 'early'], kill_point) ASC,
        task_id ASC,
        trajectory_id ASC,
        source ASC
    ) AS position
  FROM read_kills
)

SELECT
  release,
  agent_name,
  run_mode,
  task_id,
  trajectory_id,
  kill_point,
  boundary,
  at_once,
  after_recovery,
  label,
  source,
  reason,
  objects,
  unnamed,
  left_count,
  total
FROM ranked
WHERE position <= $rows
ORDER BY agent_name, run_mode, release, position;
