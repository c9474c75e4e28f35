-- Traces whose trajectories must be scored now.
--
-- A trace is settled once every root of its trajectories is here, once it got nothing for 10
-- minutes of the lake's own time (its newest receipt), or if it was imported. Settled traces are
-- scored when they are new, and again when spans, verdicts, task files or definitions changed.
-- Source: design, section 7.
--
-- Reads:
--   spans
--   trajectories
--   trajectory_scores
--   verdicts
-- Parameters:
--   $everything          BOOLEAN  Score every settled trace.
--   $scorer_version      VARCHAR  Version of the definitions now.
--   $specification_hash  VARCHAR  Hash of the task files now.
-- Columns:
--   trace_id    VARCHAR  One row each.
--   date        DATE     Date it was first received, UTC; NULL if the trace is no longer here.
--   steps       BIGINT   Steps of its trajectories.
--   input_hash  VARCHAR  Changes when its spans or verdicts do; NULL if it is no longer here.
-- Order:
--   trace_id
WITH received AS (
  SELECT
    trace_id,
    count(*) AS spans,
    max(received_ns) AS received_ns,
    bool_and(collector_id = 'import') AS imported
  FROM spans
  GROUP BY trace_id
),

lake_time AS (
  SELECT max(received_ns) AS now_ns
  FROM received
),

built AS (
  SELECT
    trace_id,
    min(date) AS date,
    sum(step_count)::BIGINT AS steps,
    count(*) AS trajectories,
    bool_and(complete) AS complete
  FROM trajectories
  GROUP BY trace_id
),

judged AS (
  SELECT
    split_part(trajectory_id, '-', 1) AS trace_id,
    md5(string_agg(to_json(verdicts)::VARCHAR, '|' ORDER BY to_json(verdicts)::VARCHAR))
      AS verdicts
  FROM verdicts
  GROUP BY trace_id
),

present AS (
  SELECT
    built.trace_id,
    built.date,
    built.steps,
    built.trajectories,
    md5(concat_ws('|', received.spans, received.received_ns, judged.verdicts)) AS input_hash,
    built.complete
    OR coalesce(received.imported, TRUE)
    OR received.received_ns <= lake_time.now_ns - 600000000000 AS settled
  FROM built
  CROSS JOIN lake_time
  LEFT JOIN received USING (trace_id)
  LEFT JOIN judged USING (trace_id)
),

scored AS (
  SELECT
    split_part(trajectory_id, '-', 1) AS trace_id,
    count(*) AS trajectories,
    any_value(input_hash) AS input_hash,
    bool_and(scorer_version = $scorer_version AND specification_hash = $specification_hash)
      AS current
  FROM trajectory_scores
  GROUP BY trace_id
),

candidates AS (
  SELECT
    coalesce(present.trace_id, scored.trace_id) AS trace_id,
    present.date,
    coalesce(present.steps, 0) AS steps,
    present.input_hash,
    present.trace_id IS NULL AS gone,
    present.settled,
    coalesce(
      scored.current
      AND scored.input_hash = present.input_hash
      AND scored.trajectories = present.trajectories,
      FALSE
    ) AS current
  FROM present
  FULL JOIN scored ON present.trace_id = scored.trace_id
)

SELECT
  trace_id,
  date,
  steps,
  input_hash
FROM candidates
WHERE
  gone
  OR (settled AND ($everything::BOOLEAN OR NOT current))
ORDER BY trace_id;
