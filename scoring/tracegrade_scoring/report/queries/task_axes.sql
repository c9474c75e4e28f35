-- The three axes of the T-Score for each task: sums of tool selection, means of the other two.
--
-- Source: docs/metrics.md, section 7.4: tool selection is pooled, the others are means over tasks.
-- Runs count by sample_weight.
--
-- Reads:
--   trajectory_scores
-- Columns:
--   release      VARCHAR  One row for each release, agent_name, run_mode and task_id.
--   agent_name   VARCHAR  NULL if the trace names none.
--   run_mode     VARCHAR  As the trace says: production | live | mocked; else NULL.
--   task_id      VARCHAR  NULL for runs whose task is not known.
--   tsa_correct  DOUBLE   Correct first picks; NULL if nothing was counted.
--   tsa_counted  DOUBLE   Counted decision points; NULL if there is none.
--   tsa_literal  DOUBLE   Correct picks of decision points that were not missed (the article).
--   tsa_made     DOUBLE   Decision points that were not missed.
--   pq           DOUBLE   Mean planning quality of its runs, 0..10; NULL if none was scored.
--   pq_strict    DOUBLE   As pq, two of its questions all or nothing.
--   ra           DOUBLE   Mean rollback-ability after recovery, 0..10; NULL if none was scored.
--   late_ra      DOUBLE   The lowest of the late kill, 0..10; NULL if none was scored.
-- Order:
--   agent_name, run_mode, release, task_id
SELECT
  release,
  agent_name,
  run_mode,
  task_id,
  sum(sample_weight * tsa.numerator ORDER BY trajectory_id) AS tsa_correct,
  sum(sample_weight * tsa.denominator ORDER BY trajectory_id) AS tsa_counted,
  sum(sample_weight * tsa_source_text.numerator ORDER BY trajectory_id) AS tsa_literal,
  sum(sample_weight * tsa_source_text.denominator ORDER BY trajectory_id) AS tsa_made,
  sum(sample_weight * pq.value ORDER BY trajectory_id)
  / sum(sample_weight ORDER BY trajectory_id) FILTER (WHERE pq.value IS NOT NULL) AS pq,
  sum(sample_weight * pq_strict.value ORDER BY trajectory_id)
  / sum(sample_weight ORDER BY trajectory_id) FILTER (WHERE pq_strict.value IS NOT NULL)
    AS pq_strict,
  sum(sample_weight * ra_after_recovery.value ORDER BY trajectory_id)
  / sum(sample_weight ORDER BY trajectory_id) FILTER (WHERE ra_after_recovery.value IS NOT NULL)
    AS ra,
  min(late_ra.value) AS late_ra
FROM trajectory_scores
WHERE tsa.value IS NOT NULL OR pq.value IS NOT NULL OR ra_after_recovery.value IS NOT NULL
GROUP BY release, agent_name, run_mode, task_id
ORDER BY agent_name, run_mode, release, task_id;
