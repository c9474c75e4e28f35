-- Operations in traces with copies that move to another run, or to none.
--
-- An execution that was recorded before belongs to no run, with all operations below it. The same
-- is true of plans, thoughts, answers and observations that a replay repeats, and for model calls
-- that another trace records. Other model calls stay, together with the record that counts: each
-- may hold data that the other lacks.
--
-- Reads:
--   copied_ends
--   lone_copies
--   model_copy_ends
--   model_ends
--   operations
--   run_copies
--   placed_operations
--   tool_copies
-- Needs:
--   run_copies or model_copy_ends or tool_copies or lone_copies
-- Columns:
--   key  BIGINT  Operation that is in another run or in none; one row each.
--   run  BIGINT  The run that it is in; NULL if it counts nowhere.
-- Order:
--   none
WITH telling AS (
  SELECT
    operations.key,
    operations.start_ns,
    placed_operations.run,
    run_copies.counted_run,
    hash(
      operations.operation,
      operations.content,
      operations.plan,
      operations.answer,
      operations.sub_goal
    ) AS output,
    row_number() OVER (
      PARTITION BY placed_operations.run, output ORDER BY operations.start_ns, operations.key
    ) AS occurrence
  FROM placed_operations
  INNER JOIN run_copies USING (run)
  INNER JOIN operations USING (key)
  WHERE operations.operation NOT IN ('agent', 'model', 'tool', 'other')
),

repeated_operations AS (
  SELECT key
  FROM telling
  QUALIFY
    row_number() OVER (
      PARTITION BY counted_run, output, occurrence ORDER BY run <> counted_run, start_ns, key
    ) > 1
),

below_copies AS (
  SELECT copied_ends.key
  FROM copied_ends
  SEMI JOIN tool_copies ON copied_ends.last = tool_copies.key
  INNER JOIN placed_operations ON copied_ends.key = placed_operations.key
  ANTI JOIN run_copies ON placed_operations.run = run_copies.run
),

dropped AS (
  SELECT key FROM repeated_operations
  UNION
  SELECT key FROM below_copies
  UNION
  SELECT key FROM tool_copies
  UNION
  SELECT key FROM lone_copies
),

recorded_again AS (
  SELECT
    operations.key,
    counting.run
  FROM operations
  LEFT JOIN model_ends USING (key)
  INNER JOIN model_copy_ends ON coalesce(model_ends.last, operations.key) = model_copy_ends.key
  INNER JOIN placed_operations AS counting ON model_copy_ends.last = counting.key
),

placed AS (
  SELECT
    placed_operations.key,
    placed_operations.run AS old_run,
    CASE
      WHEN dropped.key IS NULL
        THEN coalesce(counting_runs.counted_run, recorded_again.run, run_copies.counted_run)
    END AS run,
    dropped.key IS NOT NULL AS is_dropped
  FROM placed_operations
  LEFT JOIN run_copies USING (run)
  LEFT JOIN recorded_again USING (key)
  LEFT JOIN run_copies AS counting_runs ON recorded_again.run = counting_runs.run
  LEFT JOIN dropped USING (key)
)

SELECT
  key,
  run
FROM placed
WHERE is_dropped OR run <> old_run;
